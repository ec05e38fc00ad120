import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import {
  connectDevice,
  type GatewayWorld,
  gpsFix,
  openGatewayWorld,
  type TestGateway,
  vitals,
} from "../support/gateway.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
const nextImei = imeis();
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open({ ingest: { carrierName: (mcc, mnc) => `${mcc}-${mnc}` } });
});
afterEach(() => clock.set(new Date("2026-03-01T08:15:30.000Z")));
afterAll(() => world.close());

const device = () => connectDevice(world, gateway, nextImei());

const locations = (id: string) =>
  world.db.many`select * from locations where device_id = ${id} order by ts, received_at`;
const telemetry = (id: string) => world.db.many`select * from telemetry where device_id = ${id} order by ts`;
const events = (id: string) =>
  world.db.many`select * from events where device_id = ${id} and event_type not in (60, 70) order by ts, id`;
const state = (id: string) => world.db.one`select * from device_state where device_id = ${id}`;

test("the ingest stores a fix, its readings and the device's state, then answers", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs() - 6000;
  const fix = { ...gpsFix(at, 41.9, 12.49, { speedKmh: 3.2, satellites: 9 }), network: { mcc: 222, mnc: 1 } };
  tracker.send(1, [fix, vitals({ bat: 81, hr: 72, spo2: null, temp: 99 }, at, { mood: "fine" })]);
  await tracker.until("ok 1");
  const [location] = await locations(id);
  expect(location).toMatchObject({
    ts: new Date(at),
    device_ts: new Date(at),
    received_at: clock.now(),
    lat: 41.9,
    lng: 12.49,
    source: "gps",
    is_valid: true,
    invalid_reason: null,
    is_moving: true,
    satellites: 9,
    mcc: 222,
    mnc: 1,
    carrier: "222-1",
    organization_id: world.organizationId,
  });
  const [row] = await telemetry(id);
  expect(row).toMatchObject({ ts: clock.now(), device_ts: new Date(at) });
  expect(row?.data).toEqual({ bat: 81, hr: 72, spo2: null, temp: 99, mood: "fine", satellites: 9 });
  const ts = clock.now().toISOString();
  expect(await state(id)).toMatchObject({
    is_online: true,
    last_seen_at: clock.now(),
    status_changed_at: clock.now(),
    last_status: { bat: { value: 81, ts }, hr: { value: 72, ts }, satellites: { value: 9, ts } },
    last_location: { lat: 41.9, lng: 12.49, accuracy_m: 10, source: "gps", ts: new Date(at).toISOString() },
  });
});

test("the ingest keeps last values that a later packet does not mention, and the newest place by its own time", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs();
  tracker.send(1, [vitals({ hr: 70, bat: 50 }), gpsFix(at - 1000, 41.9, 12.4)]);
  await tracker.until("ok 1");
  clock.advanceMs(1000);
  tracker.send(2, [vitals({ hr: 75 }), gpsFix(at - 600_000, 41.8, 12.3)]);
  await tracker.until("ok 2");
  const { last_status, last_location, status_changed_at } = await state(id);
  expect(last_status).toMatchObject({ hr: { value: 75 }, bat: { value: 50 } });
  expect(last_location).toMatchObject({ lat: 41.9 });
  expect(status_changed_at).toEqual(new Date(at));
});

test("the ingest keeps last values over connections, and those of a report that comes again", async () => {
  const { id, uid, tracker } = await device();
  const at = clock.nowMs();
  tracker.send(1, [vitals({ hr: 70, bat: 50 }, at - 2000)]);
  await tracker.until("ok 1");
  const next = await gateway.tracker(uid);
  next.send(2, [vitals({ hr: 75 }, at - 1000)]);
  next.send(1, [vitals({ hr: 70, bat: 50 }, at - 2000)]);
  await next.until("ok 1");
  const { last_status, battery_band, newest_report_at } = await state(id);
  expect(last_status).toMatchObject({ hr: { value: 75 }, bat: { value: 50 } });
  expect([battery_band, newest_report_at]).toEqual([3, new Date(at - 1000)]);
  expect(await telemetry(id)).toHaveLength(2);
});

