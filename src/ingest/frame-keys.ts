import { hash } from "node:crypto";
import type { QueryArrayResult } from "pg";
import type { FrameReport } from "../codecs/protocol-definition.ts";
import { binaryArray } from "../db/binary-writer.ts";
import { CopyRows, copyTarget } from "../db/copy-in.ts";
import type { PipelineStatement } from "../db/pipeline-part.ts";
import { uuidBytes } from "../lib/ids.ts";
import { uuids } from "./batch-store.ts";
import type { DeviceHold } from "./device-memory.ts";
import { deviceTimeOf, type Packet } from "./packet.ts";
import { plausibleTime } from "./rules/time-rule.ts";

export interface ReportOfPacket {
  report: FrameReport;
  packet: Packet;
}

interface FrameKeyRow {
  hold: DeviceHold;
  /** Sixteen bytes in latin1: text is cheaper to make than a buffer. */
  key: string;
  deviceTimeMs: number;
  receivedAtMs: number;
  /** A position of the report stands in history at the time of the report, and its id tells the key. */
  hasPosition: boolean;
}

export interface SortedReports {
  /** One for each report; of those that are asked for, only the answer tells. */
  isNew: boolean[];
  /** One for each report; undefined: it has no device time. */
  keys: readonly (string | undefined)[];
  /** Keys that are still to be written. */
  unwritten: readonly FrameKeyRow[];
  /** Each key once. */
  asked: ReadonlyMap<string, FrameKeyRow>;
  /** The places of the reports that have them. */
  askedAt: readonly { index: number; row: FrameKeyRow }[];
  /** Of devices whose clock has moved on. */
  newestOf: ReadonlyMap<DeviceHold, number>;
}

/** Reports that were taken for new are stored already. Nothing of the batch was stored; the next attempt asks for each of them. */
export class KnownReports extends Error {
  constructor() {
    super("reports that were taken for new are stored already");
  }
}

export const isKnownKey = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { code, table, message } = error as Error & { code?: unknown; table?: unknown };
  if (code === "23505" && typeof table === "string") return table.startsWith("ingest_frames");
  // A node of a distributed database names its constraint in the text only, and the coordinator drops the code.
  return (code === "23505" || code === "XX000") && /"ingest_frames_\w*pkey\w*"/.test(message);
};

/** The same bytes from the same device are the same report. The bytes are put together in one place again and again. */
function makeKeyOf(): (hold: DeviceHold, report: FrameReport) => string {
  let space = Buffer.allocUnsafeSlow(4096);
  return ({ deviceIdBytes }, { raw }) => {
    const size = deviceIdBytes.length + raw.length;
    if (size > space.length) space = Buffer.allocUnsafeSlow(2 * size);
    space.set(deviceIdBytes, 0);
    space.set(raw, deviceIdBytes.length);
    return hash("sha256", space.subarray(0, size), "binary").slice(0, 16);
  };
}

const keyOf = makeKeyOf();

/**
 * Of a report with positions and readings alone. The time of a fix is in the bytes of the report, so that the same bytes are looked
 * for at the same time of history; that of some readings follows from the zone of the device, which people change.
 */
function standsInHistory({ messages }: FrameReport, deviceTimeMs: number, receivedAtMs: number): boolean {
  let hasPosition = false;
  for (const message of messages) {
    if (message.kind === "fix") hasPosition ||= message.gps !== null && message.deviceTimeMs === deviceTimeMs;
    else if (message.kind !== "vitals" && message.kind !== "heartbeat") return false;
  }
  return hasPosition && plausibleTime(deviceTimeMs, receivedAtMs) === deviceTimeMs;
}

/**
 * Which reports were not stored before. The duplicate rule needs a device time (section 26.1, 5): reports without one are always
 * new. So is one whose time is later than that of every stored report of its device, because the same bytes have the same time:
 * only the others are looked for. Its key is written without asking, but for positions: the id of a position tells the key, which
 * saves a row and an index entry for most packets. Should another report be known all the same (its time follows from the time zone of
 * the device), writing its key fails, and the batch asks for everything.
 */
