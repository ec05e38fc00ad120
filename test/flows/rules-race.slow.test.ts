import { afterAll, beforeAll, expect, test } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, vitals } from "../support/gateway.ts";
import { northOf, type Rules, rulesOf } from "../support/live-rules.ts";
import type { Tracker } from "../support/tracker.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
const home = { lat: 41.9, lng: 12.5 };
let world: GatewayWorld;
let rules: Rules;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  rules = rulesOf(world);
});
afterAll(() => world.close());

/**
 * In every round a change waits for its minute and a breach for its duration. When the time has come, workers run the timers
 * while packets of the same devices arrive and the fence is renamed: whoever is first, the minute was over before the packet, so
 * that each device must have the same events, each once.
 */
test("packets, timers of several workers and changes of rules at once come to the same events, each once", async () => {
  const gateway = await world.open({ ingest: { inFlight: 2, secondBatchThreshold: 1 } });
  const devices: { id: string; tracker: Tracker }[] = [];
  for (let index = 0; index < 24; index++) {
    const uid = nextImei();
    devices.push({ id: await world.addDevice(uid), tracker: await gateway.tracker(uid) });
  }
  const fenceId = await rules.addFence({ devices: devices.map(({ id }) => id), dwellSeconds: 30 });
  await rules.addThreshold({ high: 120, minDurationSeconds: 60 });
  let n = 0;
  const all = async (metres: number, hr: number, meanwhile: () => Promise<unknown> = async () => undefined) => {
    n++;
    const fix = gpsFix(clock.nowMs(), northOf(home.lat, metres), home.lng);
    for (const { tracker } of devices) tracker.send(n, [fix, vitals({ hr })]);
    await meanwhile();
    for (const { tracker } of devices) await tracker.until(`ok ${n}`);
  };
  await all(0, 80);
  clock.advanceMs(31_000);
  await rules.runTimers();
  const rounds = 4;
  for (let round = 1; round <= rounds; round++) {
    clock.advanceMs(10_000);
    await all(190, 130);
    clock.advanceMs(60_000);
    await all(0, 80, () =>
      Promise.all([rules.runTimersAtOnce(3), rules.changeFence(fenceId, { name: `Home ${round}` }), rules.runTimers()]),
    );
    clock.advanceMs(31_000);
    await Promise.all([rules.runTimersAtOnce(3), all(1, 81)]);
  }
  await rules.runTimers();
  const expected = [
    "100",
    ...Array.from({ length: rounds }, () => ["100", "120", "130", "80", "90"]).flat(),
  ].toSorted();
  for (const { id } of devices) {
    const events = await rules.ruleEvents(id);
    expect(events.map(({ event_type }) => String(event_type)).toSorted()).toEqual(expected);
  }
  expect(gateway.metric("vigil_rules_rereads_total")).toBeGreaterThan(0);
  await gateway.close();
});