test("the ingest stores nothing twice when it takes a known report for a new one", async () => {
  const { id, uid, tracker } = await device();
  const other = await device();
  const packets = [1, 2, 3].map((n) => [vitals({ hr: 70 + n }, clock.nowMs() - 9000 + n * 1000)]);
  for (const [index, packet] of packets.entries()) tracker.send(index, packet);
  await tracker.until("ok 2");
  await world.db
    .run`update device_state set newest_report_at = ${new Date(clock.nowMs() - 90_000)} where device_id = ${id}`;
  const again = await gateway.tracker(uid);
  const lock = await world.db.connect();
  await lock.query("begin; lock table ingest_batches in access exclusive mode");
  for (const [index, packet] of packets.entries()) again.send(index, packet);
  other.tracker.send(7, packets[0] ?? []);
  await vi.waitUntil(async () => gateway.metric("vigil_ingest_queue_packets") >= 4, { timeout: 10_000, interval: 20 });
  await lock.query("commit");
  await lock.end();
  await again.until("ok 2");
  await other.tracker.until("ok 7");
  expect(await telemetry(id)).toHaveLength(3);
  expect(await telemetry(other.id)).toHaveLength(1);
  expect((await state(id)).newest_report_at).toEqual(new Date(clock.nowMs() - 6000));
});

const keysOf = (id: string) => world.db.many`select frame_key from ingest_frames where device_id = ${id}`;

test("the ingest knows a position again by its id, without a row for its key", async () => {
  const { id, uid, tracker } = await device();
  const packets = [1, 2, 3].map((n) => [gpsFix(clock.nowMs() - 9000 + n * 1000, 41.9, 12.4), vitals({ hr: 70 + n })]);
  for (const [index, packet] of packets.entries()) tracker.send(index, packet);
  await tracker.until("ok 2");
  // Of the first one nothing was known.
  expect(await keysOf(id)).toHaveLength(1);
  const again = await gateway.tracker(uid);
  for (const [index, packet] of packets.entries()) again.send(index, packet);
  await again.until("ok 2");
  expect(await locations(id)).toHaveLength(3);
  expect(await telemetry(id)).toHaveLength(3);
});

test("the ingest stores another position of the same time, and an alarm's key", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs();
  tracker.send(1, [gpsFix(at - 3000, 41.9, 12.4)]);
  tracker.send(2, [gpsFix(at - 2000, 41.9, 12.4)]);
  tracker.send(3, [gpsFix(at - 2000, 41.9001, 12.4)]);
  tracker.send(4, [gpsFix(at - 1000, 41.9, 12.4), { kind: "alarm", type: "sos", code: "01", deviceTimeMs: at - 1000 }]);
  await tracker.until("ok 4");
  expect(await locations(id)).toHaveLength(4);
  expect(await keysOf(id)).toHaveLength(3);
});

test("the ingest looks for a report that somebody else may have stored meanwhile", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs();
  tracker.send(1, [gpsFix(at - 9000, 41.9, 12.4)]);
  await tracker.until("ok 1");
  await world.db.run`update device_state set newest_report_at = ${new Date(at - 1000)} where device_id = ${id}`;
  tracker.send(2, [gpsFix(at - 5000, 41.9, 12.4)]);
  await tracker.until("ok 2");
  expect(await locations(id)).toHaveLength(2);
  expect(await keysOf(id)).toHaveLength(2);
  expect((await state(id)).newest_report_at).toEqual(new Date(at - 1000));
});

test("the ingest answers a packet that is sent again, and stores it once", async () => {
  const { id, tracker } = await device();
  const packet = [gpsFix(clock.nowMs() - 1000, 41.9, 12.4), vitals({ hr: 70 })];
  tracker.send(1, packet);
  tracker.send(1, packet);
  await vi.waitUntil(() => tracker.lines.filter((line) => line === "ok 1").length === 2, {
    timeout: 10_000,
    interval: 20,
  });
  clock.advanceMs(5000);
  tracker.send(1, packet);
  await vi.waitUntil(() => tracker.lines.filter((line) => line === "ok 1").length === 3, {
    timeout: 10_000,
    interval: 20,
  });
  expect(await locations(id)).toHaveLength(1);
  expect(await telemetry(id)).toHaveLength(1);
  expect((await state(id)).last_seen_at).toEqual(clock.now());
  expect(gateway.metric("vigil_ingest_duplicates_total")).toBeGreaterThanOrEqual(2);
});

test("never merges packets without a device time", async () => {
  const { id, tracker } = await device();
  for (const n of [1, 1]) tracker.send(n, [vitals({ hr: 70 })]);
  await vi.waitUntil(() => tracker.lines.filter((line) => line === "ok 1").length === 2, {
    timeout: 10_000,
    interval: 20,
  });
  expect(await telemetry(id)).toHaveLength(2);
});

