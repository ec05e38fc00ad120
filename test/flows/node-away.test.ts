import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isNodeFailure, type NodeWaits, NodeWatch } from "../../src/db/node-watch.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { noMemory, toStored } from "../../src/ingest/rules/rule-memory.ts";
import { runRuleTimers } from "../../src/ingest/rules/rule-timers.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";
import type { Tracker } from "../support/tracker.ts";

interface Watch {
  uid: string;
  id: string;
  tracker: Tracker;
}

const fleetSize = 12;
const nodeWaits: NodeWaits = { answerMs: 300, statementMs: 1500, lookEveryMs: 200 };
const sos = (deviceTimeMs: number) => ({ kind: "alarm", type: "sos", code: "1", deviceTimeMs }) as const;

/** A proxy stands between the nodes and one of them, in the database of this test alone. */
describe.skipIf(!process.env.VIGIL_TEST_CITUS_URL)("while a node of a distributed database is away", () => {
  const nextUid = imeis();
  let world: GatewayWorld;
  let proxy: DatabaseProxy;
  let gateway: TestGateway;
  let away: Watch[];
  let others: Watch[];

  beforeAll(async () => {
    world = await openGatewayWorld();
    const node = await world.db.one<{ id: number; port: number }>`
      select nodeid as id, nodeport as port from pg_dist_node where groupid > 0 order by nodeid limit 1`;
    const address = new URL(world.url);
    address.port = String(node.port);
    proxy = await openDatabaseProxy(address.href);
    const proxyPort = Number(new URL(proxy.url).port);
    await world.db.run`select citus_update_node(${node.id}, '127.0.0.1', ${proxyPort})`;
    gateway = await world.open({ nodeWaits });
    const fleet = await Promise.all(
      Array.from({ length: fleetSize }, async () => {
        const uid = nextUid();
        return { uid, id: await world.addDevice(uid), tracker: await gateway.tracker(uid) };
      }),
    );
    const rows = await world.db.many<{ id: string }>`
      select d.id from devices d
      join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('locations', d.id)
      join pg_dist_node n on n.groupid = p.groupid where n.nodeport = ${proxyPort}`;
    const onNode = new Set(rows.map(({ id }) => id));
    away = fleet.filter(({ id }) => onNode.has(id));
    others = fleet.filter(({ id }) => !onNode.has(id));
    expect(Math.min(away.length, others.length)).toBeGreaterThan(0);
  });
  afterAll(async () => {
    proxy?.mend();
    await gateway?.close();
    await world?.close();
    await proxy?.close();
  });

  let n = 0;
  const timeOf = (number: number): number => Date.UTC(2026, 0, 1) + number * 1000;
  const numbersOf = async ({ id }: Watch): Promise<number[]> => {
    const rows = await world.db.many<{ hr: number }>`
      select (data->>'hr')::int as hr from telemetry where device_id = ${id} and data ? 'hr' order by id`;
    return rows.map(({ hr }) => hr);
  };
  /** A reading with the number that every device sends next. */
  function sendAll(messages: (number: number) => Parameters<Tracker["send"]>[1] = () => []): number {
    n++;
    for (const { tracker } of [...away, ...others]) {
      tracker.send(n, [vitals({ hr: 60 + n }, timeOf(n)), ...(messages(n) ?? [])]);
    }
    return n;
  }
  const answeredTo = async (watches: readonly Watch[], number: number): Promise<void> => {
    await Promise.all(watches.map(({ tracker }) => tracker.until(`ok ${number}`)));
  };
  const anyAnswer = (number: number): boolean => away.some(({ tracker }) => tracker.lines.includes(`ok ${number}`));
  const sentSoFar = (): number[] => Array.from({ length: n }, (_, index) => 61 + index);

  test.each(["cut", "stall"] as const)(
    "only its devices wait, and they are stored once and in order when it is back (%s)",
    async (fault) => {
      await answeredTo([...away, ...others], sendAll());
      proxy[fault]();
      const first = sendAll();
      await answeredTo(others, first);
      // Known by now: nobody waits for a node before the others are stored.
      for (let round = 0; round < 20; round++) {
        await answeredTo(
          others,
          sendAll((number) => [sos(timeOf(number))]),
        );
      }
      expect(anyAnswer(first)).toBe(false);
      expect(gateway.metric("vigil_ingest_apart_packets")).toBe(21 * away.length);
      expect(gateway.metric("vigil_database_nodes_away")).toBe(1);
      proxy.mend();
      await answeredTo(away, n);
      expect(gateway.metric("vigil_ingest_apart_packets")).toBe(0);
      for (const watch of [...away, ...others]) expect(await numbersOf(watch)).toEqual(sentSoFar());
    },
    60_000,
  );

  test("a device of it is not let in, others are", async () => {
    const [refused, taken] = [away.at(-1), others.at(-1)] as [Watch, Watch];
    proxy.cut();
    await answeredTo(others, sendAll());
    const stranger = await gateway.tracker();
    stranger.write(`${JSON.stringify({ login: refused.uid })}\n`);
    await stranger.untilClosed();
    taken.tracker = await gateway.tracker(taken.uid);
    proxy.mend();
    // The connection that it had before holds on.
    await answeredTo(away, n);
  });

  test("timers of rules run for the others", async () => {
    const nodes = new NodeWatch({ db: world.db, log: makeLogger("silent"), metrics: new Metrics(), waits: nodeWaits });
    const { rules } = gateway;
    const due = [...away, ...others].map(({ id }) => id);
    await world.db.run`
      insert into rule_states (device_id, organization_id, state, due_at)
      select id, ${world.organizationId}, ${JSON.stringify(toStored(noMemory))}::jsonb, now() - interval '1 second'
      from unnest(${due}::uuid[]) id
      on conflict (device_id) do update set due_at = excluded.due_at`;
    proxy.cut();
    const lost = await world.db.many`select ts from locations where device_id = any(${due}::uuid[])`.catch(
      (error) => error,
    );
    await nodes.noteFailure(lost);
    expect(await runRuleTimers({ db: world.db, nodes, clock: world.clock, rules })).toBe(others.length);
    proxy.mend();
    await nodes.noteFailure(lost);
    expect(await runRuleTimers({ db: world.db, nodes, clock: world.clock, rules })).toBe(away.length);
    nodes.close();
  });

  test("partitions of tables that are on the coordinator are made all the same", async () => {
    const laterMs = world.clock.nowMs() + 100 * 86_400_000;
    const isMade = async (): Promise<boolean> => {
      const day = new Date(laterMs).toISOString().slice(0, 10).replaceAll("-", "");
      const { found } = await world.db.one<{ found: boolean }>`
        select to_regclass(${`outbound_events_p${day}`}) is not null as found`;
      return found;
    };
    proxy.cut();
    const failure = await maintainPartitions(world.db, partitionedTables, laterMs).catch((error: unknown) => error);
    expect([isNodeFailure(failure), await isMade()]).toEqual([true, true]);
    proxy.mend();
    // Until the coordinator has told the node what it has missed, it takes no new tables.
    const retried = { timeout: 40_000, interval: 500 };
    const { created } = await vi.waitFor(() => maintainPartitions(world.db, partitionedTables, laterMs), retried);
    expect(created.length).toBeGreaterThan(0);
  });

  test("a gateway that closes waits for none of them, and what was not answered is stored once when it is sent again", async () => {
    proxy.cut();
    const last = sendAll();
    await answeredTo(others, last);
    await vi.waitUntil(() => gateway.metric("vigil_ingest_apart_packets") === away.length, { timeout: 10_000 });
    await gateway.close();
    for (const { tracker } of away) await tracker.untilClosed();
    expect(anyAnswer(last)).toBe(false);
    proxy.mend();
    gateway = await world.open({ nodeWaits });
    for (const watch of away) {
      watch.tracker = await gateway.tracker(watch.uid);
      watch.tracker.send(last, [vitals({ hr: 60 + last }, timeOf(last))]);
      await watch.tracker.until(`ok ${last}`);
      expect(await numbersOf(watch)).toEqual(sentSoFar());
    }
  });
});
