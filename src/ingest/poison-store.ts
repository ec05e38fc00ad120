import type { Alarm } from "../codecs/tracker-message.ts";
import type { Db, Tx } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { uuidBytes, uuidV7 } from "../lib/ids.ts";
import { alarmEvent } from "./alarm-event.ts";
import { batteryOf, type RecentAlarm } from "./device-memory.ts";
import { insertEvents } from "./event-store.ts";
import { deviceTimeOf, type Packet } from "./packet.ts";
import { withAlarm } from "./rules/alarm-rules.ts";
import { plausibleTime } from "./rules/time-rule.ts";

/** What one device can leave behind in a day; further ones are answered and forgotten, but for their alarms. */
const maxKeptPerDay = 1000;
const dayMs = 86_400_000;
const latestTimeMs = Date.UTC(2200, 0, 1);

/**
 * Keeps the bytes of a packet that no attempt could store. The reason names the kind of error, never a value of a person. An
 * alarm in it still becomes an event: whatever else is wrong with the packet, somebody may be calling for help. Returns the
 * alarms of the last minute, with these.
 */
export async function keepPoisoned(
  tx: Tx,
  packet: Packet,
  reason: string,
  nowMs: number,
): Promise<readonly RecentAlarm[]> {
  const { hold, protocol, frame, receivedAtMs } = packet;
  const { id: deviceId, organizationId } = hold.device;
  const dayAgo = new Date(receivedAtMs - dayMs);
  const known = await tx.one<{ count: number; is_resent: boolean }>`
    select count(*) as count, coalesce(bool_or(frame = ${frame.raw}), false) as is_resent from poisoned_packets
    where organization_id = ${organizationId} and device_id = ${deviceId} and received_at > ${dayAgo}`;
  // Without a time of its own the same bytes may be another call for help.
  if (known.is_resent && deviceTimeOf(frame) !== null) return hold.memory.alarms;
  let { alarms } = hold.memory;
  const accepted: Alarm[] = [];
  for (const alarm of frame.messages.flatMap((one) => (one.kind === "alarm" ? [storable(one)] : []))) {
    const next = withAlarm(alarms, alarm, plausibleTime(alarm.deviceTimeMs, receivedAtMs), receivedAtMs);
    if (!next) continue;
    alarms = next;
    accepted.push(alarm);
  }
  if (known.count < maxKeptPerDay) {
    await tx.run`
      insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at, has_event)
      values (${uuidV7(receivedAtMs)}, ${organizationId}, ${deviceId}, ${protocol}, ${reason}, ${frame.raw},
        ${new Date(receivedAtMs)}, ${accepted.length > 0})`;
  }
  const battery = batteryOf(hold.memory);
  const { lastLocation: location } = hold.memory;
  const events = accepted.map((alarm) =>
    alarmEvent(hold, uuidBytes(uuidV7(receivedAtMs)), alarm, { battery, location }, receivedAtMs),
  );
  await insertEvents(tx, events, nowMs);
  return alarms;
}

/** Without what may be the reason that the packet cannot be stored. */
function storable(alarm: Alarm): Alarm {
  const { deviceTimeMs } = alarm;
  const isTime = deviceTimeMs !== null && deviceTimeMs >= 0 && deviceTimeMs < latestTimeMs;
  const code = alarm.code.replace(/[^\x20-\x7e]/g, "").slice(0, 100);
  return { ...alarm, code, deviceTimeMs: isTime ? deviceTimeMs : null };
}

export interface PoisonedPacket {
  id: string;
  organizationId: string;
  deviceId: string;
  /** Null: the device was deleted for good. */
  uid: string | null;
  protocol: string;
  reason: string;
  frame: Buffer;
  receivedAt: Date;
  hasEvent: boolean;
}

const packets = sql`
    select p.id, p.organization_id as "organizationId", p.device_id as "deviceId", d.uid, p.protocol, p.reason, p.frame,
      p.received_at as "receivedAt", p.has_event as "hasEvent"
    from poisoned_packets p left join devices d on d.id = p.device_id and d.organization_id = p.organization_id`;

/** The named ones, the newest first; for operators. */
export const findPoisoned = (db: Db, ids: readonly string[]): Promise<PoisonedPacket[]> =>
  db.many<PoisonedPacket>`${packets} where p.id = any(${ids}::uuid[]) order by p.received_at desc, p.id desc`;

/** The newest first, of all organizations: they are looked at by operators. */
export const listPoisoned = (db: Db, uid: string | undefined, limit: number): Promise<PoisonedPacket[]> =>
  db.many<PoisonedPacket>`${packets}
    where ${uid ?? null}::text is null or d.uid = ${uid ?? null}
    order by p.received_at desc, p.id desc limit ${limit}`;

export const deletePoisoned = (db: Db, organizationId: string, id: string): Promise<number> =>
  db.run`delete from poisoned_packets where organization_id = ${organizationId} and id = ${id}`;

export const deleteOldPoisoned = (db: Db, before: Date): Promise<number> =>
  db.run`delete from poisoned_packets where received_at < ${before}`;
