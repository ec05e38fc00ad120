import { hash } from "node:crypto";
import type { QueryArrayConfig, QueryArrayResult } from "pg";
import type { FrameReport } from "../codecs/protocol-definition.ts";
import { binaryArray } from "../db/binary-writer.ts";
import { CopyRows } from "../db/copy-in.ts";
import { uuidBytes } from "../lib/ids.ts";
import { uuids } from "./batch-store.ts";
import type { DeviceHold } from "./device-memory.ts";
import { deviceTimeOf, type Packet } from "./packet.ts";

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
}

export interface SortedReports {
  /** One for each report; of those that are asked for, only the answer tells. */
  isNew: boolean[];
  /** Keys that are still to be written. */
  certain: readonly FrameKeyRow[];
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

/**
 * Which reports were not stored before. The duplicate rule needs a device time (section 26.1, 5): reports without one are always
 * new. So is one whose time is later than that of every stored report of its device, because the same bytes have the same time:
 * its key is written without asking, and only the others are looked for. Should it be known all the same (the time of a device's
 * clock follows from its time zone, which people change), writing its key fails, and the batch asks for everything.
 */
export function sortReports(reports: readonly ReportOfPacket[], asksForAll: boolean): SortedReports {
  const isNew: boolean[] = [];
  const certain: FrameKeyRow[] = [];
  const newestOf = new Map<DeviceHold, number>();
  const keyOf = makeKeyOf();
  const askedAt: { index: number; row: FrameKeyRow }[] = [];
  for (let index = 0; index < reports.length; index++) {
    const { report, packet } = reports[index] as ReportOfPacket;
    const { hold, receivedAtMs } = packet;
    const deviceTimeMs = deviceTimeOf(report);
    isNew.push(true);
    if (deviceTimeMs === null) continue;
    const row = { hold, key: keyOf(hold, report), deviceTimeMs, receivedAtMs };
    const newestMs = newestOf.get(hold) ?? hold.memory.newestReportMs;
    if (newestMs === null || deviceTimeMs > newestMs) newestOf.set(hold, deviceTimeMs);
    // Beside a connection, what that one has stored meanwhile is not known.
    const isCertain = newestMs !== null && deviceTimeMs > newestMs && hold.isOnline === undefined && !asksForAll;
    if (isCertain) certain.push(row);
    else askedAt.push({ index, row });
  }
  return { isNew, certain, asked: firstOf(certain, askedAt), askedAt, newestOf };
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
export function askStatement({ asked }: SortedReports): QueryArrayConfig {
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

/** Marks the reports that were stored before; returns how many. */
export function markKnown(
  { isNew, asked, askedAt }: SortedReports,
  answer: QueryArrayResult<[string]> | undefined,
): number {
  const inserted = new Set(answer?.rows.map(([key]) => uuidBytes(key).toString("latin1")));
  let duplicates = 0;
  for (const { index, row } of askedAt) {
    if (asked.get(row.key) === row && inserted.has(row.key)) continue;
    isNew[index] = false;
    duplicates++;
  }
  return duplicates;
}

export function copyFrameKeys(rows: readonly FrameKeyRow[]): CopyRows {
  const copy = new CopyRows("ingest_frames", ["device_id", "device_day", "frame_key", "received_at"]);
  for (const { hold, key, deviceTimeMs, receivedAtMs } of rows) {
    copy.row().uuid(hold.deviceIdBytes).date(deviceTimeMs).uuidLatin1(key).timestamptz(receivedAtMs);
  }
  return copy;
}
