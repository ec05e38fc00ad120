import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { formatUuid } from "../lib/ids.ts";
import { makeLogger } from "../lib/logger.ts";
import { allScopes } from "../oauth/scopes.ts";
import { laneIdAt } from "./lane-ids.ts";
import { insertNumbered, maxRowsPerStatement } from "./numbered-rows.ts";
import type { Lane } from "./outbound-lanes.ts";
import { OutboundWriter } from "./outbound-log.ts";

const organizationId = "7b1e1f0c-3a53-4f5b-9f39-4a1f7e0f2c55";
const nowMs = Date.UTC(2026, 2, 2, 11);
const laneNamed = (name: number): Lane => ({
  integrationId: formatUuid(Buffer.alloc(16, name)),
  organizationId,
  scopes: allScopes,
  webhookEventTypes: [],
  messagingEnabled: true,
  isPushed: false,
});
// The first one is not the one that is locked first.
const lanes = [laneNamed(2), laneNamed(1)];
const rowsOf = (lane: Lane, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    lane,
    fact: { organizationId, type: "alarm.sos" as const, deviceUid: "490154203237518", occurredAtMs: nowMs, json: "{}" },
    rest: `","n":${n}}`,
  }));

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await db.run`delete from outbound_events`;
  await db.run`delete from outbound_lanes`;
  for (const { integrationId } of lanes)
    await db.run`insert into outbound_lanes (integration_id, organization_id) values (${integrationId}, ${organizationId})`;
});

const append = (counts: readonly number[], atMs = nowMs) =>
  db.run(
    insertNumbered(
      lanes.flatMap((lane, index) => rowsOf(lane, counts[index] as number)),
      atMs,
      null,
    ),
  );
const positionOf = ({ integrationId }: Lane) =>
  db.one<{ lane: number; lastMs: number; lastSeq: number }>`
    select lane, last_ms as "lastMs", last_seq as "lastSeq" from outbound_lanes where integration_id = ${integrationId}`;
const rowsIn = ({ integrationId }: Lane) =>
  db.many<{ id: string; body: string }>`
    select id, body from outbound_events where integration_id = ${integrationId} order by id`;
const setPosition = ({ integrationId }: Lane, lastMs: number, lastSeq: number) =>
  db.run`update outbound_lanes set last_ms = ${lastMs}, last_seq = ${lastSeq} where integration_id = ${integrationId}`;

/** The rows of a lane and its position, as they should be after these ones. */
async function expectPositions(lane: Lane, positions: readonly (readonly [ms: number, seq: number, n: number])[]) {
  const { lane: number, ...last } = await positionOf(lane);
  expect(await rowsIn(lane)).toEqual(
    positions.map(([lastMs, lastSeq, n]) => {
      const id = laneIdAt({ lane: number, lastMs, lastSeq });
      return { id, body: `{"id":"${id}","n":${n}}` };
    }),
  );
  const [lastMs, lastSeq] = positions.at(-1) as readonly [number, number, number];
  expect(last).toEqual({ lastMs, lastSeq });
}

it("numbers the rows of each lane in their order, and says in each body which id it has", async () => {
  await append([3, 1]);
  await expectPositions(
    lanes[0] as Lane,
    [1, 2, 3].map((seq) => [nowMs, seq, seq - 1] as const),
  );
  await expectPositions(lanes[1] as Lane, [[nowMs, 1, 0]]);
});

it("goes on above the last id while the clock stands or was set back", async () => {
  const [lane] = lanes as [Lane];
  await append([2, 1]);
  await append([1, 1]);
  await append([1, 1], nowMs - 3_600_000);
  await append([1, 1], nowMs + 1);
  await expectPositions(lane, [
    [nowMs, 1, 0],
    [nowMs, 2, 1],
    [nowMs, 65_537, 0],
    [nowMs, 2 * 65_536 + 1, 0],
    [nowMs + 1, 1, 0],
  ]);
});

it("goes on above ids that were given one by one, over the bits of the version, up to the end of the counter", async () => {
  const [lane] = lanes as [Lane];
  await setPosition(lane, nowMs, 2 ** 22 - 3);
  await append([1, 1]);
  await setPosition(lane, nowMs, 2 ** 34 - 65_537);
  await append([1, 1]);
  await append([2, 1]);
  await expectPositions(lane, [
    [nowMs, 2 ** 22 + 1, 0],
    [nowMs, 2 ** 34 - 65_535, 0],
    [nowMs + 1, 1, 0],
    [nowMs + 1, 2, 1],
  ]);
});

it("writes as many rows as a block has room for in one statement, and more in the next", async () => {
  const [lane] = lanes as [Lane];
  const writer = new OutboundWriter([lane]);
  writer.rows.push(...rowsOf(lane, maxRowsPerStatement + 1));
  const parts = [...writer.parts()];
  expect(parts.map(({ length }) => length)).toEqual([maxRowsPerStatement, 1]);
  for (const part of parts) await db.run(insertNumbered(part, nowMs, null));
  const rows = await rowsIn(lane);
  expect(rows.map(({ body }) => JSON.parse(body).n)).toEqual([...Array(maxRowsPerStatement + 1).keys()]);
  expect(rows.every(({ id, body }) => JSON.parse(body).id === id)).toBe(true);
});

it("orders the rows of several statements by their lanes, which are locked in that order", () => {
  const [second, first] = lanes as [Lane, Lane];
  const writer = new OutboundWriter(lanes);
  const half = rowsOf(second, maxRowsPerStatement / 2);
  writer.rows.push(...half, ...rowsOf(first, 1), ...half, ...rowsOf(first, maxRowsPerStatement / 2));
  const parts = [...writer.parts()];
  expect(parts.map((rows) => new Set(rows.map(({ lane }) => lane)))).toEqual([
    new Set([first, second]),
    new Set([second]),
  ]);
  const inOrder = parts.flat().filter(({ lane }) => lane === second);
  expect(inOrder.map(({ rest }) => rest)).toEqual([...half, ...half].map(({ rest }) => rest));
});

it("leaves out the rows of a lane that is gone, and writes the others", async () => {
  await db.run`delete from outbound_lanes where integration_id = ${lanes[0]?.integrationId}`;
  await append([2, 2]);
  expect(await rowsIn(lanes[0] as Lane)).toEqual([]);
  expect(await rowsIn(lanes[1] as Lane)).toHaveLength(2);
});

it("notes the epoch that the lane has once it is locked, and the trace of each row", async () => {
  const [lane] = lanes as [Lane];
  await db.run`update outbound_lanes set push_epoch = 4 where integration_id = ${lane.integrationId}`;
  const rows = rowsOf(lane, 2);
  let given = 0;
  await db.run(insertNumbered(rows, nowMs, () => (given++ === 0 ? "00-1-2-01" : null)));
  expect(await db.many`select push_epoch, trace from outbound_events order by id`).toEqual([
    { push_epoch: 4, trace: "00-1-2-01" },
    { push_epoch: 4, trace: null },
  ]);
});
