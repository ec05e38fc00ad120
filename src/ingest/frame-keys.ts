import { hash } from "node:crypto";
import type { Client } from "pg";
import type { FrameReport } from "../codecs/protocol-definition.ts";
import { binaryArray } from "../db/binary-writer.ts";
import { CopyRows } from "../db/copy-in.ts";
import { uuids } from "./batch-store.ts";
import type { DeviceHold } from "./device-memory.ts";
import { deviceTimeOf, type Packet } from "./packet.ts";

export interface ReportOfPacket {
  report: FrameReport;
  packet: Packet;
}

interface FrameKeyRow {
  hold: DeviceHold;
  key: Buffer;
  deviceTimeMs: number;
  receivedAtMs: number;
}

export interface NewReports {
  /** One for each report. */
  isNew: readonly boolean[];
  duplicates: number;
  /** Keys that are still to be written. */
  certain: readonly FrameKeyRow[];
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

/** The same bytes from the same device are the same report. */
const keyOf = ({ deviceIdBytes }: DeviceHold, { raw }: FrameReport): Buffer =>
  hash("sha256", Buffer.concat([deviceIdBytes, raw]), "buffer").subarray(0, 16);

/**
 * Which reports were not stored before. The duplicate rule needs a device time (section 26.1, 5): reports without one are always
 * new. So is one whose time is later than that of every stored report of its device, because the same bytes have the same time:
 * its key is written without asking, and only the others are looked for. Should it be known all the same (the time of a device's
 * clock follows from its time zone, which people change), writing its key fails, and the batch asks for everything.
 */
export async function findNew(
  client: Client,
  reports: readonly ReportOfPacket[],
  asksForAll: boolean,
): Promise<NewReports> {
  const isNew: boolean[] = [];
  const certain: FrameKeyRow[] = [];
  const newestOf = new Map<DeviceHold, number>();
  const inBatch = new Set<string>();
  const asked = new Map<number, FrameKeyRow>();
  let duplicates = 0;
  for (const [index, { report, packet }] of reports.entries()) {
    const { hold, receivedAtMs } = packet;
    const deviceTimeMs = deviceTimeOf(report);
    isNew.push(true);
    if (deviceTimeMs === null) continue;
    const key = keyOf(hold, report);
    const row = { hold, key, deviceTimeMs, receivedAtMs };
    const newestMs = newestOf.get(hold) ?? hold.memory.newestReportMs;
    const name = key.toString("latin1");
    if (inBatch.has(name)) {
      isNew[index] = false;
      duplicates++;
      continue;
    }
    inBatch.add(name);
    if (newestMs === null || deviceTimeMs > newestMs) newestOf.set(hold, deviceTimeMs);
    // Beside a connection, what that one has stored meanwhile is not known.
    const isCertain = newestMs !== null && deviceTimeMs > newestMs && hold.isOnline === undefined && !asksForAll;
    if (isCertain) certain.push(row);
    else asked.set(index, row);
  }
  const inserted = await insertFrameKeys(client, [...asked.values()]);
  for (const [index, { key }] of asked) {
    if (inserted.has(key.toString("hex"))) continue;
    isNew[index] = false;
    duplicates++;
  }
  return { isNew, duplicates, certain, newestOf };
}

/** The keys, of those given, that were not there before. */
async function insertFrameKeys(client: Client, rows: readonly FrameKeyRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const result = await client.query<[string]>({
    name: "ingest_frames",
    text: `insert into ingest_frames (device_id, device_day, frame_key, received_at)
      select * from unnest($1::uuid[], $2::date[], $3::uuid[], $4::timestamptz[])
      on conflict do nothing returning frame_key`,
    values: [
      uuids(rows),
      binaryArray("date", rows, (writer, row) => writer.date(row.deviceTimeMs)),
      binaryArray("uuid", rows, (writer, row) => writer.uuid(row.key)),
      binaryArray("timestamptz", rows, (writer, row) => writer.timestamptz(row.receivedAtMs)),
    ],
    rowMode: "array",
  });
  return new Set(result.rows.map(([key]) => key.replaceAll("-", "")));
}

export function copyFrameKeys(rows: readonly FrameKeyRow[]): CopyRows {
  const copy = new CopyRows("ingest_frames", ["device_id", "device_day", "frame_key", "received_at"]);
  for (const { hold, key, deviceTimeMs, receivedAtMs } of rows) {
    copy.row().uuid(hold.deviceIdBytes).date(deviceTimeMs).uuid(key).timestamptz(receivedAtMs);
  }
  return copy;
}
