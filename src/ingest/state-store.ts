import type { Client, QueryArrayResult } from "pg";
import { type BinaryArray, type BinaryWriter, binaryArray } from "../db/binary-writer.ts";
import type { PipelineStatement } from "../db/pipeline-part.ts";
import { type ReadLane, sumOf, sumOfLanes } from "../outbox/outbound-lanes.ts";
import { byDeviceId } from "./batch-step.ts";
import { uuids } from "./batch-store.ts";
import type { DeviceHold, LastLocation, LastStatus } from "./device-memory.ts";
import type { PresenceStep, StateRow } from "./ingest-rows.ts";

/** A packet with which a device went online or offline. */
export interface PresenceChange extends PresenceStep {
  hold: DeviceHold;
  /** When it was the other way round before; null: it had never spoken. */
  previousMs: number | null;
}

export interface WrittenStates {
  /** A newer connection has these devices: the batch must not commit with their packets. */
  stale: DeviceHold[];
  /** Somebody else has moved the rules of these devices, or stored reports of them: what was evaluated for them does not hold. */
  moved: DeviceHold[];
  changes: PresenceChange[];
}

export type WrittenRow = [
  device: string,
  count: string | null,
  wasOnline: boolean,
  isOnline: boolean,
  at: Date,
  before: Date,
];

const lastStep = ({ presence }: StateRow): PresenceStep => presence.at(-1) as PresenceStep;

/** Below 20 %, below 50 %, the others: see the column. */
const bandOf = (percent: number | null): number | null =>
  percent === null ? null : percent < 20 ? 1 : percent < 50 ? 2 : 3;

const isBeside = ({ hold }: StateRow): boolean => hold.isOnline !== undefined;

/** Both by hand, for every packet: JSON.stringify takes twice as long (measured). Names of metrics need no escapes. */
function writeStatus(writer: BinaryWriter, status: LastStatus): void {
  let before = '{"';
  for (const metric in status) {
    const reading = status[metric];
    if (!reading) continue;
    writer.piece(before).piece(metric).piece('":{"value":').piece(String(reading.value));
    if (reading.ts === null) writer.piece(',"ts":null}');
    else writer.piece(',"ts":"').piece(reading.ts).piece('"}');
    before = ',"';
  }
  writer.piece(before === '{"' ? "{}" : "}");
}

function writeLocation(writer: BinaryWriter, { lat, lng, accuracy_m, source, ts }: LastLocation): void {
  writer.piece('{"lat":').piece(String(lat)).piece(',"lng":').piece(String(lng));
  writer.piece(',"accuracy_m":').piece(String(Number.isFinite(accuracy_m) ? accuracy_m : null));
  writer.piece(',"source":"').piece(source).piece('","ts":"').piece(ts).piece('"}');
}

/** Cheaper than a function in the FROM, which keeps the rows of each array aside (profile). */
const unnestedInList = `(
        select unnest($1::uuid[]) as device_id, unnest($2::uuid[]) as organization_id, unnest($3::int8[]) as epoch,
          unnest($4::int8[]) as rule_version, unnest($5::bool[]) as is_online, unnest($6::timestamptz[]) as seen_at,
          unnest($7::timestamptz[]) as changed_at, unnest($8::text[]) as firmware, unnest($9::json[]) as status,
          unnest($10::int2[]) as battery_band, unnest($11::json[]) as location, unnest($12::timestamptz[]) as located_at,
          unnest($13::timestamptz[]) as newest_report_at, unnest($14::bool[]) as is_beside,
          unnest($15::timestamptz[]) as known_report_at
      ) n`;

/** What a distributed database is known to take. */
const unnestedInFrom = `unnest($1::uuid[], $2::uuid[], $3::int8[], $4::int8[], $5::bool[], $6::timestamptz[], $7::timestamptz[],
        $8::text[], $9::json[], $10::int2[], $11::json[], $12::timestamptz[], $13::timestamptz[], $14::bool[],
        $15::timestamptz[])
        as n(device_id, organization_id, epoch, rule_version, is_online, seen_at, changed_at, firmware, status, battery_band,
          location, located_at, newest_report_at, is_beside, known_report_at)`;

/** Devices come in this order, as everywhere, so that two writers cannot deadlock. */
export const inLockOrder = (states: readonly StateRow[]): StateRow[] => states.toSorted(byDeviceId);

