import type { Db } from "../db/database.ts";
import { uuidBytes, uuidV7Floor } from "../lib/ids.ts";
import { eventTypes } from "../resources/events/event-types.ts";
import type { DeviceHold, IngestDevice, LastLocation, LastStatus } from "./device-memory.ts";
import { alarmKey } from "./rules/alarm-rules.ts";
import { noMemory } from "./rules/rule-memory.ts";
import { readRules } from "./rules/rule-store.ts";

/** Older fixes cannot make a jump of a new one: it would lie on another planet. */
const fixesBackMs = 86_400_000;
const fixesAheadMs = 2 * 60_000;
const alarmsBackMs = 60_000;

/** As the writers of rows need them. */
export interface IdBytes {
  device: Buffer;
  /** Shared by the devices of the organization. */
  organization: Buffer;
}

export interface KnownState {
  last_location: LastLocation | null;
  last_status: LastStatus;
  newest_report_at: Date | null;
}

interface FixRow {
  id: string;
  ts: Date;
  lat: number;
  lng: number;
  accuracy_m: number | null;
}

interface AlarmRow {
  event_type: number;
  code: string | null;
  created_at: Date;
  ts: Date;
}

/** Shared by the devices that have said nothing yet: there may be many. */
const none: readonly never[] = [];
const noStatus: LastStatus = {};
const orNone = <T>(list: readonly T[]): readonly T[] => (list.length > 0 ? list : none);

const typeNames = new Map<number, string>(Object.entries(eventTypes).map(([name, { number }]) => [number, name]));

/** Takes up a device where its last connection, of any process, left it. */
export async function openHold(
  db: Db,
  device: IngestDevice,
  epoch: number,
  state: KnownState,
  nowMs: number,
  ids: IdBytes = { device: uuidBytes(device.id), organization: uuidBytes(device.organizationId) },
): Promise<DeviceHold> {
  const [fixes, alarms, known] = await Promise.all([
    db.many<FixRow>`
      select id, ts, lat, lng, accuracy_m from locations
      where device_id = ${device.id} and ts > ${new Date(nowMs - fixesBackMs)} and ts <= ${new Date(nowMs + fixesAheadMs)}
        and organization_id = ${device.organizationId} and is_valid
      order by ts desc limit 2`,
    // "is true" for the planner: without statistics it would read all recent events of the organization instead of the device's.
    db.many<AlarmRow>`
      select event_type, data->>'code' as code, created_at, ts from events
      where device_id = ${device.id} and id >= ${uuidV7Floor(nowMs - alarmsBackMs)}
        and (organization_id = ${device.organizationId}) is true and created_at >= ${new Date(nowMs - alarmsBackMs)}`,
    readRules(db, [device.id], nowMs),
  ]);
  return {
    device,
    deviceIdBytes: ids.device,
    organizationIdBytes: ids.organization,
    epoch,
    state: "idle",
    view: undefined,
    kept: undefined,
    line: undefined,
    memory: {
      fixes: orNone(
        fixes.reverse().map(({ id, ts, lat, lng, accuracy_m }) => ({
          id: uuidBytes(id),
          tsMs: ts.getTime(),
          lat,
          lng,
          accuracyM: accuracy_m,
        })),
      ),
      alarms: orNone(
        alarms.map(({ event_type, code, created_at, ts }) => ({
          key: alarmKey(typeNames.get(event_type) ?? "custom", code ?? ""),
          receivedAtMs: created_at.getTime(),
          tsMs: ts.getTime(),
        })),
      ),
      lastLocation: state.last_location,
      status: Object.keys(state.last_status).length > 0 ? state.last_status : noStatus,
      lastSeenMs: null,
      newestReportMs: state.newest_report_at?.getTime() ?? null,
      ruleVersion: known[0]?.rule_version ?? 0,
      rules: known[0]?.rules ?? noMemory,
    },
  };
}
