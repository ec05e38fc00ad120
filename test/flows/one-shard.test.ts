import { resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { distributedTables } from "../../src/db/distributed-tables.ts";
import { deleteKeyedRows, readKeyedRows } from "../../src/db/keyed-rows.ts";
import { sql } from "../../src/db/sql.ts";
import { readDeviceTimes, readRules } from "../../src/ingest/rules/rule-store.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { insertLocated, setAddress } from "../../src/places/place-store.ts";
import { deviceTables, rowsOf } from "../../src/privacy/device-tables.ts";
import { linkReading } from "../../src/resources/commands/measurement-results.ts";
import type { HistoryOwner } from "../../src/resources/locations/history-page.ts";
import { findLatestLocation, readTrack } from "../../src/resources/locations/location-store.ts";
import { newestTelemetry } from "../../src/resources/telemetry/telemetry-store.ts";
import { deleteExpiredHistory } from "../../src/roles/history-retention.ts";
import { RetentionGuard } from "../../src/roles/retention-guard.ts";
import {
  connectDevice,
  type GatewayWorld,
  gpsFix,
  openGatewayWorld,
  type TestGateway,
  vitals,
} from "../support/gateway.ts";
import { type SourceStatement, statementsOn } from "../support/sql-statements.ts";

const names = distributedTables.map(({ table }) => table);
const written = new RegExp(`\\b(from|into|update|join)\\s+(${names.join("|")})\\b`);

/** Statements that may ask several shards, by a piece of their text. */
const exceptions: Record<string, string> = {
  "update locations l set is_valid = false": "a batch, over the devices that it names",
  "insert into ingest_frames": "a batch, over the devices whose reports may be known",
  "select l.device_id, l.ts, l.device_ts": "a batch, over the devices that it names",
};

/** Statements of the source that the test does not run. */
const notRun: Record<string, string> = {
  "select distinct on (slice)": "the track of more than 50,000 points: the same condition as the one that is run",
  "delete from ingest_frames where device_id in": "the removal of an organization, over all its devices",
};

interface Sent {
  text: string;
  values: unknown[];
}

describe.skipIf(!process.env.VIGIL_TEST_CITUS_URL)("on a distributed database", () => {
  let world: GatewayWorld;
  let gateway: TestGateway;
  const sent = new Map<string, Sent>();

  beforeAll(async () => {
    const { submit } = pg.Query.prototype as unknown as { submit(connection: unknown): unknown };
    vi.spyOn(pg.Query.prototype as unknown as { submit: typeof submit }, "submit").mockImplementation(function (
      this: Sent,
      connection,
    ) {
      const { text, values } = this;
      if (written.test(text) && !/^(explain|create|copy)/.test(text)) sent.set(text, { text, values: values ?? [] });
      return submit.call(this, connection);
    });
    world = await openGatewayWorld();
    gateway = await world.open();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await gateway?.close();
    await world?.close();
  });

  async function useAll(): Promise<void> {
    const { db, clock, organizationId } = world;
    const { id, tracker } = await connectDevice(world, gateway, "490154203000001");
    const nowMs = clock.nowMs();
    const at = (seconds: number): number => nowMs - 600_000 + seconds * 1000;
    tracker.send(1, [gpsFix(at(0), 41.9, 12.4), vitals({ hr: 70 }, at(0))]);
    tracker.send(2, [gpsFix(at(10), 46.9, 12.4)]);
    // The outlier is in a batch of its own: the next one marks its row.
    await tracker.until("ok 2");
    tracker.send(3, [gpsFix(at(20), 41.9, 12.4)]);
    tracker.send(1, [gpsFix(at(0), 41.9, 12.4), vitals({ hr: 70 }, at(0))]);
    tracker.send(4);
    await tracker.until("ok 4");
    const ts = new Date(at(0));
    const owner = { id, organization_id: organizationId, last_seen_at: new Date(nowMs) } as HistoryOwner;
    await readRules(db, [id], nowMs);
    const client = await db.connect();
    await readDeviceTimes(client, [{ deviceId: id, tsMs: at(0) }]);
    await client.end();
    const located = { id: "00000000-0000-7000-8000-000000000001", deviceId: id, organizationId, ts } as const;
    const place = { deviceTs: ts, receivedAt: ts, lat: 41, lng: 12, accuracyM: 10, source: "wifi" } as const;
    const unknown = { invalidReason: null, mcc: null, mnc: null, carrier: null };
    await db.transaction((tx) => insertLocated(tx, { ...located, ...place, ...unknown }));
    await setAddress(db, organizationId, located, "Via Roma 1");
    const command = { organization_id: organizationId, device_id: id, id: located.id, acked_at: ts };
    await linkReading(db, { ...command, command_type: "test_heart_rate" });
    await findLatestLocation(db, owner);
    await readTrack(db, owner, { fromMs: at(0), toMs: nowMs });
    await newestTelemetry(db, owner);
    await db.many`select device_ts from locations where device_id = ${id} and ts = ${ts} limit 1`;
    await db.run`update organizations set retention = '{"locations": 30, "telemetry": 30}'`;
    const log = makeLogger("silent");
    await deleteExpiredHistory(db, clock, log, new RetentionGuard(clock, log, new Metrics()));
    for (const table of deviceTables.filter((one) => names.includes(one.table))) {
      const rows = rowsOf({ id, organizationId } as never, table);
      for await (const _ of readKeyedRows(db, rows, { select: sql`*`, pageRows: 1 }));
      await deleteKeyedRows(db, rows, 1);
    }
  }

  const hasPieces = (text: string, { text: source }: SourceStatement): boolean => {
    let at = 0;
    const flat = text.replace(/\s+/g, " ");
    return source.split(/\$\d*/).every((piece) => {
      const found = flat.indexOf(piece.trim(), at);
      at = found + piece.trim().length;
      return found >= 0;
    });
  };

  test("every statement about one device asks one shard", { timeout: 120_000 }, async () => {
    await useAll();
    const found: Record<string, number> = {};
    const client = await world.db.connect();
    for (const { text, values } of sent.values()) {
      if (Object.keys(exceptions).some((piece) => text.includes(piece))) continue;
      const { rows } = await client.query({ text: `explain ${text}`, values });
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      found[text.replace(/\s+/g, " ")] = Number(/Task Count: (\d+)/.exec(plan)?.[1] ?? Number.NaN);
    }
    await client.end();
    expect(Object.entries(found).filter(([, count]) => count !== 1)).toEqual([]);
    expect(Object.keys(found).length).toBeGreaterThan(15);
  });

  test("every statement of the source was looked at", () => {
    const statements = statementsOn(resolve(import.meta.dirname, "../../src"), names);
    const texts = [...sent.keys()];
    const left = statements.filter((one) => !texts.some((text) => hasPieces(text, one)));
    expect(left.filter(({ text }) => !Object.keys(notRun).some((piece) => text.startsWith(piece)))).toEqual([]);
  });
});
