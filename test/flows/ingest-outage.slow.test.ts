import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { maintainPartitions, type PartitionedTable, spansAround } from "../../src/db/partitions.ts";
import { rawSql } from "../../src/db/sql.ts";
import { sweepSilentDevices } from "../../src/ingest/presence.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";

const nextImei = imeis();
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
const telemetryTable = partitionedTables.find(({ table }) => table === "telemetry") as PartitionedTable;
let world: GatewayWorld;
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  proxy = await openDatabaseProxy(world.url);
  gateway = await world.open({ url: proxy.url, limits: { queuedFrames: 40, waitingFrames: 10 } });
});
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await world.close();
});

const readings = (id: string) =>
  world.db.many<{ hr: number }>`
    select (data->>'hr')::int as hr from telemetry where device_id = ${id} and data ? 'hr' order by hr`;

test.each(["without", "with"])(
  "the ingest stores a packet %s a device time once when the answer of its commit is lost",
  async (has) => {
    const uid = nextImei();
    const id = await world.addDevice(uid);
    const tracker = await gateway.tracker(uid);
    const before = proxy.lostCommits();
    proxy.loseNextCommit();
    const timeMs = has === "with" ? clock.nowMs() : null;
    tracker.send(1, [vitals({ hr: 70 }, timeMs), { kind: "alarm", type: "sos", code: "1", deviceTimeMs: timeMs }]);
    await tracker.until("ok 1");
    expect(proxy.lostCommits()).toBe(before + 1);
    expect(await readings(id)).toEqual([{ hr: 70 }]);
    // What the device's memory holds is that of the attempt that was stored.
    tracker.send(2, [{ kind: "alarm", type: "sos", code: "1", deviceTimeMs: null }]);
    await tracker.until("ok 2");
    expect(await world.db.many`select id from events where device_id = ${id} and event_type = 10`).toHaveLength(1);
  },
);

test("the ingest acknowledges nothing while the database is away, holds a bounded number of packets, and goes on by itself", async () => {
  const fleet = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const uid = nextImei();
      return { id: await world.addDevice(uid), tracker: await gateway.tracker(uid) };
    }),
  );
  proxy.cut();
  for (let n = 1; n <= 50; n++) for (const { tracker } of fleet) tracker.send(n, [vitals({ hr: n })]);
  await vi.waitUntil(() => gateway.metric("vigil_gateway_paused") === 1, { timeout: 10_000, interval: 20 });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(fleet.flatMap(({ tracker }) => tracker.lines.filter((line) => line.startsWith("ok")))).toEqual([]);
  expect(gateway.metric("vigil_ingest_queue_packets")).toBeLessThan(40 + 50);
  proxy.mend();
  for (const { id, tracker } of fleet) {
    await tracker.until("ok 50");
    expect(await readings(id)).toEqual(Array.from({ length: 50 }, (_, index) => ({ hr: index + 1 })));
  }
  expect(gateway.metric("vigil_ingest_retries_total")).toBeGreaterThan(0);
});

test("the ingest does not blame packets for a missing partition: devices wait until there is one", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const tracker = await gateway.tracker(uid);
  const span = spansAround(telemetryTable, clock.nowMs()).find(({ toMs }) => toMs > clock.nowMs());
  await world.db.run(rawSql(`drop table ${span?.name}`));
  tracker.send(1, [vitals({ hr: 70 })]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(tracker.lines).not.toContain("ok 1");
  await maintainPartitions(world.db, partitionedTables, clock.nowMs());
  await tracker.until("ok 1");
  expect(await readings(id)).toEqual([{ hr: 70 }]);
  expect(await world.db.many`select id from poisoned_packets where device_id = ${id}`).toEqual([]);
});

test("a silent device is offline after its time, a closed socket alone changes nothing", async () => {
  const [quick, slow] = [nextImei(), nextImei()];
  const ids = [await world.addDevice(quick), await world.addDevice(slow)];
  for (const uid of [quick, slow]) {
    const tracker = await gateway.tracker(uid);
    tracker.send(1, [gpsFix(null, 41.9, 12.4)]);
    await tracker.until("ok 1");
    await tracker.close();
  }
  await world.db.run`update device_state set report_interval_seconds = 600 where device_id = ${ids[1]}`;
  const online = async (): Promise<boolean[]> =>
    Promise.all(
      ids.map(async (id) => (await world.db.one`select is_online from device_state where device_id = ${id}`).is_online),
    );
  clock.advanceMs(600_000);
  await sweepSilentDevices(world.db, clock, 600);
  expect(await online()).toEqual([true, true]);
  clock.advanceMs(1000);
  await sweepSilentDevices(world.db, clock, 600);
  expect(await online()).toEqual([false, true]);
  const [state] = await world.db.many`select status_changed_at from device_state where device_id = ${ids[0]}`;
  expect(state?.status_changed_at).toEqual(clock.now());
  clock.advanceMs(1_200_000);
  await sweepSilentDevices(world.db, clock, 600);
  expect(await online()).toEqual([false, false]);
  await gateway.tracker(quick);
  await vi.waitFor(async () => expect(await online()).toEqual([true, false]), { timeout: 10_000, interval: 20 });
});
