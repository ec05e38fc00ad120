import { afterAll, beforeAll, expect, test } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { connectDevice, type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { northOf, type Rules, rulesOf } from "../support/live-rules.ts";
import type { Tracker } from "../support/tracker.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
const home = { lat: 41.9, lng: 12.5 };
let world: GatewayWorld;
let gateway: TestGateway;
let rules: Rules;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open();
  rules = rulesOf(world);
});
afterAll(() => world.close());

interface Person {
  id: string;
  uid: string;
  tracker: Tracker;
  /** A fix so many metres north of home, now; waits for the answer. */
  at(metres: number, more?: object): Promise<void>;
  events(): Promise<string[]>;
}

let packets = 0;

async function person(): Promise<Person> {
  const device = await connectDevice(world, gateway, nextImei());
  const one: Person = {
    ...device,
    at: async (metres, more = {}) => {
      const n = ++packets;
      one.tracker.send(n, [gpsFix(clock.nowMs(), northOf(home.lat, metres), home.lng, more)]);
      await one.tracker.until(`ok ${n}`);
    },
    events: async () => (await rules.ruleEvents(device.id)).map(({ title }) => title),
  };
  return one;
}

test("a geofence reports nothing for the first fix, then leaving and coming back, with place and distance", async () => {
  const one = await person();
  const fenceId = await rules.addFence({ devices: [one.id] });
  await one.at(10);
  expect(await one.events()).toEqual([]);
  clock.advanceMs(300_000);
  await world.db.run`update devices set name = 'Watch 12' where id = ${one.id}`;
  const leftAt = clock.now();
  await one.at(400);
  clock.advanceMs(300_000);
  await one.at(20);
  const [left, came] = await rules.ruleEvents(one.id);
  expect(left).toMatchObject({
    event_type: 90,
    severity: 20,
    ts: leftAt,
    device_ts: leftAt,
    title: "Left Home",
    message: "Watch 12 left Home",
    fence_id: fenceId,
    fence_name: "Home",
    threshold_id: null,
    data: { distance_m: 400 },
    location: { lng: 12.5, accuracy_m: 10, source: "gps", ts: leftAt.toISOString() },
  });
  expect(came).toMatchObject({ event_type: 80, severity: 10, title: "Entered Home", message: "Watch 12 entered Home" });
});

test("a geofence waits for a second fix near the boundary, and dates the event by the first", async () => {
  const one = await person();
  await rules.addFence({ devices: [one.id] });
  await one.at(0);
  clock.advanceMs(10_000);
  const first = clock.now();
  await one.at(190);
  expect(await one.events()).toEqual([]);
  clock.advanceMs(10_000);
  await one.at(195);
  expect(await rules.ruleEvents(one.id)).toMatchObject([{ title: "Left Home", ts: first, device_ts: first }]);
});

test("a geofence confirms a change by a minute without a contradiction, on any worker, once", async () => {
  const one = await person();
  await rules.addFence({ devices: [one.id] });
  await one.at(0);
  clock.advanceMs(10_000);
  const first = clock.now();
  await one.at(190);
  clock.advanceMs(59_000);
  await rules.runTimers();
  expect(await one.events()).toEqual([]);
  clock.advanceMs(1000);
  await rules.runTimersAtOnce(4);
  expect(await rules.ruleEvents(one.id)).toMatchObject([
    { title: "Left Home", ts: first, device_ts: first, created_at: clock.now() },
  ]);
  // The process that holds the connection has learned of it: this fix is a change again.
  clock.advanceMs(1000);
  await one.at(0);
  expect(await one.events()).toEqual(["Left Home", "Entered Home"]);
  expect(gateway.metric("vigil_rules_rereads_total")).toBeGreaterThan(0);
});

test("a geofence forgets a change that the next fix contradicts", async () => {
  const one = await person();
  await rules.addFence({ devices: [one.id] });
  for (const metres of [0, 190, 0]) {
    await one.at(metres);
    clock.advanceMs(10_000);
  }
  clock.advanceMs(120_000);
  await rules.runTimers();
  expect(await one.events()).toEqual([]);
  expect(await rules.stateOf(one.id)).toMatchObject({ due_at: null });
});

test("a geofence reports a stay by its timer, connected or not, once per stay", async () => {
  const one = await person();
  const fenceId = await rules.addFence({ devices: [one.id], dwellSeconds: 600 });
  await one.at(400);
  clock.advanceMs(60_000);
  await one.at(0);
  const entered = clock.nowMs();
  await one.tracker.close();
  clock.advanceMs(599_000);
  await rules.runTimers();
  expect(await one.events()).toEqual(["Entered Home"]);
  clock.advanceMs(31_000);
  await rules.runTimersAtOnce(3);
  const [, stayed] = await rules.ruleEvents(one.id);
  expect(stayed).toMatchObject({
    event_type: 100,
    severity: 10,
    ts: new Date(entered + 600_000),
    device_ts: null,
    title: "Stayed in Home",
    fence_id: fenceId,
    data: { distance_m: 0, dwell_seconds: 600 },
  });
  one.tracker = await gateway.tracker(one.uid);
  clock.advanceMs(10_000);
  await one.at(5);
  clock.advanceMs(3_600_000);
  await rules.runTimers();
  expect(await one.events()).toEqual(["Entered Home", "Stayed in Home"]);
});