test("packets of one millisecond stand in the order in which they came", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs() - 1000;
  const count = 20;
  for (let n = 1; n <= count; n++) tracker.send(n, [vitals({ steps: n }), gpsFix(at, 41.9 + n / 10_000, 12.4)]);
  await tracker.until(`ok ${count}`);
  const inOrder = Array.from({ length: count }, (_, index) => index + 1);
  const rows = await world.db.many<{ steps: number }>`
    select (data->>'steps')::int as steps from telemetry where device_id = ${id} order by ts, id`;
  expect(rows.map(({ steps }) => steps)).toEqual(inOrder);
  const fixes = await world.db.many<{ lat: number }>`select lat from locations where device_id = ${id} order by ts, id`;
  expect(fixes.map(({ lat }) => Math.round((lat - 41.9) * 10_000))).toEqual(inOrder);
});

test("the ingest takes the reception for the time of a fix whose clock is wrong", async () => {
  const { id, tracker } = await device();
  const now = clock.nowMs();
  const times = [now + 121_000, now - 31 * 86_400_000, Date.UTC(1970, 0, 1), Date.UTC(2099, 0, 1)];
  tracker.send(
    1,
    times.map((time) => gpsFix(time, 41.9, 12.4)),
  );
  tracker.send(2, [gpsFix(now + 119_000, 41.9, 12.4), gpsFix(now - 29 * 86_400_000, 41.9, 12.4)]);
  await tracker.until("ok 2");
  const rows = await locations(id);
  const used = rows.map(({ ts, device_ts }) => [ts.getTime(), device_ts.getTime()]);
  for (const time of times) expect(used).toContainEqual([now, time]);
  for (const time of [now + 119_000, now - 29 * 86_400_000]) expect(used).toContainEqual([time, time]);
});

test("the ingest stores implausible fixes as invalid and leaves them out of the state", async () => {
  const { id, tracker } = await device();
  const at = clock.nowMs() - 1000;
  tracker.send(1, [gpsFix(at, 0, 0), gpsFix(at, 95, 12), gpsFix(at, 41, 12, { accuracyM: 10_001 })]);
  await tracker.until("ok 1");
  const rows = await locations(id);
  expect(rows.map(({ is_valid }) => is_valid)).toEqual([false, false, false]);
  expect(rows.map(({ invalid_reason }) => invalid_reason).sort()).toEqual([
    "low_accuracy",
    "out_of_range",
    "zero_coordinates",
  ]);
  expect((await state(id)).last_location).toBeNull();
});

test.each(["in one packet", "in packets of their own", "over two connections"])(
  "the ingest marks a single outlier when the next fix arrives, %s",
  async (how) => {
    const { id, uid, tracker } = await device();
    const at = clock.nowMs() - 600_000;
    const fixes = [gpsFix(at, 41.9, 12.4), gpsFix(at + 60_000, 45.9, 12.4), gpsFix(at + 120_000, 41.91, 12.4)];
    if (how === "in one packet") {
      tracker.send(3, fixes);
      await tracker.until("ok 3");
    } else {
      for (const [index, fix] of fixes.slice(0, 2).entries()) {
        tracker.send(index, [fix]);
        await tracker.until(`ok ${index}`);
      }
      expect((await locations(id)).map(({ is_valid }) => is_valid)).toEqual([true, true]);
      const last = how === "over two connections" ? await gateway.tracker(uid) : tracker;
      last.send(9, fixes.slice(2));
      await last.until("ok 9");
    }
    const rows = await locations(id);
    expect(rows.map(({ invalid_reason }) => invalid_reason)).toEqual([null, "implausible_jump", null]);
    expect((await state(id)).last_location).toMatchObject({ lat: 41.91 });
  },
);

test("the ingest makes no row of a report without coordinates, and asks for a lookup when a service is configured", async () => {
  const { id, tracker } = await device();
  const cell = { mcc: 222, mnc: 1, lac: 10, cid: 20, signalDbm: -70 };
  const report: TrackerMessage = { ...gpsFix(null, 0, 0), gps: null, cells: [cell] };
  tracker.send(1, [report]);
  await tracker.until("ok 1");
  expect(await locations(id)).toHaveLength(0);
  const locating = await world.open({ ingest: { isLocating: true, isGeocoding: true } });
  const uid = nextImei();
  const other = await world.addDevice(uid);
  const asking = await locating.tracker(uid);
  asking.send(1, [report]);
  asking.send(2, [gpsFix(null, 41.9, 12.4), gpsFix(null, 0, 0)]);
  await asking.until("ok 2");
  const jobs = await world.db.many`select kind, payload from place_jobs where device_id = ${other} order by kind`;
  expect(jobs.map(({ kind }) => kind)).toEqual(["address", "locate"]);
  expect(jobs[1]?.payload).toMatchObject({ cells: [{ cid: 20, signal_dbm: -70 }], mcc: 222, mnc: 1 });
});

