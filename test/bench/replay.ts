import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { rawSql } from "../../src/db/sql.ts";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { uuidV7Floor } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { findOldestId, type ReplayOwner, type ReplayRange, readLog } from "../../src/outbound/replay-store.ts";
import { defaultTypes } from "../../src/outbox/outbound-gate.ts";
import { median, type Row } from "./report.ts";

const smallest = 100_000;
const sizes = process.argv.includes("--huge") ? [10_000_000] : [1_000_000];
const days = 29;
const dayMs = 86_400_000;
const rounds = 7;
const callsPerRound = 20;
const clock = makeClock();
const log = makeLogger("silent");

interface Log {
  db: Database;
  owner: ReplayOwner;
  oldestMs: number;
  newestMs: number;
}

const whole = { types: defaultTypes, deviceUids: [], search: undefined, limit: 500 } satisfies Partial<ReplayRange>;
const from = (timeMs: number, range: Partial<ReplayRange> = {}): ReplayRange => ({
  ...whole,
  afterId: uuidV7Floor(timeMs),
  ...range,
});
const read =
  (rangeOf: (log: Log) => ReplayRange, expected: number) =>
  async (log: Log): Promise<void> => {
    const { rows } = await readLog(log.db, log.owner, rangeOf(log));
    if (rows.length !== expected) throw new Error(`${rows.length} rows instead of ${expected}`);
  };
const middle = ({ oldestMs, newestMs }: Log): number => Math.floor((oldestMs + newestMs) / 2);

const reads: Record<string, (log: Log) => Promise<unknown>> = {
  "500 rows from the oldest on": read(({ oldestMs }) => from(oldestMs - 1), 500),
  "500 rows from the middle on": read((log) => from(middle(log)), 500),
  "nothing new": read(({ newestMs }) => from(newestMs + 1), 0),
  "500 rows of one common type": read((log) => from(middle(log), { types: ["health.snapshot"] }), 500),
  "500 rows of half of the types": read((log) => from(middle(log), { types: defaultTypes.slice(0, 7) }), 500),
  "10 rows of a rare type, to the end": read(({ oldestMs }) => from(oldestMs - 1, { types: ["alarm.sos"] }), 10),
  "no row of a type, to the end": read(({ oldestMs }) => from(oldestMs - 1, { types: ["alarm.fall"] }), 0),
  "oldest id": ({ db, owner, oldestMs }) => findOldestId(db, owner, oldestMs - 1),
};

/** Four weeks of one integration among others: positions and readings, and ten alarms however many rows there are. */
async function fill(db: Database, rows: number): Promise<Log> {
  const newestMs = clock.nowMs() - 60_000;
  const oldestMs = newestMs - days * dayMs;
  const spans = { table: "outbound_events", by: "uuid7", spanDays: 1, futureSpans: 3 } as const;
  await maintainPartitions(db, [{ ...spans, pastSpans: days + 1, defaultPrunedBy: "id" }], clock.nowMs());
  const owner = { organizationId: randomUUID(), integrationId: randomUUID() };
  const client = await db.connect();
  const chunk = 500_000;
  for (let at = 0; at < rows; at += chunk) {
    await client.query(
      `insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, body)
       select $1, id, $2, uid, type, to_timestamp(ms / 1000.0), '{"id":"' || id || '","type":"' || type
         || '","device":{"uid":"' || uid || '","imei":"' || uid || '"},"data":{"filler":"' || repeat('x', 350) || '"}}'
       from (
         select ms, (substr(hex, 1, 8) || '-' || substr(hex, 9) || '-7000-' || lpad(to_hex(32768 + n % 1000), 4, '0')
             || '-' || lpad(to_hex(n % 16), 12, '0'))::uuid as id,
           (860000000000000 + n % 10000)::text as uid,
           case when n % ($3::int8 / 10) = 5 then 'alarm.sos' when n % 4 = 0 then 'health.snapshot'
             when n % 50 = 1 then 'device.online' else 'location.update' end as type
         from (
           select n, ms, lpad(to_hex(ms), 12, '0') as hex
           from (select n, ($4::int8 + n * ($5::int8 - $4::int8) / $3::int8) as ms
                 from generate_series($6::int8, $7::int8 - 1) n) a
         ) b
       ) c`,
      [owner.integrationId, owner.organizationId, rows, oldestMs, newestMs, at, Math.min(at + chunk, rows)],
    );
  }
  await client.query("vacuum analyze outbound_events");
  await client.end();
  return { db, owner, oldestMs, newestMs };
}

async function timeOf(one: (log: Log) => Promise<unknown>, log: Log): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < callsPerRound; call++) {
    const begun = performance.now();
    await one(log);
    times.push((performance.now() - begun) * 1000);
  }
  return median(times);
}

/** A page of the log must not become slower with the log. `--huge` takes 10^7 rows instead of 10^6. */
export async function benchReplay(): Promise<Row[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-bench-"));
  const server = await openEmbeddedServer({ dataDir, log, purpose: "command" });
  const open = (database: string) => openDatabase({ connection: { ...server.connection, database }, log });
  const admin = open(server.connection.database);
  const opened: Database[] = [];
  const make = async (rows: number): Promise<Log> => {
    const name = `bench_replay_${rows}`;
    await admin.run(rawSql(`create database ${name} template template0`));
    const db = open(name);
    opened.push(db);
    await migrate(db, clock);
    return fill(db, rows);
  };
  try {
    const rows: Row[] = [];
    const small = await make(smallest);
    for (const size of sizes) {
      const large = await make(size);
      for (const [name, one] of Object.entries(reads)) {
        for (const log of [small, large]) await timeOf(one, log);
        const [ours, bare]: [number[], number[]] = [[], []];
        for (let round = 0; round < rounds; round++) {
          bare.push(await timeOf(one, small));
          ours.push(await timeOf(one, large));
        }
        const ratios = ours.map((value, index) => value / (bare[index] as number));
        const what = `${name}, ${size.toExponential(0)} rows (bare: 1e5)`;
        rows.push({ what, ours: median(ours), bare: median(bare), unit: "µs", ratios, goal: 2 });
      }
    }
    return rows;
  } finally {
    await Promise.all([...opened.map((db) => db.close().catch(() => undefined)), admin.close()]);
    await server.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