test("a geofence follows a fence that changes, is switched off and on, or unlinked, while the device is connected", async () => {
  const one = await person();
  const fenceId = await rules.addFence({ devices: [one.id], name: "Garden" });
  await one.at(0);
  clock.advanceMs(60_000);
  await rules.changeFence(fenceId, { radiusM: 20 });
  await one.at(100);
  expect(await one.events()).toEqual([]);
  clock.advanceMs(60_000);
  await rules.changeFence(fenceId, { name: "Lawn" });
  await one.at(0, { accuracyM: 1 });
  clock.advanceMs(60_000);
  await one.at(5, { accuracyM: 1 });
  expect(await one.events()).toEqual(["Entered Lawn"]);
  await rules.changeFence(fenceId, { isActive: false });
  clock.advanceMs(60_000);
  await one.at(2000);
  await rules.changeFence(fenceId, { isActive: true });
  clock.advanceMs(60_000);
  await one.at(0);
  expect(await one.events()).toEqual(["Entered Lawn"]);
  await rules.unlink(fenceId, one.id);
  clock.advanceMs(600_000);
  await one.at(2000);
  expect(await one.events()).toEqual(["Entered Lawn"]);
});

test("a user's fence follows the assignment", async () => {
  const one = await person();
  const userId = await rules.addUser();
  await rules.addFence({ scope: "user", userId });
  await one.at(0);
  clock.advanceMs(60_000);
  await one.at(400);
  expect(await one.events()).toEqual([]);
  await rules.assign(userId, one.id);
  clock.advanceMs(60_000);
  await one.at(0);
  expect(await one.events()).toEqual([]);
  clock.advanceMs(60_000);
  await one.at(400);
  expect(await one.events()).toEqual(["Left Home"]);
  await rules.unassign(userId, one.id);
  clock.advanceMs(60_000);
  await one.at(0);
  expect(await one.events()).toEqual(["Left Home"]);
});

test("a fence of the organization holds for every device, from the first fix after it was made", async () => {
  const [near, far] = [await person(), await person()];
  await near.at(0);
  await far.at(3000);
  const fenceId = await rules.addFence({ scope: "org", name: "Ward" });
  clock.advanceMs(60_000);
  await near.at(0);
  await far.at(3000);
  clock.advanceMs(600_000);
  await near.at(3000);
  await far.at(0);
  expect(await near.events()).toEqual(["Left Ward"]);
  expect(await far.events()).toEqual(["Entered Ward"]);
  // Also when another process goes on, and by a device that has left no state.
  const other = await world.open();
  near.tracker = await other.tracker(near.uid);
  clock.advanceMs(600_000);
  await near.at(0);
  expect(await near.events()).toEqual(["Left Ward", "Entered Ward"]);
  await other.close();
  await rules.changeFence(fenceId, { isActive: false });
});

test("a stay that nobody asked for becomes due when the fence is set to watch it, the device being silent", async () => {
  const one = await person();
  const fenceId = await rules.addFence({ devices: [one.id] });
  await one.at(0);
  clock.advanceMs(3_600_000);
  await rules.runTimers();
  expect(await one.events()).toEqual([]);
  await rules.changeFence(fenceId, { dwellSeconds: 600 });
  await rules.runTimers();
  expect(await rules.ruleEvents(one.id)).toMatchObject([{ title: "Stayed in Home", ts: clock.now() }]);
});

test("a geofence keeps to the windows of a schedule: the state changes, without an event", async () => {
  const one = await person();
  const schedule = {
    timezone: "Europe/Rome",
    windows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: "22:00", end: "06:00" }],
  };
  await rules.addFence({ devices: [one.id], schedule });
  clock.set(new Date("2026-03-03T10:00:00.000Z"));
  await one.at(0);
  clock.advanceMs(60_000);
  await one.at(400);
  expect(await one.events()).toEqual([]);
  clock.set(new Date("2026-03-03T22:30:00.000Z"));
  await one.at(400);
  expect(await one.events()).toEqual([]);
  clock.advanceMs(60_000);
  await one.at(0);
  expect(await one.events()).toEqual(["Entered Home"]);
});

test("a geofence makes nothing of late and of older fixes, and reports the change with the next fresh one", async () => {
  const one = await person();
  await rules.addFence({ devices: [one.id] });
  await one.at(0);
  clock.advanceMs(3_600_000);
  const late = (n: number, ageMs: number, metres: number) =>
    one.tracker.send(n, [gpsFix(clock.nowMs() - ageMs, northOf(home.lat, metres), home.lng)]);
  late(90_001, 15 * 60_000 + 1000, 400);
  await one.tracker.until("ok 90001");
  expect(await one.events()).toEqual([]);
  await one.at(400);
  expect(await one.events()).toEqual(["Left Home"]);
  clock.advanceMs(10_000);
  late(90_002, 20_000, 0);
  await one.tracker.until("ok 90002");
  expect(await one.events()).toEqual(["Left Home"]);
});

test("a geofence takes positions found by networks for fixes, which need a second one or a minute", async () => {
  const one = await person();
  await rules.addFence({ devices: [one.id], radiusM: 500 });
  await one.at(0);
  for (const metres of [2000, 2010]) {
    clock.advanceMs(60_000 - 1);
    await rules.locate(one.id, northOf(home.lat, metres), home.lng, 80);
  }
  expect(await rules.ruleEvents(one.id)).toMatchObject([
    { title: "Left Home", location: { source: "wifi", accuracy_m: 80 } },
  ]);
  clock.advanceMs(120_000);
  await rules.locate(one.id, northOf(home.lat, 0), home.lng, 600);
  expect(await one.events()).toEqual(["Left Home"]);
  clock.advanceMs(120_000);
  await one.at(0);
  expect(await one.events()).toEqual(["Left Home", "Entered Home"]);
});
