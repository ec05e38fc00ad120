import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { rawSql } from "../../src/db/sql.ts";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { encodeCursor, parseListQuery } from "../../src/http/lists.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import type { HistoryOwner } from "../../src/resources/locations/history-page.ts";
import { findLatestLocation, listLocations, locationList } from "../../src/resources/locations/location-store.ts";
import { listTelemetry, newestTelemetry, telemetryList } from "../../src/resources/telemetry/telemetry-store.ts";
import { median, type Row } from "./report.ts";

const smallest = 100_000;
const sizes = process.argv.includes("--huge") ? [10_000_000] : [1_000_000];
const kinds = process.argv.includes("--one") ? (["one"] as const) : (["one", "many"] as const);
const everySeconds = 30;
const rowsPerDevice = 1000;
const rounds = 7;
const callsPerRound = 100;
const clock = makeClock();
const log = makeLogger("silent");

interface History {
  db: Database;
  owner: HistoryOwner;
  newestMs: number;
  oldestMs: number;
}

type Read = (history: History) => Promise<unknown>;

const at = (timeMs: number): string => new Date(timeMs).toISOString();
const middle = ({ newestMs, oldestMs }: History): number => oldestMs + (newestMs - oldestMs) / 2;
/** Where a reader stands who has come by `next` to a time. */
const cursorAt = (timeMs: number): string =>
  encodeCursor([{ field: "ts", descending: true }], "after", at(timeMs), randomUUID());
const lastPage = ({ oldestMs }: History): string => cursorAt(oldestMs + 99.5 * everySeconds * 1000);

const locations =
  (query: (history: History) => Record<string, string>): Read =>
  (history) =>
    listLocations(history.db, history.owner, parseListQuery(locationList, query(history)));
const telemetry =
  (query: (history: History) => Record<string, string>): Read =>
  (history) =>
    listTelemetry(history.db, history.owner, parseListQuery(telemetryList, query(history)));

const reads: Record<string, Read> = {
  "locations latest": ({ db, owner }) => findLatestLocation(db, owner),
  "locations first page": locations(() => ({})),
  "locations last page": locations((history) => ({ cursor: lastPage(history) })),
  "locations middle by time": locations((history) => ({ ts_before: at(middle(history)) })),
  "locations a day in the middle": locations((history) => ({
    ts_after: at(middle(history)),
    ts_before: at(middle(history) + 86_400_000),
    ordering: "ts",
  })),
  "locations oldest first": locations(() => ({ ordering: "ts" })),
  "telemetry latest": ({ db, owner }) => newestTelemetry(db, owner),
  "telemetry first page": telemetry(() => ({})),
  "telemetry last page": telemetry((history) => ({ cursor: lastPage(history) })),
  "telemetry middle by time": telemetry((history) => ({ ts_before: at(middle(history)) })),
};

/** So many rows: a packet every half minute of one device, or of many devices that have a thousand each. */
async function fill(db: Database, kind: "one" | "many", rows: number): Promise<History> {
  const newestMs = clock.nowMs() - 60_000;
  const perDevice = kind === "one" ? rows : rowsPerDevice;
  const oldestMs = newestMs - (perDevice - 1) * everySeconds * 1000;
  const spans = { by: "time", spanDays: 28, futureSpans: 1 } as const;
  const pastSpans = Math.ceil((newestMs - oldestMs) / (28 * 86_400_000)) + 2;
  for (const table of ["locations", "telemetry"]) {
    await maintainPartitions(db, [{ ...spans, table, pastSpans }], clock.nowMs());
  }
  const owner = {
    id: randomUUID(),
    organization_id: randomUUID(),
    created_at: new Date(oldestMs),
    last_seen_at: new Date(newestMs),
  };
  const client = await db.connect();
  const devices = [owner.id, ...Array.from({ length: rows / perDevice - 1 }, () => randomUUID())];
  const source = `from generate_series(0, $4::int - 1) n, unnest($1::uuid[]) device`;
  const ts = `$3::timestamptz - n * interval '${everySeconds} seconds'`;
  const values = [devices, owner.organization_id, at(newestMs), perDevice];
  await client.query(
    `insert into locations (device_id, organization_id, ts, id, received_at, lat, lng, speed_kmh, accuracy_m, source, is_valid)
     select device, $2, ${ts}, gen_random_uuid(), ${ts}, 41 + n % 100 / 1000.0, 12, n % 7, 10, 'gps', n % 50 <> 7 ${source}`,
    values,
  );
  await client.query(
    `insert into telemetry (device_id, organization_id, ts, id, received_at, data)
     select device, $2, ${ts}, gen_random_uuid(), ${ts}, jsonb_build_object('hr', 60 + n % 40, 'bat', n % 100) ${source}`,
    values,
  );
  await client.query("vacuum analyze");
  await client.end();
  return { db, owner, newestMs, oldestMs };
}

async function timeOf(read: Read, history: History): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < callsPerRound; call++) {
    const begun = performance.now();
    await read(history);
    times.push((performance.now() - begun) * 1000);
  }
  return median(times);
}

async function compare(kind: "one" | "many", small: History, large: History, size: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, read] of Object.entries(reads)) {
    for (const history of [small, large]) await timeOf(read, history);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      bare.push(await timeOf(read, small));
      ours.push(await timeOf(read, large));
    }
    rows.push({
      what: `${name}, ${size.toExponential(0)} rows of ${kind === "one" ? "one device" : "many devices"} (bare: 1e5)`,
      ours: median(ours),
      bare: median(bare),
      unit: "µs",
      ratios: ours.map((value, index) => value / (bare[index] as number)),
      goal: 2,
    });
  }
  return rows;
}

/** Reads of a device's history must not become slower with the history. `--huge` takes 10^7 rows instead of 10^6, `--one` only one device. */
export async function benchHistory(): Promise<Row[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-bench-"));
  const server = await openEmbeddedServer({ dataDir, log, purpose: "command" });
  const open = (database: string) => openDatabase({ connection: { ...server.connection, database }, log });
  const admin = open(server.connection.database);
  const opened: Database[] = [];
  const make = async (kind: "one" | "many", rows: number): Promise<History> => {
    const name = `bench_${kind}_${rows}`;
    await admin.run(rawSql(`create database ${name} template template0`));
    const db = open(name);
    opened.push(db);
    await migrate(db, clock);
    return fill(db, kind, rows);
  };
  try {
    const rows: Row[] = [];
    for (const kind of kinds) {
      const small = await make(kind, smallest);
      for (const size of sizes) {
        const large = await make(kind, size);
        rows.push(...(await compare(kind, small, large, size)));
        await large.db.close();
        await admin.run(rawSql(`drop database bench_${kind}_${size} with (force)`));
      }
    }
    return rows;
  } finally {
    await Promise.all([...opened.map((db) => db.close().catch(() => undefined)), admin.close()]);
    await server.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