test("the ingest makes an event of an alarm, with place and battery, and one of its repetitions", async () => {
  const { id, tracker, uid } = await device();
  const at = clock.nowMs();
  const alarm = (deviceTimeMs: number | null): TrackerMessage => ({
    kind: "alarm",
    type: "sos",
    code: "01",
    deviceTimeMs,
  });
  tracker.send(1, [vitals({ bat: 81 }), gpsFix(at - 5000, 41.9, 12.4)]);
  tracker.send(2, [alarm(at)]);
  tracker.send(3, [alarm(null)]);
  await tracker.until("ok 3");
  clock.advanceMs(59_000);
  const again = await gateway.tracker(uid);
  again.send(4, [alarm(null)]);
  await again.until("ok 4");
  expect(await events(id)).toMatchObject([
    {
      event_type: 10,
      severity: 30,
      ts: new Date(at),
      device_ts: new Date(at),
      title: "SOS pressed",
      message: "SOS pressed",
      data: { code: "01", battery: 81 },
      location: { lat: 41.9, lng: 12.4, accuracy_m: 10, source: "gps" },
      created_at: new Date(at),
    },
  ]);
  again.send(5, [alarm(at - 3_600_000)]);
  await again.until("ok 5");
  clock.advanceMs(2000);
  again.send(6, [alarm(null)]);
  await again.until("ok 6");
  expect(await events(id)).toHaveLength(3);
});

test("the ingest is offline at once after a power-off notice, and online with the next packet", async () => {
  const { id, tracker } = await device();
  const off: TrackerMessage = { kind: "alarm", type: "power_off", code: "19", deviceTimeMs: null };
  clock.advanceMs(1000);
  tracker.send(1, [off]);
  await tracker.until("ok 1");
  expect(await state(id)).toMatchObject({ is_online: false, status_changed_at: clock.now() });
  clock.advanceMs(7000);
  tracker.send(2);
  await tracker.until("ok 2");
  expect(await state(id)).toMatchObject({ is_online: true, status_changed_at: clock.now() });
});

test("the ingest sets a packet aside that cannot be stored, answers it, and stores the others of its batch", async () => {
  const { id, tracker } = await device();
  const others = await Promise.all([device(), device(), device()]);
  const held = await device();
  const lock = await world.db.connect();
  await lock.query("begin; lock table locations in access exclusive mode");
  held.tracker.send(1, [gpsFix(null, 41.9, 12.4)]);
  await vi.waitUntil(async () => gateway.metric("vigil_ingest_queue_packets") > 0, { timeout: 10_000, interval: 20 });
  // Waits behind the held batch, so that all of these are one.
  tracker.send(1, [vitals({ hr: 60 })]);
  tracker.send(2, [vitals({ hr: 61 }, null, { note: "a\u0000b" })]);
  tracker.send(3, [vitals({ hr: 62 })]);
  for (const other of others) other.tracker.send(1, [vitals({ hr: 70 })]);
  await vi.waitUntil(async () => gateway.metric("vigil_ingest_queue_packets") >= 7, { timeout: 10_000, interval: 20 });
  await lock.query("commit");
  await lock.end();
  for (const line of ["ok 1", "ok 2", "ok 3"]) await tracker.until(line);
  for (const other of others) await other.tracker.until("ok 1");
  expect((await telemetry(id)).map(({ data }) => data.hr)).toEqual([60, 62]);
  const [poisoned] = await world.db.many`select * from poisoned_packets where device_id = ${id}`;
  expect(poisoned).toMatchObject({ protocol: "iw", reason: "22P05" });
  expect(poisoned?.frame.toString()).toContain('"n":2');
  for (const other of others) expect(await telemetry(other.id)).toHaveLength(1);
});

test("the ingest keeps the order of a device's packets with two transactions in flight", async () => {
  const two = await world.open({ ingest: { inFlight: 2, secondBatchThreshold: 1 } });
  const fleet = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const uid = nextImei();
      return { id: await world.addDevice(uid), tracker: await two.tracker(uid) };
    }),
  );
  const count = 60;
  for (let n = 1; n <= count; n++) for (const { tracker } of fleet) tracker.send(n, [vitals({ steps: n })]);
  for (const { id, tracker } of fleet) {
    await tracker.until(`ok ${count}`);
    const answers = tracker.lines.filter((line) => line.startsWith("ok"));
    expect(answers).toEqual(Array.from({ length: count }, (_, index) => `ok ${index + 1}`));
    expect((await state(id)).last_status).toMatchObject({ steps: { value: count } });
    expect(await telemetry(id)).toHaveLength(count);
  }
});
