import type { Database, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { uuidBytes, uuidV7 } from "../lib/ids.ts";
import { findDeadNodes } from "../resources/commands/orphaned-commands.ts";
import type { LastLocation } from "./device-memory.ts";
import { displayName, insertEvents } from "./event-store.ts";
import { presenceEvent } from "./presence-events.ts";

const batchSize = 500;

interface SilentDevice {
  id: string;
  organization_id: string;
  uid: string;
  name: string;
  is_deleted: boolean;
  /** Of the process that has an open connection of the device, as far as its session says. */
  node_id: string | null;
  last_seen_at: Date;
  status_changed_at: Date | null;
  last_location: LastLocation | null;
}

/**
 * Devices that were silent for too long are offline (section 3.1): longer than the setting, and than three of the reporting
 * intervals that the device has acknowledged. A closed socket alone changes nothing. Any number of workers may sweep: a row
 * that another one holds is left to it, and a packet that comes in between wins.
 */
export async function sweepSilentDevices(db: Database, clock: Clock, offlineAfterSeconds: number): Promise<number> {
  for (let total = 0; ; ) {
    const now = clock.now();
    const swept = await db.transaction((tx) => sweepSome(tx, now, offlineAfterSeconds));
    total += swept;
    if (swept < batchSize) return total;
  }
}

async function sweepSome(tx: Tx, now: Date, offlineAfterSeconds: number): Promise<number> {
  const seenBefore = new Date(now.getTime() - offlineAfterSeconds * 1000);
  const silent = await tx.many<SilentDevice>`
    select d.id, d.organization_id, d.uid, d.name, d.deleted_at is not null as is_deleted,
      case when c.disconnected_at is null then c.node_id end as node_id, s.last_seen_at, s.status_changed_at,
      s.last_location
    from device_state s
    join devices d on d.id = s.device_id
    left join device_sessions c on c.device_id = s.device_id
    where s.is_online and s.last_seen_at < ${seenBefore}
      and extract(epoch from s.last_seen_at) + 3 * coalesce(s.report_interval_seconds, 0) < ${now.getTime() / 1000}::float8
    order by s.device_id limit ${batchSize} for update of s skip locked`;
  if (silent.length === 0) return 0;
  await tx.run`
    update device_state set is_online = false, was_online = true, previous_change_at = status_changed_at,
      status_changed_at = greatest(${now}, status_changed_at + interval '1 ms')
    where device_id = any(${silent.map(({ id }) => id)}::uuid[])`;
  const dead = await findDeadNodes(tx, [...new Set(silent.flatMap(({ node_id }) => node_id ?? []))]);
  const events = silent
    .filter((device) => !device.is_deleted)
    .map((device) => {
      const isConnected = device.node_id !== null && !dead.has(device.node_id);
      return offlineEvent(device, isConnected ? "silence" : "socket_closed", now.getTime());
    });
  await insertEvents(tx, events, now.getTime());
  return silent.length;
}

function offlineEvent(device: SilentDevice, reason: "silence" | "socket_closed", nowMs: number) {
  const { id, organization_id: organizationId, uid, name } = device;
  const previousMs = device.status_changed_at?.getTime() ?? null;
  const atMs = previousMs === null ? nowMs : Math.max(nowMs, previousMs + 1);
  const fact = {
    hold: {
      device: { id, organizationId, uid, name },
      deviceIdBytes: uuidBytes(id),
      organizationIdBytes: uuidBytes(organizationId),
    },
    name: displayName(name, uid),
    reason,
    atMs,
    lastSeenMs: device.last_seen_at.getTime(),
    previousMs,
    location: device.last_location,
  } as const;
  return presenceEvent(fact, uuidBytes(uuidV7(atMs)));
}

/** Rows that only a retry of a batch could ask for. */
export const deleteOldBatches = (db: Database, before: Date): Promise<number> =>
  db.run`delete from ingest_batches where committed_at < ${before}`;