/**
 * Writes the state rows of devices whose connection is still the newest, and whose rules and newest report are those in memory:
 * what is evaluated and which reports are new follows from them, and the rows are locked from here to the commit. This statement is
 * the dearest of a batch: JSON is passed on as it is. A change of presence is always later than the one before, also when the packet
 * had to wait while a sweep found the device silent.
 */
const writing = (rows: string): string => `with written as (
      update device_state s set
        is_online = n.is_online,
        was_online = s.is_online,
        last_seen_at = greatest(n.seen_at, s.last_seen_at),
        status_changed_at = case when s.is_online = n.is_online then s.status_changed_at
          else greatest(n.changed_at, s.status_changed_at + interval '1 ms') end,
        previous_change_at = case when s.is_online = n.is_online then s.previous_change_at else s.status_changed_at end,
        firmware_version = coalesce(n.firmware, s.firmware_version),
        last_status = case when n.is_beside and n.status is not null then (s.last_status::jsonb || n.status::jsonb)::json
          else coalesce(n.status, s.last_status) end,
        battery_band = coalesce(n.battery_band, s.battery_band),
        last_location = case when n.located_at < s.located_at then s.last_location
          else coalesce(n.location, s.last_location) end,
        located_at = greatest(n.located_at, s.located_at),
        newest_report_at = greatest(n.newest_report_at, s.newest_report_at)
      from ${rows}
      where s.device_id = n.device_id and s.organization_id = n.organization_id and s.session_epoch = n.epoch
        and s.rule_version = n.rule_version and s.newest_report_at is not distinct from n.known_report_at
      returning s.device_id, s.was_online, s.is_online, s.status_changed_at, s.previous_change_at)`;

const valuesOf = (rows: readonly StateRow[]): BinaryArray[] => [
  uuids(rows),
  binaryArray("uuid", rows, (writer, { hold }) => writer.uuid(hold.organizationIdBytes)),
  binaryArray("int8", rows, (writer, { hold }) => writer.int8(hold.epoch)),
  binaryArray("int8", rows, (writer, { hold }) => writer.int8(hold.memory.ruleVersion)),
  binaryArray("bool", rows, (writer, state) => writer.bool(lastStep(state).isOnline)),
  binaryArray("timestamptz", rows, (writer, { lastSeenMs }) => writer.timestamptz(lastSeenMs)),
  binaryArray("timestamptz", rows, (writer, state) => writer.timestamptz(lastStep(state).atMs)),
  binaryArray("text", rows, (writer, { firmware }) => writer.text(firmware)),
  binaryArray("json", rows, (writer, { status }) =>
    status ? writer.pieces(() => writeStatus(writer, status)) : writer.null(),
  ),
  binaryArray("int2", rows, (writer, { battery }) => writer.int2(bandOf(battery))),
  binaryArray("json", rows, (writer, { lastLocation }) =>
    lastLocation ? writer.pieces(() => writeLocation(writer, lastLocation)) : writer.null(),
  ),
  binaryArray("timestamptz", rows, (writer, { locatedMs }) => writer.timestamptz(locatedMs)),
  binaryArray("timestamptz", rows, (writer, { newestReportMs }) => writer.timestamptz(newestReportMs)),
  binaryArray("bool", rows, (writer, state) => writer.bool(isBeside(state))),
  binaryArray("timestamptz", rows, (writer, { hold }) => writer.timestamptz(hold.memory.newestReportMs)),
];

/** The answer has one row for the count and one for each device whose presence has changed, not one for each device. */
export function statesStatement(rows: readonly StateRow[], isDistributed: boolean): PipelineStatement {
  const restless = rows.filter(({ presence }) => presence.length > 1);
  return {
    name: "ingest_states",
    text: `${writing(isDistributed ? unnestedInFrom : unnestedInList)}
      select null, count(*), null, null, null, null from written
      union all select device_id, null, was_online, is_online, status_changed_at, previous_change_at from written
      where was_online <> is_online or device_id = any($16::uuid[])`,
    values: [...valuesOf(rows), uuids(restless)],
    rowMode: "array",
  };
}

/** What a batch that does not wait for answers takes for granted beside the states. */
export interface Expected {
  /** By organization: the rules that were used are still the newest ones. */
  ruleVersions: ReadonlyMap<string, number>;
  /** Those that rows were made for. */
  lanes: readonly ReadLane[];
}

