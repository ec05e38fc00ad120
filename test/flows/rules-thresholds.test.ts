import { afterAll, beforeAll, expect, test } from "vitest";
import type { Alarm } from "../../src/codecs/tracker-message.ts";
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
import { type Rules, rulesOf } from "../support/live-rules.ts";
import type { Tracker } from "../support/tracker.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
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

async function person() {
  const { uid, id, tracker } = await connectDevice(world, gateway, nextImei());
  const say = async (...messages: Parameters<Tracker["send"]>[1] & object): Promise<void> => {
    const n = ++packets;
    tracker.send(n, messages);
    await tracker.until(`ok ${n}`);
  };
  return {
    id,
    uid,
    tracker,
    say,
    has: (metrics: Record<string, number>) => say(vitals(metrics)),
    messages: async () => (await rules.ruleEvents(id)).map(({ message }) => message),
  };
}

test("a threshold makes one event of a breach and one of its end, with the rule, the bound and the value", async () => {
  const one = await person();
  const thresholdId = await rules.addThreshold({ deviceId: one.id, low: 45, high: 120, severity: 30, clearMargin: 5 });
  await one.say(vitals({ hr: 80, bat: 81 }), gpsFix(clock.nowMs(), 41.9, 12.4));
  const at = clock.now();
  for (const hr of [134, 140, 118, 96]) {
    await one.has({ hr });
    clock.advanceMs(1000);
  }
  const [breach, cleared, ...more] = await rules.ruleEvents(one.id);
  expect(more).toEqual([]);
  expect(breach).toMatchObject({
    event_type: 120,
    severity: 30,
    ts: at,
    message: "hr 134 above 120",
    threshold_id: thresholdId,
    metric_key: "hr",
    value: 134,
    fence_id: null,
    data: { bound: "high", low: 45, high: 120, unit: "bpm" },
    location: { lat: 41.9 },
  });
  expect(cleared).toMatchObject({
    event_type: 130,
    severity: 10,
    message: "hr 96 back in range",
    value: 96,
    data: { breach_event_id: breach?.id },
  });
  await one.has({ hr: 40 });
  expect((await one.messages()).at(-1)).toBe("hr 40 below 45");
});

test("a threshold waits for the duration by a timer, and a value inside ends the wait", async () => {
  const one = await person();
  await rules.addThreshold({ deviceId: one.id, high: 120, minDurationSeconds: 60 });
  await one.has({ hr: 130 });
  clock.advanceMs(30_000);
  await one.has({ hr: 110 });
  clock.advanceMs(60_000);
  await rules.runTimers();
  expect(await one.messages()).toEqual([]);
  await one.has({ hr: 131 });
  const began = clock.nowMs();
  clock.advanceMs(20_000);
  await one.has({ hr: 150 });
  clock.advanceMs(45_000);
  await rules.runTimersAtOnce(3);
  expect(await rules.ruleEvents(one.id)).toMatchObject([
    { message: "hr 150 above 120", ts: new Date(began + 60_000), device_ts: null },
  ]);
});

test("a threshold holds a second breach back for the cooldown, and makes it then if the value is still outside", async () => {
  const one = await person();
  await rules.addThreshold({ deviceId: one.id, high: 120, cooldownSeconds: 300 });
  for (const hr of [130, 100, 140]) {
    await one.has({ hr });
    clock.advanceMs(10_000);
  }
  expect(await one.messages()).toEqual(["hr 130 above 120", "hr 100 back in range"]);
  clock.advanceMs(270_000);
  await rules.runTimers();
  expect((await one.messages()).at(-1)).toBe("hr 140 above 120");
});

test("a threshold takes the most specific rule, of the user before the device's and the organization's", async () => {
  const one = await person();
  const userId = await rules.addUser();
  const own = [
    await rules.addThreshold({ metric: "spo2", low: 92 }),
    await rules.addThreshold({ metric: "spo2", low: 90, deviceId: one.id }),
    await rules.addThreshold({ metric: "spo2", low: 85, userId }),
  ];
  await one.has({ spo2: 91 });
  expect(await one.messages()).toEqual([]);
  await rules.assign(userId, one.id);
  await one.has({ spo2: 89 });
  expect(await one.messages()).toEqual([]);
  await one.has({ spo2: 84 });
  expect(await rules.ruleEvents(one.id)).toMatchObject([{ threshold_id: own[2], value: 84 }]);
  // The open breach ends without a word with its rule.
  await rules.deleteThreshold(own[2] as string);
  clock.advanceMs(1000);
  await one.has({ spo2: 95 });
  expect(await one.messages()).toEqual(["spo2 84 below 85"]);
  await one.has({ spo2: 89 });
  expect((await rules.ruleEvents(one.id)).at(-1)).toMatchObject({ threshold_id: own[1] });
  for (const id of own.slice(0, 2)) await rules.deleteThreshold(id);
});

test("a threshold ends a breach without an event when its rule does not apply for a while, even if no reading arrives in between", async () => {
  const one = await person();
  const userId = await rules.addUser();
  const disable = 30;
  const ruleId = await rules.addThreshold({ metric: "dbp", high: 90 });
  await rules.addThreshold({ metric: "dbp", high: 90, userId, overrideMode: disable });
  for (const interrupt of [
    async () => {
      const ownId = await rules.addThreshold({ metric: "dbp", high: 90, deviceId: one.id, overrideMode: disable });
      await rules.runTimers();
      await rules.deleteThreshold(ownId);
    },
    async () => {
      await rules.assign(userId, one.id);
      await rules.runTimers();
      await rules.unassign(userId, one.id);
    },
    async () => {
      const [otherId, other] = [await rules.addUser(), { metric: "dbp", high: 90, overrideMode: disable }];
      await rules.assign(otherId, one.id);
      const ownId = await rules.addThreshold({ ...other, userId: otherId });
      await rules.runTimers();
      await rules.deleteThreshold(ownId);
    },
  ]) {
    await one.has({ dbp: 95 });
    await interrupt();
    clock.advanceMs(1000);
    await one.has({ dbp: 80 });
  }
  expect(await one.messages()).toEqual(["dbp 95 above 90", "dbp 95 above 90", "dbp 95 above 90"]);
  await rules.deleteThreshold(ruleId);
});

