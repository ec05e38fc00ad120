import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Db } from "../../src/db/database.ts";
import { maintainPartitions, spansAround } from "../../src/db/partitions.ts";
import { encodeCursor, parseListQuery } from "../../src/http/lists.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { HistoryOwner } from "../../src/resources/locations/history-page.ts";
import {
  findLatestLocation,
  listLocations,
  locationList,
  readTrack,
} from "../../src/resources/locations/location-store.ts";
import { newestTelemetry } from "../../src/resources/telemetry/telemetry-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { explaining, type PlanNode, stepsOf } from "../support/query-plans.ts";

const now = new Date("2026-03-20T12:00:00.000Z");
const dayMs = 86_400_000;
const ago = (days: number): Date => new Date(now.getTime() - days * dayMs);
const spans = { by: "time", spanDays: 28, pastSpans: 15, futureSpans: 1 } as const;

/** A year of a device that sends every hour, in a table of 17 spans of four weeks. */
describe("what the database reads of a long history", () => {
  let api: TestApi;
  const owner: HistoryOwner = {
    id: newUuid(),
    organization_id: newUuid(),
    created_at: ago(365),
    last_seen_at: ago(0),
  };
  const names = spansAround({ table: "locations", ...spans }, now.getTime()).map(({ name }) => name);

  beforeAll(async () => {
    // Plans follow the statistics of whole tables, so nobody else may have written them.
    api = await openTestApi({ clock: makeManualClock(now), isPrivate: true });
    for (const table of ["locations", "telemetry"]) {
      await maintainPartitions(api.db, [{ table, ...spans }], now.getTime());
    }
    await api.db.run`
      insert into locations (device_id, organization_id, id, ts, received_at, lat, lng, source, is_valid)
      select ${owner.id}, ${owner.organization_id}, gen_random_uuid(), ts, ts, 41, 12, 'gps', true
      from generate_series(${ago(365)}, ${ago(0)}, interval '1 hour') ts`;
    await api.db.run`
      insert into telemetry (device_id, organization_id, id, ts, received_at, data)
      select device_id, organization_id, id, ts, ts, '{"hr":60}' from locations`;
    await api.db.run`analyze`;
  });
  afterAll(() => api.close());

  /** Runs a read, and tells its plans and the number of partitions they name. */
  async function plansOf(read: (db: Db) => Promise<unknown>): Promise<{ plans: PlanNode[]; partitions: number }> {
    const plans: PlanNode[] = [];
    await read(explaining(api.db, (plan) => plans.push(plan)));
    const tables = plans.flatMap(stepsOf).map((step) => step["Relation Name"] ?? "");
    // On a distributed database the shard of a partition has its number behind it.
    const partitions = tables.filter((name) => /^(?:locations|telemetry)_m\d+(?:_\d+)?$/.test(name));
    return { plans, partitions: new Set(partitions).size };
  }

  const list = (query: Record<string, string>) => (db: Db) =>
    listLocations(db, owner, parseListQuery(locationList, { page_size: "100", ...query }));
  const cursor = (days: number, side: "after" | "before", descending = true) =>
    encodeCursor([{ field: "ts", descending }], side, ago(days).toISOString(), newUuid());

  it.each<[string, (db: Db) => Promise<unknown>, number]>([
    ["the first page", list({}), 3],
    ["a page after a cursor", list({ cursor: cursor(180, "after") }), 3],
    ["a page before a cursor", list({ cursor: cursor(180, "before") }), 3],
    ["an ascending page after a cursor", list({ ordering: "ts", cursor: cursor(180, "after", false) }), 3],
    ["a page before a time", list({ ts_before: ago(180).toISOString() }), 3],
    ["an ascending page from a time on", list({ ts_after: ago(180).toISOString(), order: "asc" }), 3],
    ["the oldest page", list({ order: "asc" }), 4],
    ["the latest", (db) => findLatestLocation(db, owner), 3],
    ["the track of a week", (db) => readTrack(db, owner, { fromMs: ago(187).getTime(), toMs: ago(180).getTime() }), 2],
    ["the latest telemetry", (db) => newestTelemetry(db, owner), 3],
  ])("is for %s a few spans by the key, in order", async (_, read, maxRows) => {
    const { plans, partitions } = await plansOf(read);
    expect(plans).toHaveLength(1);
    expect(partitions).toBeGreaterThan(0);
    expect(partitions, JSON.stringify(plans)).toBeLessThanOrEqual(maxRows);
    expect(names.length).toBe(17);
    const kinds = plans.flatMap(stepsOf).map((step) => step["Node Type"]);
    expect(kinds.filter((kind) => /Seq Scan|Bitmap/.test(kind))).toEqual([]);
  });
});
