import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { type Clock, makeClock, makeManualClock } from "../../src/lib/clock.ts";
import { newUuid, uuidV7 } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { deleteExpiredHistory } from "../../src/roles/history-retention.ts";
import { keepPartitions, partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { RetentionGuard } from "../../src/roles/retention-guard.ts";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";
import { metricOf } from "../support/metric.ts";

const dayMs = 86_400_000;
const log = makeLogger("silent");
const clock = makeClock();
const outbound = partitionedTables.filter(({ table }) => table === "outbound_events");
let cli: CommandLine;
let db: Database;

beforeAll(async () => {
  cli = await openCommandLine();
  db = openDatabase({ connection: { connectionString: cli.env.DATABASE_URL }, log });
});
afterAll(async () => {
  await db.close();
  await cli.close();
});

const guardOf = (own: Clock, metrics = new Metrics()): RetentionGuard => new RetentionGuard(own, log, metrics);
const partitions = async (): Promise<number> =>
  (await db.many`select 1 from pg_inherits where inhparent = 'outbound_events'::regclass`).length;

test("the command line shows what each organization keeps, and deletes the rest of that organization alone", async () => {
  const care = await cli.vigilJson<{ id: string; slug: string }>(["org", "create", "--name", "Care"]);
  const other = await cli.vigilJson<{ id: string; slug: string }>(["org", "create", "--name", "Other"]);
  const set = ["org", "set", care.slug, "--retain", "telemetry=10d,events=20d,messages=5d"];
  expect(await cli.vigilJson(set)).toMatchObject({ retention: { telemetry: 10, events: 20, messages: 5 } });
  expect(await cli.vigilJson(["org", "set", care.slug, "--retain", "messages=keep"])).toMatchObject({
    retention: { telemetry: 10, events: 20 },
  });
  await cli.expectFailure(["org", "set", care.slug, "--retain", "walks=3d"], 2, /walks=3d/);
  const rows = await cli.vigilJson<{ org: string }[]>(["db", "retention"]);
  expect(rows.filter(({ org }) => org === care.slug)).toEqual([
    { org: care.slug, table: "locations", days: null },
    { org: care.slug, table: "telemetry", days: 10 },
    { org: care.slug, table: "events", days: 20 },
    { org: care.slug, table: "messages", days: null },
  ]);

  await maintainPartitions(db, partitionedTables, clock.nowMs());
  const now = clock.now();
  const old = new Date(clock.nowMs() - 25 * dayMs);
  for (const [index, { id: organizationId }] of [care, other].entries()) {
    const deviceId = newUuid();
    await db.run`
      insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
        created_at, updated_at)
      values (${deviceId}, ${organizationId}, ${String(490_154_203_237_000 + index)}, '', 'iw-h10', 'iw', 'UTC', '{}', '{}',
        '', ${now}, ${now})`;
    for (const ts of [old, now]) {
      await db.run`
        insert into telemetry (device_id, ts, id, organization_id, received_at, data)
        values (${deviceId}, ${ts}, ${uuidV7(ts.getTime())}, ${organizationId}, ${ts}, '{}')`;
      await db.run`
        insert into events (device_id, id, organization_id, event_type, severity, ts, title, message, data, search, created_at)
        values (${deviceId}, ${uuidV7(ts.getTime())}, ${organizationId}, 10, 3, ${ts}, 'SOS', 'SOS', '{}', '', ${ts})`;
    }
  }
  const wrong = makeManualClock(new Date(clock.nowMs() + 2 * 3_600_000));
  expect(await deleteExpiredHistory(db, wrong, log, guardOf(wrong))).toBe(0);
  expect(await deleteExpiredHistory(db, clock, log, guardOf(clock))).toBe(2);
  const left = (organizationId: string) =>
    db.one`select (select count(*) from telemetry where organization_id = ${organizationId}) as telemetry,
      (select count(*) from events where organization_id = ${organizationId}) as events`;
  expect(await left(care.id)).toEqual({ telemetry: 1, events: 1 });
  expect(await left(other.id)).toEqual({ telemetry: 2, events: 2 });
});

test("the command line drops nothing with a wrong clock, and says so", async () => {
  const wrong = makeManualClock(new Date(clock.nowMs() + 31 * dayMs));
  const metrics = new Metrics();
  const before = await partitions();
  await keepPartitions(db, outbound, wrong, log, guardOf(wrong, metrics));
  expect(await partitions()).toBeGreaterThanOrEqual(before);
  expect(metricOf(metrics, 'vigil_retention_stopped{reason="clock"}')).toBe(1);
});

test("the command line drops no more than two partitions at once until the operator says so", async () => {
  await db.run`delete from outbound_events`;
  for (const days of [40, 41, 42])
    await maintainPartitions(db, outbound, clock.nowMs() - days * dayMs, { isClockRight: false, maxPerTable: 0 });
  const metrics = new Metrics();
  const guard = guardOf(clock, metrics);
  const before = await partitions();
  await keepPartitions(db, outbound, clock, log, guard);
  expect(await partitions()).toBe(before);
  expect(metricOf(metrics, 'vigil_retention_stopped{reason="partitions"}')).toBe(1);
  const doctor = JSON.parse((await cli.vigil(["doctor", "--json"])).stdout) as {
    checks: { name: string; ok: boolean }[];
  };
  expect(doctor.checks.find(({ name }) => name === "retention")).toMatchObject({
    ok: false,
    detail: expect.stringContaining("vigil db retention --apply"),
  });
  const applied = await cli.vigil(["db", "retention", "--apply", "--json"]);
  expect(applied).toMatchObject({ code: 0, stderr: expect.stringContaining("dropped outbound_events_p") });
  expect(await partitions()).toBeLessThan(before - 2);
  await keepPartitions(db, outbound, clock, log, guard);
  expect(metricOf(metrics, 'vigil_retention_stopped{reason="partitions"}')).toBe(0);
});

test("a command that only reads leaves an older schema as it is, and says what to do", async () => {
  await db.run`delete from schema_migrations where version = (select max(version) from schema_migrations)`;
  await cli.expectFailure(["org", "list"], 1, /vigil db migrate/);
  await cli.expectFailure(["device", "unknown"], 1, /vigil db migrate/);
});