export function sortReports(reports: readonly ReportOfPacket[], asksForAll: boolean): SortedReports {
  const isNew: boolean[] = [];
  const keys: (string | undefined)[] = [];
  const certain: FrameKeyRow[] = [];
  const newestOf = new Map<DeviceHold, number>();
  const askedAt: { index: number; row: FrameKeyRow }[] = [];
  for (let index = 0; index < reports.length; index++) {
    const { report, packet } = reports[index] as ReportOfPacket;
    const { hold, receivedAtMs } = packet;
    const deviceTimeMs = deviceTimeOf(report);
    isNew.push(true);
    const key = deviceTimeMs === null ? undefined : keyOf(hold, report);
    keys.push(key);
    if (deviceTimeMs === null || key === undefined) continue;
    const hasPosition = standsInHistory(report, deviceTimeMs, receivedAtMs);
    const row = { hold, key, deviceTimeMs, receivedAtMs, hasPosition };
    const newestMs = newestOf.get(hold) ?? hold.memory.newestReportMs;
    if (newestMs === null || deviceTimeMs > newestMs) newestOf.set(hold, deviceTimeMs);
    // Beside a connection, what that one has stored meanwhile is not known.
    const isCertain = newestMs !== null && deviceTimeMs > newestMs && hold.isOnline === undefined && !asksForAll;
    if (isCertain) certain.push(row);
    else askedAt.push({ index, row });
  }
  const unwritten = certain.filter(({ hasPosition }) => !hasPosition);
  return { isNew, keys, unwritten, asked: firstOf(certain, askedAt), askedAt, newestOf };
}

/** A certain one is later than all before it in the batch, so that it is only to be compared with those that are asked for. */
function firstOf(certain: readonly FrameKeyRow[], askedAt: SortedReports["askedAt"]): ReadonlyMap<string, FrameKeyRow> {
  const asked = new Map<string, FrameKeyRow>();
  if (askedAt.length === 0) return asked;
  const known = new Set(certain.map(({ key }) => key));
  for (const { row } of askedAt) if (!known.has(row.key) && !asked.has(row.key)) asked.set(row.key, row);
  return asked;
}

/** Writes the keys that are asked for, and tells which were not there before. */
export function askStatement({ asked }: SortedReports): PipelineStatement {
  const rows = [...asked.values()];
  return {
    name: "ingest_frames",
    text: `insert into ingest_frames (device_id, device_day, frame_key, received_at)
      select * from unnest($1::uuid[], $2::date[], $3::uuid[], $4::timestamptz[])
      on conflict do nothing returning frame_key`,
    values: [
      uuids(rows),
      binaryArray("date", rows, (writer, row) => writer.date(row.deviceTimeMs)),
      binaryArray("uuid", rows, (writer, row) => writer.uuidLatin1(row.key)),
      binaryArray("timestamptz", rows, (writer, row) => writer.timestamptz(row.receivedAtMs)),
    ],
    rowMode: "array",
  };
}

/** The positions at the times of the reports that are asked for. */
export function positionsStatement({ asked }: SortedReports): PipelineStatement {
  const rows = [...asked.values()];
  return {
    name: "ingest_known_positions",
    text: `select n.place, l.id from locations l
      join unnest($1::uuid[], $2::timestamptz[], $3::int4[]) as n(device_id, ts, place) on l.device_id = n.device_id and l.ts = n.ts
      where l.device_id = any($1::uuid[])`,
    values: [
      uuids(rows),
      binaryArray("timestamptz", rows, (writer, row) => writer.timestamptz(row.deviceTimeMs)),
      binaryArray("int4", [...rows.keys()], (writer, place) => writer.int4(place)),
    ],
    rowMode: "array",
  };
}

const keyBytesOfId = 5;

/** Writes the last 40 bits of an id, which are random otherwise: the report that a position is of. */
export function tellKey(id: Buffer, key: string): void {
  id.write(key.slice(-keyBytesOfId), id.length - keyBytesOfId, "latin1");
}

const tellsKey = (id: string, key: string): boolean =>
  uuidBytes(id).toString("latin1").endsWith(key.slice(-keyBytesOfId));

/** Marks the reports that were stored before; returns how many. */
export function markKnown({ isNew, asked, askedAt }: SortedReports, answers: readonly QueryArrayResult[]): number {
  const [frames, positions] = answers as [QueryArrayResult<[string]>?, QueryArrayResult<[number, string]>?];
  const unknown = new Set(frames?.rows.map(([key]) => uuidBytes(key).toString("latin1")));
  const rows = [...asked.values()];
  for (const [place, id] of positions?.rows ?? []) {
    const { key } = rows[place] as FrameKeyRow;
    if (tellsKey(id, key)) unknown.delete(key);
  }
  let duplicates = 0;
  for (const { index, row } of askedAt) {
    if (asked.get(row.key) === row && unknown.has(row.key)) continue;
    isNew[index] = false;
    duplicates++;
  }
  return duplicates;
}

const framesTarget = copyTarget("ingest_frames", ["device_id", "device_day", "frame_key", "received_at"]);

export function copyFrameKeys(rows: readonly FrameKeyRow[]): CopyRows {
  const copy = new CopyRows(framesTarget);
  for (const { hold, key, deviceTimeMs, receivedAtMs } of rows) {
    copy.row().uuid(hold.deviceIdBytes).date(deviceTimeMs).uuidLatin1(key).timestamptz(receivedAtMs);
  }
  return copy;
}