test("a threshold ends a breach when its rule did not apply, however briefly, and no other", async () => {
  const [one, other, third] = [await person(), await person(), await person()];
  const userId = await rules.addUser();
  const ruleId = await rules.addThreshold({ metric: "sbp", high: 150 });
  await rules.addThreshold({ metric: "sbp", high: 150, userId, overrideMode: 30 });
  const ofDevice = { metric: "sbp", deviceId: one.id };
  const briefly: Record<string, () => Promise<void>> = {
    "a Disable": async () =>
      rules.deleteThreshold(await rules.addThreshold({ ...ofDevice, high: 150, overrideMode: 30 })),
    "a Replace of other bounds": async () =>
      rules.deleteThreshold(await rules.addThreshold({ ...ofDevice, high: 170 })),
    "a tighter Merge": async () =>
      rules.deleteThreshold(await rules.addThreshold({ ...ofDevice, high: 140, overrideMode: 20 })),
    "a Replace that was retargeted": async () => {
      const id = await rules.addThreshold({ ...ofDevice, high: 170 });
      await rules.retargetThreshold(id, third.id);
      await rules.deleteThreshold(id);
    },
    "an assignment": async () => {
      await rules.assign(userId, one.id);
      await rules.unassign(userId, one.id);
    },
    "the rule itself, off and on": () => rules.switchThreshold(ruleId),
  };
  const harmless = async (): Promise<void> => {
    await rules.deleteThreshold(await rules.addThreshold({ ...ofDevice, high: 180, overrideMode: 20 }));
    await rules.deleteThreshold(await rules.addThreshold({ ...ofDevice, metric: "temp", high: 38, overrideMode: 30 }));
    const another = await rules.addUser();
    await rules.assign(another, one.id);
    await rules.unassign(another, one.id);
  };
  for (const withTimers of [false, true]) {
    for (const [name, interrupt] of Object.entries(briefly)) {
      const before = [(await one.messages()).length, (await other.messages()).length];
      clock.advanceMs(1000);
      for (const watch of [one, other]) await watch.has({ sbp: 160 });
      await harmless();
      await interrupt();
      if (withTimers) await rules.runTimers();
      await harmless();
      clock.advanceMs(1000);
      for (const watch of [one, other]) await watch.has({ sbp: 120 });
      const after = [(await one.messages()).slice(before[0]), (await other.messages()).slice(before[1])];
      const [began, ended] = ["sbp 160 above 150", "sbp 120 back in range"];
      const isOwn = name.startsWith("the rule itself");
      expect([name, ...after]).toEqual([name, [began], isOwn ? [began] : [began, ended]]);
    }
  }
  await rules.deleteThreshold(ruleId);
});

test("an interruption is found by whoever takes the device over, after the rules were forgotten too", async () => {
  const one = await person();
  const ruleId = await rules.addThreshold({ metric: "sbp", high: 150 });
  await one.has({ sbp: 160 });
  const disableId = await rules.addThreshold({ metric: "sbp", deviceId: one.id, high: 150, overrideMode: 30 });
  await rules.deleteThreshold(disableId);
  const next = await world.open();
  const tracker = await next.tracker(one.uid);
  tracker.send(++packets, [vitals({ sbp: 120 })]);
  await tracker.until(`ok ${packets}`);
  expect(await one.messages()).toEqual(["sbp 160 above 150"]);
  expect(await rules.stateOf(one.id)).toMatchObject({ state: { thresholds: { sbp: { high: null } } } });
  await next.close();
  await rules.deleteThreshold(ruleId);
});

test("a threshold makes nothing of readings that come more than a quarter of an hour late", async () => {
  const one = await person();
  await rules.addThreshold({ deviceId: one.id, high: 120 });
  await one.say(vitals({ hr: 150, bat: 5 }, clock.nowMs() - 16 * 60_000));
  expect(await one.messages()).toEqual([]);
  await one.say(vitals({ hr: 150 }, clock.nowMs() - 14 * 60_000));
  expect(await one.messages()).toEqual(["hr 150 above 120"]);
});

const lowBattery: Alarm = { kind: "alarm", type: "low_battery", code: "06", deviceTimeMs: null };

test("a threshold raises low_battery once, by the level or by the device, until more than 20 percent", async () => {
  const one = await person();
  for (const bat of [60, 16, 15, 14, 18, 20, 12]) {
    await one.has({ bat });
    clock.advanceMs(90_000);
  }
  expect(await rules.ruleEvents(one.id)).toMatchObject([
    { event_type: 30, severity: 20, title: "Low battery", message: "Battery at 15%", data: { battery: 15 } },
  ]);
  await one.say(lowBattery);
  expect(await one.messages()).toHaveLength(1);
  await one.has({ bat: 21 });
  await one.say(vitals({ bat: 9 }), lowBattery);
  expect(await one.messages()).toEqual(["Battery at 15%", "Battery at 9%"]);
  // What is raised stays so on another connection, of another process.
  const other = await world.open();
  const again = await other.tracker(one.uid);
  again.send(1, [vitals({ bat: 8 })]);
  await again.until("ok 1");
  expect(await one.messages()).toHaveLength(2);
  await other.close();
});
