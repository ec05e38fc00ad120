import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";
import { northOf, type Rules, rulesOf } from "../support/live-rules.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
const home = { lat: 41.9, lng: 12.5 };
let world: GatewayWorld;
let gateway: TestGateway;
let rules: Rules;
let packets = 0;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open();
  rules = rulesOf(world);
});
afterAll(() => world.close());

async function walker() {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const tracker = await gateway.tracker(uid);
  return {
    id,
    is: async (metres: number, hr: number): Promise<void> => {
      const n = ++packets;
      clock.advanceMs(60_000);
      tracker.send(n, [gpsFix(clock.nowMs(), northOf(home.lat, metres), home.lng), vitals({ hr })]);
      await tracker.until(`ok ${n}`);
    },
    messages: async () => (await rules.ruleEvents(id)).map(({ message }) => message),
  };
}

/** Twice: what was used since the last call stays once. */
const forgetAll = (): void => {
  gateway.rules.forgetUnused();
  gateway.rules.forgetUnused();
};

test("rules that nobody uses leave the memory, and are the current ones when a packet needs them again", async () => {
  const one = await walker();
  const fenceId = await rules.addFence({ devices: [one.id] });
  const thresholdId = await rules.addThreshold({ deviceId: one.id, high: 120 });
  await one.is(0, 130);
  expect(gateway.metric("vigil_rules_loaded")).toBe(2);
  gateway.rules.forgetUnused();
  expect(gateway.metric("vigil_rules_loaded")).toBe(2);
  // Not while a notification has it read ahead.
  const isForgotten = (): boolean => {
    gateway.rules.forgetUnused();
    return gateway.metric("vigil_rules_loaded") === 0;
  };
  await vi.waitUntil(isForgotten, { timeout: 10_000, interval: 20 });
  await rules.changeFence(fenceId, { name: "Old home" });
  const second = await rules.addThreshold({ deviceId: one.id, metric: "bat", low: 20 });
  // A change alone brings nothing back.
  expect(gateway.metric("vigil_rules_loaded")).toBe(0);
  await one.is(3000, 80);
  expect(gateway.metric("vigil_rules_loaded")).toBe(3);
  const messages = await one.messages();
  expect(messages.toSorted()).toEqual(["Watch left Old home", "hr 130 above 120", "hr 80 back in range"]);
  for (const id of [thresholdId, second]) await rules.deleteThreshold(id);
});

test("no evaluation is missed while rules are forgotten and changed between packets", async () => {
  const walkers = await Promise.all(Array.from({ length: 6 }, walker));
  const fenceId = await rules.addFence({ devices: walkers.map(({ id }) => id), name: "Yard" });
  await rules.addThreshold({ high: 120 });
  const all = (metres: number, hr: number) =>
    Promise.all([
      ...walkers.map(async (one) => {
        const saying = one.is(metres, hr);
        forgetAll();
        await saying;
      }),
      rules.changeFence(fenceId, { dwellSeconds: 86_000 + packets }),
    ]);
  await all(0, 80);
  const rounds = 5;
  for (let round = 0; round < rounds; round++) {
    await all(3000, 130);
    await all(0, 80);
  }
  const expected = Array.from({ length: rounds }, () => ["90", "120", "80", "130"]).flat();
  for (const { id } of walkers) {
    const types = (await rules.ruleEvents(id)).map(({ event_type }) => String(event_type));
    expect(types.toSorted()).toEqual(expected.toSorted());
  }
});