/** The same for such a batch: it fails (`isUnexpected`) unless all rows are written, no presence changes, and the rest is as expected. */
export const expectedStatesStatement = (
  rows: readonly StateRow[],
  { ruleVersions, lanes }: Expected,
): PipelineStatement => ({
  name: "ingest_expected_states",
  text: `${writing(unnestedInList)}
      select 1 / (count(*) = $16::int8 and not bool_or(was_online <> is_online)
        and not exists (select from unnest($17::uuid[], $18::int8[]) as n(id, version)
          join rule_versions v on v.organization_id = n.id where v.version > n.version)
        and ${sumOfLanes("$17::uuid[]")} = $19::numeric)::int from written`,
  values: [...valuesOf(rows), rows.length, [...ruleVersions.keys()], [...ruleVersions.values()], sumOf(lanes)],
  rowMode: "array",
});

/** What became of them. */
export async function writtenStates(
  client: Client,
  rows: readonly StateRow[],
  { rows: answer }: QueryArrayResult<WrittenRow>,
): Promise<WrittenStates> {
  const [, ...changed] = answer;
  if (Number(answer[0]?.[1]) < rows.length) return { ...(await findRefused(client, rows)), changes: [] };
  return { stale: [], moved: [], changes: await changesOf(client, rows, changed) };
}

async function findRefused(client: Client, rows: readonly StateRow[]): Promise<Pick<WrittenStates, "stale" | "moved">> {
  const { rows: current } = await client.query<[string, number, number, Date | null]>({
    name: "ingest_epochs",
    text: `select device_id, session_epoch, rule_version, newest_report_at from device_state
      where device_id = any($1::uuid[])`,
    values: [uuids(rows)],
    rowMode: "array",
  });
  const known = new Map(current.map(([id, epoch, version, newest]) => [id, { epoch, version, newest }]));
  const isMoved = ({ device, memory }: DeviceHold): boolean => {
    const state = known.get(device.id);
    return state?.version !== memory.ruleVersion || (state.newest?.getTime() ?? null) !== memory.newestReportMs;
  };
  const stale: DeviceHold[] = [];
  const moved: DeviceHold[] = [];
  for (const { hold } of rows) {
    if (known.get(hold.device.id)?.epoch !== hold.epoch) stale.push(hold);
    else if (isMoved(hold)) moved.push(hold);
  }
  return { stale, moved };
}

/** A device that was switched off and on again within the batch is as it was before, and has changed twice. */
async function changesOf(
  client: Client,
  rows: readonly StateRow[],
  changed: readonly WrittenRow[],
): Promise<PresenceChange[]> {
  if (changed.length === 0) return [];
  const states = new Map(rows.map((state) => [state.hold.device.id, state]));
  const changes: PresenceChange[] = [];
  const restless: PresenceChange[] = [];
  for (const [id, , wasOnline, isOnline, at, before] of changed) {
    const { hold, presence } = states.get(id) as StateRow;
    let isNow = wasOnline;
    let previousMs = (wasOnline === isOnline ? at : before)?.getTime() ?? null;
    for (const step of presence) {
      if (step.isOnline === isNow) continue;
      const atMs = previousMs === null ? step.atMs : Math.max(step.atMs, previousMs + 1);
      changes.push({ hold, isOnline: step.isOnline, atMs, previousMs });
      isNow = step.isOnline;
      previousMs = atMs;
    }
    const last = changes.at(-1);
    if (presence.length > 1 && last?.hold === hold) restless.push(last);
  }
  await writeLast(client, restless);
  return changes;
}

async function writeLast(client: Client, changes: readonly PresenceChange[]): Promise<void> {
  if (changes.length === 0) return;
  await client.query({
    name: "ingest_restless",
    text: `update device_state s set status_changed_at = n.at, previous_change_at = n.before
      from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) as n(device_id, at, before)
      where s.device_id = n.device_id`,
    values: [
      uuids(changes),
      binaryArray("timestamptz", changes, (writer, { atMs }) => writer.timestamptz(atMs)),
      binaryArray("timestamptz", changes, (writer, { previousMs }) => writer.timestamptz(previousMs)),
    ],
  });
}
