import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Db } from "../../src/db/database.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { parseListQuery } from "../../src/http/lists.ts";
import { attemptList, listAttempts } from "../../src/outbound/attempt-list.ts";
import { deadLetterList, listDeadLetters } from "../../src/outbound/dead-letter-list.ts";
import { redriveDeadLetters, redriveInPieces } from "../../src/outbound/dead-letter-store.ts";
import { readHealth } from "../../src/outbound/delivery-health.ts";
import { describeEvent, findEvent } from "../../src/outbound/event-detail.ts";
import { listLogEntries, logEntryList, maxScannedRows } from "../../src/outbound/event-list.ts";
import { findIntegration, type Integration } from "../../src/resources/organizations/integration-store.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { fillLog } from "../support/large-log.ts";
import { explaining, type PlanNode, rowsRead } from "../support/query-plans.ts";
import { testSecrets } from "../support/secrets.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

const size = 12_000;
/** A page and what is looked up for its rows, in every partition; far less than the log has. */
const few = size / 4;

describe("deliveries of a large log", () => {
  let api: TestApi;
  let integration: Integration;
  let eventId: string;

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    const now = api.clock.now();
    const tables = partitionedTables.map((one) => (one.by === "uuid7" ? { ...one, pastSpans: 21 } : one));
    await maintainPartitions(api.db, tables, now.getTime());
    const organization = await makeOrganization(api);
    const { id } = await makeIntegration(api, organization);
    integration = (await findIntegration(api.db, organization.id, id)) as Integration;
    const client = new Client({ connectionString: api.url });
    await client.connect();
    await fillLog(client, { organizationId: organization.id, integrationId: id }, size, now);
    await client.query("vacuum analyze");
    await client.end();
    const row = await api.db.one<{ id: string }>`
      select id from dead_letters where integration_id = ${id} order by id desc limit 1`;
    eventId = row.id;
  });
  afterAll(() => api.close());

  async function plansOf(read: (db: Db) => Promise<unknown>): Promise<PlanNode[]> {
    const plans: PlanNode[] = [];
    await read(explaining(api.db, (plan) => plans.push(plan)));
    expect(plans.length).toBeGreaterThan(0);
    return plans;
  }

  const attempts = (query: Record<string, string>) => (db: Db) =>
    listAttempts(db, integration.organizationId, integration.id, parseListQuery(attemptList, query));
  const events = (query: Record<string, string>) => (db: Db) =>
    listLogEntries(db, integration, parseListQuery(logEntryList, query));
  const reads: Record<string, (db: Db) => Promise<unknown>> = {
    attempts: attempts({}),
    "attempts that failed": attempts({ status: "failed" }),
    "attempts of a device": attempts({ device_uid: "000000000000007" }),
    "attempts of an event": (db) => attempts({ event_id: eventId })(db),
    "dead letters": (db) =>
      listDeadLetters(db, integration.organizationId, integration.id, parseListQuery(deadLetterList, {})),
    "events of the log": events({}),
    "events of a type": events({ type: "location.update" }),
    "one event": async (db) => {
      const event = await findEvent(db, integration, eventId);
      if (!event) throw new Error("no event");
      return describeEvent(db, integration, event, { now: api.clock.now(), secrets: testSecrets });
    },
  };

  it.each(Object.entries(reads))("read %s from an index", async (_, read) => {
    for (const plan of await plansOf(read)) expect(rowsRead(plan), JSON.stringify(plan, null, 1)).toBeLessThan(few);
  });

  it("read health from few rows, with counts that end", async () => {
    const read = (db: Db) => readHealth(db, integration.organizationId, [integration.id], api.clock.now());
    for (const plan of await plansOf(read)) expect(rowsRead(plan), JSON.stringify(plan, null, 1)).toBeLessThan(few);
    const [health] = await read(api.db);
    expect(health).toMatchObject({ waiting: 0, dead_letters: size / 100 });
    expect(health?.success_share).toBeCloseTo(0.9, 1);
  });

  it("are redriven in pieces, each dead letter once", async () => {
    const { organizationId, id } = integration;
    const now = api.clock.now();
    const counts: number[] = [];
    const redrive = (): Promise<number> =>
      redriveInPieces(
        (work) => api.db.transaction(work),
        async (tx, after) => {
          const options = { ids: undefined, after, now, limit: 50 };
          const piece = await redriveDeadLetters(tx, organizationId, id, options);
          counts.push(piece.count);
          return piece;
        },
      );
    expect(await redrive()).toBe(0);
    await api.db.run`update outbound_lanes set push_epoch = 1 where integration_id = ${id}`;
    expect(await redrive()).toBe(size / 100);
    expect(counts).toEqual([0, 50, 50, 20]);
    const due = await api.db.one<{ count: number }>`
      select count(*) from deliveries where organization_id = ${organizationId} and integration_id = ${id}`;
    expect(due.count).toBe(size / 100);
    expect(await redrive()).toBe(0);
  });

  it("search the log for a device in pieces, and go on where a piece ended", async () => {
    const query = { device_uid: "000000000000001", page_size: "20" };
    const first = await events(query)(api.db);
    expect(first.rows.length).toBe(Math.floor(maxScannedRows / 997));
    const rest = await events({ ...query, ...first.next })(api.db);
    expect(rest.rows.length).toBeGreaterThan(0);
    expect(rest.next).toBeNull();
  });
});
