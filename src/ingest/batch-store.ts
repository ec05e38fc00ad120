import type { Client, QueryArrayResult, QueryResult } from "pg";
import { type BinaryArray, type BinaryWriter, binaryArray } from "../db/binary-writer.ts";
import { CopyRows, copyTarget } from "../db/copy-in.ts";
import type { PipelineStatement } from "../db/pipeline-part.ts";
import { uuidBytes } from "../lib/ids.ts";
import { searchText } from "../lib/search-text.ts";
import type { DeviceHold } from "./device-memory.ts";
import type { BatchRows, EventOwner } from "./ingest-rows.ts";

/** The SQL of a batch: few statements, each for all devices, in binary form. */

/** Begins the transaction of a batch, under its id, and asks for the versions of the organizations' rules. */
export const beginStatements = (
  batchId: string,
  nowMs: number,
  organizationIds: readonly string[],
): PipelineStatement[] => [
  { name: "ingest_begin", text: "begin", values: [], rowMode: "array" },
  {
    name: "ingest_batch",
    text: "insert into ingest_batches values ($1, $2) on conflict do nothing",
    values: [batchId, new Date(nowMs)],
    rowMode: "array",
  },
  {
    name: "ingest_versions",
    text: "select organization_id, version from rule_versions where organization_id = any($1::uuid[])",
    values: [organizationIds],
    rowMode: "array",
  },
];

/** Those of them whose answers do not matter while no earlier attempt may have committed. */
export const openingOf = (begin: readonly PipelineStatement[]): PipelineStatement[] => begin.slice(0, 2);

export const commitStatement: PipelineStatement = { name: "ingest_commit", text: "commit" };

/**
 * The versions of the organizations' rules, by organization; those without rules have none. Undefined: an earlier attempt of the
 * same batch has committed, although its answer was lost.
 */
export function versionsOf([, batch, versions]: readonly QueryResult[]): ReadonlyMap<string, number> | undefined {
  if (batch?.rowCount !== 1) return undefined;
  return new Map((versions as QueryArrayResult<[string, number]>).rows.map(([id, version]) => [id, Number(version)]));
}

export const uuids = (rows: readonly { hold: DeviceHold }[]): BinaryArray =>
  binaryArray("uuid", rows, (writer, { hold }) => writer.uuid(hold.deviceIdBytes));

export async function markJumps(client: Client, jumps: BatchRows["jumps"]): Promise<void> {
  if (jumps.length === 0) return;
  await client.query({
    name: "ingest_jumps",
    text: `update locations l set is_valid = false, invalid_reason = 'implausible_jump'
      from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as n(device_id, ts, id)
      where l.device_id = n.device_id and l.ts = n.ts and l.id = n.id and l.device_id = any($1::uuid[])`,
    values: [
      uuids(jumps),
      binaryArray("timestamptz", jumps, (writer, { tsMs }) => writer.timestamptz(tsMs)),
      binaryArray("uuid", jumps, (writer, { id }) => writer.uuid(id)),
    ],
  });
}

const begin = (copy: CopyRows, hold: EventOwner, tsMs: number, id: Buffer): BinaryWriter =>
  copy.row().uuid(hold.deviceIdBytes).timestamptz(tsMs).uuid(id).uuid(hold.organizationIdBytes);

/** What the packets of a batch say, which is known once they are evaluated. */
export const packetCopiesOf = ({ locations, telemetry }: BatchRows): CopyRows[] => [
  copyLocations(locations),
  copyTelemetry(telemetry),
];

/** What follows from it: steps and rules add to it. */
export const eventCopiesOf = ({ events, placeJobs }: BatchRows): CopyRows[] => [
  copyEvents(events),
  copyPlaceJobs(placeJobs),
];

const locationsTarget = copyTarget(
  "locations",
  `device_id ts id organization_id device_ts received_at lat lng altitude_m speed_kmh heading accuracy_m source satellites
    is_valid invalid_reason is_moving mcc mnc carrier`.split(/\s+/),
);

function copyLocations(rows: BatchRows["locations"]): CopyRows {
  const copy = new CopyRows(locationsTarget);
  for (const row of rows) {
    begin(copy, row.hold, row.tsMs, row.id)
      .timestamptz(row.deviceTimeMs)
      .timestamptz(row.receivedAtMs)
      .float8(row.lat)
      .float8(row.lng)
      .float4(row.altitudeM)
      .float4(row.speedKmh)
      .int2(row.heading)
      .float4(row.accuracyM)
      .text("gps")
      .int2(row.satellites)
      .bool(row.invalidReason === null)
      .text(row.invalidReason)
      .bool(row.isMoving)
      .int2(row.mcc)
      .int2(row.mnc)
      .text(row.carrier);
  }
  return copy;
}

const telemetryTarget = copyTarget(
  "telemetry",
  "device_id ts id organization_id device_ts received_at data".split(" "),
);

function copyTelemetry(rows: BatchRows["telemetry"]): CopyRows {
  const copy = new CopyRows(telemetryTarget);
  for (const row of rows) {
    begin(copy, row.hold, row.receivedAtMs, row.id)
      .timestamptz(row.deviceTimeMs)
      .timestamptz(row.receivedAtMs)
      .jsonb(JSON.stringify(row.data));
  }
  return copy;
}

const eventsTarget = copyTarget(
  "events",
  `device_id ts id organization_id event_type severity device_ts title message fence_id fence_name threshold_id metric_key
    value location data search created_at`.split(/\s+/),
);

function copyEvents(rows: BatchRows["events"]): CopyRows {
  const copy = new CopyRows(eventsTarget);
  for (const row of rows) {
    begin(copy, row.hold, row.tsMs, row.id)
      .int2(row.typeNumber)
      .int2(row.severity)
      .timestamptz(row.deviceTimeMs)
      .text(row.title)
      .text(row.message)
      .uuid(row.fence ? uuidBytes(row.fence.id) : null)
      .text(row.fence?.name ?? null)
      .uuid(row.threshold ? uuidBytes(row.threshold.id) : null)
      .text(row.threshold?.metricKey ?? null)
      .float8(row.threshold?.value ?? null)
      .jsonb(row.location && JSON.stringify(row.location))
      .jsonb(JSON.stringify(row.data))
      .text(searchText([row.title, row.hold.device.uid]))
      .timestamptz(row.receivedAtMs);
  }
  return copy;
}

const placeJobsTarget = copyTarget(
  "place_jobs",
  "device_id due_at id organization_id kind payload attempts created_at".split(" "),
);

function copyPlaceJobs(rows: BatchRows["placeJobs"]): CopyRows {
  const copy = new CopyRows(placeJobsTarget);
  for (const row of rows) {
    begin(copy, row.hold, row.createdAtMs, row.id)
      .text(row.kind)
      .jsonb(JSON.stringify(row.payload))
      .int4(0)
      .timestamptz(row.createdAtMs);
  }
  return copy;
}
