import type { Client } from "pg";
import { binaryArray } from "../../db/binary-writer.ts";
import type { Db, Tx } from "../../db/database.ts";
import { uuids } from "../batch-store.ts";
import type { DeviceHold, LastLocation, LastStatus } from "../device-memory.ts";
import { memoryOf, type RuleMemory, type StoredRules, toStored } from "./rule-memory.ts";

/** Older fixes are late whatever comes. */
const fixesBackMs = 86_400_000;
const fixesAheadMs = 2 * 60_000;

export interface KnownRules {
  device_id: string;
  rule_version: number;
  rules: RuleMemory;
  status: LastStatus;
  newestReportMs: number | null;
}

interface RuleRow {
  device_id: string;
  rule_version: number;
  state: StoredRules | null;
  last_status: LastStatus;
  newest_report_at: Date | null;
  lat: number | null;
  lng: number;
  ts: Date;
}

/**
 * State and version come from one snapshot. The last evaluated fix is the newest valid one that was not late when it came:
 * every such fix is evaluated unless it is older than the one before.
 */
export async function readRules(db: Db, deviceIds: readonly string[], nowMs: number): Promise<KnownRules[]> {
  const rows = await db.many<RuleRow>`
    select s.device_id, s.rule_version, s.last_status, s.newest_report_at, r.state, l.lat, l.lng, l.ts
    from device_state s
    left join rule_states r on r.device_id = s.device_id
    left join lateral last_timely_fix(s.device_id, ${new Date(nowMs - fixesBackMs)}, ${new Date(nowMs + fixesAheadMs)}) l on true
    where s.device_id = any(${deviceIds}::uuid[])`;
  return rows.map(({ device_id, rule_version, last_status, newest_report_at, state, lat, lng, ts }) => ({
    device_id,
    rule_version,
    status: last_status,
    newestReportMs: newest_report_at?.getTime() ?? null,
    rules: memoryOf(state, lat === null ? null : { lat, lng, tsMs: ts.getTime() }),
  }));
}

/** Takes up what others have made of the rules of these devices, or stored beside this connection. */
export async function rereadRules(db: Db, holds: readonly DeviceHold[], nowMs: number): Promise<void> {
  const ids = holds.map(({ device }) => device.id);
  const known = new Map((await readRules(db, ids, nowMs)).map((row) => [row.device_id, row]));
  for (const hold of holds) {
    const row = known.get(hold.device.id);
    if (row) {
      const { rule_version: ruleVersion, rules, status, newestReportMs } = row;
      hold.memory = { ...hold.memory, ruleVersion, rules, status, newestReportMs };
    }
    if (hold.state === "moved") hold.state = "storing";
  }
}

/** What the rules of a device have come to. */
export interface RuleStateRow {
  hold: DeviceHold;
  rules: RuleMemory;
  dueMs: number | null;
}

/** The state rows of the devices are locked. */
export async function writeRuleStates(client: Client, rows: readonly RuleStateRow[]): Promise<void> {
  if (rows.length === 0) return;
  await client.query({
    name: "ingest_rules",
    text: `insert into rule_states (device_id, organization_id, state, due_at)
      select * from unnest($1::uuid[], $2::uuid[], $3::jsonb[], $4::timestamptz[])
      on conflict (device_id) do update set organization_id = excluded.organization_id, state = excluded.state,
        due_at = excluded.due_at`,
    values: [
      uuids(rows),
      binaryArray("uuid", rows, (writer, { hold }) => writer.uuid(hold.organizationIdBytes)),
      binaryArray("jsonb", rows, (writer, { rules }) => writer.jsonb(JSON.stringify(toStored(rules)))),
      binaryArray("timestamptz", rows, (writer, { dueMs }) => writer.timestamptz(dueMs)),
    ],
  });
}

/**
 * The versions of the organizations' rules, held until the commit: what the rules made of packets is then true of the rules as
 * they are, and whoever changes them next finds it stored.
 */
export async function lockRuleVersions(
  client: Client,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<[string, number]>({
    name: "ingest_rule_versions",
    text: `select organization_id, version from rule_versions where organization_id = any($1::uuid[])
      order by organization_id for share`,
    values: [organizationIds],
    rowMode: "array",
  });
  return new Map(rows);
}

/** Of fixes that were stored before: what the device's own clock said, by `timeKey`. */
export async function readDeviceTimes(
  client: Pick<Client, "query">,
  fixes: readonly { deviceId: string; tsMs: number }[],
): Promise<Map<string, number | null>> {
  if (fixes.length === 0) return new Map();
  const { rows } = await client.query<[string, Date, Date | null]>({
    name: "ingest_device_times",
    text: `select l.device_id, l.ts, l.device_ts from unnest($1::uuid[], $2::timestamptz[]) as n(device_id, ts)
      join locations l on l.device_id = n.device_id and l.ts = n.ts
      where l.device_id = any($1::uuid[])`,
    values: [fixes.map(({ deviceId }) => deviceId), fixes.map(({ tsMs }) => new Date(tsMs))],
    rowMode: "array",
  });
  return new Map(rows.map(([id, ts, deviceTs]) => [timeKey(id, ts.getTime()), deviceTs?.getTime() ?? null]));
}

export const timeKey = (deviceId: string, tsMs: number): string => `${deviceId} ${tsMs}`;

/** A device outside of a batch, with its state row locked until the commit. */
export interface LockedDevice {
  id: string;
  organization_id: string;
  uid: string;
  name: string;
  is_deleted: boolean;
  last_status: LastStatus;
  last_location: LastLocation | null;
}

/** In the order of their ids, as everywhere. Waits for batches that hold some of them. */
export const lockDevices = (tx: Tx, deviceIds: readonly string[]): Promise<LockedDevice[]> =>
  tx.many<LockedDevice>`
    select d.id, d.organization_id, d.uid, d.name, d.deleted_at is not null as is_deleted, s.last_status, s.last_location
    from device_state s join devices d on d.id = s.device_id
    where s.device_id = any(${deviceIds}::uuid[])
    order by s.device_id for update of s`;

/** What lockRuleVersions does, outside of a batch. */
export async function holdRuleVersions(tx: Tx, organizationIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.many<{ organization_id: string; version: number }>`
    select organization_id, version from rule_versions where organization_id = any(${organizationIds}::uuid[])
    order by organization_id for share`;
  return new Map(rows.map(({ organization_id, version }) => [organization_id, version]));
}

export interface MovedRules {
  deviceId: string;
  organizationId: string;
  rules: RuleMemory;
  dueMs: number | null;
  /** False: only the due time is another one. */
  hasMoved: boolean;
}

/** Outside of a batch; the devices are locked. Whoever holds their connections finds another version, and reads again. */
export async function moveRuleStates(tx: Tx, rows: readonly MovedRules[]): Promise<void> {
  await tx.run`
    insert into rule_states (device_id, organization_id, state, due_at)
    select device_id, organization_id, state::jsonb, due_at from unnest(
      ${rows.map((row) => row.deviceId)}::uuid[], ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => JSON.stringify(toStored(row.rules)))}::text[],
      ${rows.map((row) => (row.dueMs === null ? null : new Date(row.dueMs)))}::timestamptz[])
      as n (device_id, organization_id, state, due_at)
    on conflict (device_id) do update set organization_id = excluded.organization_id, state = excluded.state,
      due_at = excluded.due_at`;
  const moved = rows.filter(({ hasMoved }) => hasMoved).map(({ deviceId }) => deviceId);
  if (moved.length === 0) return;
  await tx.run`update device_state set rule_version = rule_version + 1 where device_id = any(${moved}::uuid[])`;
}
