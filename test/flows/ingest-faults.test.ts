import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import type { BatchStep } from "../../src/ingest/batch-step.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { connectDevice, type GatewayWorld, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";

const nextImei = imeis();
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
/** The program fails at packets for which this is true. */
let failsAt: (messages: readonly TrackerMessage[]) => boolean;
const faultyStep: BatchStep = async (_client, packets) => {
  if (packets.some(({ messages }) => failsAt(messages))) throw new TypeError("Cannot read properties of undefined");
};
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open({ ingest: { steps: [faultyStep] } });
});
afterAll(() => world.close());
beforeEach(() => {
  failsAt = () => false;
});

const hasUnlucky = (messages: readonly TrackerMessage[]): boolean =>
  messages.some((message) => message.kind === "vitals" && message.metrics.hr === 13);
const sos: TrackerMessage = { kind: "alarm", type: "sos", code: "1", deviceTimeMs: null };
const readings = (id: string) =>
  world.db.many<{ hr: number }>`
    select (data->>'hr')::int as hr from telemetry where device_id = ${id} and data ? 'hr' order by hr`;
const poisoned = (id: string) => world.db.many`select reason, has_event from poisoned_packets where device_id = ${id}`;
const alarms = (id: string) => world.db.many`select id from events where device_id = ${id} and event_type = 10`;

test("the ingest lets packets wait while the program fails at all of them, and stores them when it does not any more", async () => {
  const devices = await Promise.all([1, 2].map(() => connectDevice(world, gateway, nextImei())));
  failsAt = (messages) => messages.some(({ kind }) => kind !== "login");
  for (const { tracker } of devices) tracker.send(1, [vitals({ hr: 60 }), sos]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_faults_total") >= 2, { timeout: 10_000 });
  for (const { tracker } of devices) expect(tracker.lines).not.toContain("ok 1");
  failsAt = () => false;
  for (const { tracker, id } of devices) {
    await tracker.until("ok 1");
    expect(await poisoned(id)).toEqual([]);
    expect(await readings(id)).toEqual([{ hr: 60 }]);
    expect(await alarms(id)).toHaveLength(1);
  }
});

test("the ingest sets a packet aside that fails alone while others are stored, and still makes the event of its alarm", async () => {
  const [bad, good] = await Promise.all([1, 2].map(() => connectDevice(world, gateway, nextImei())));
  if (!bad || !good) throw new Error("no devices");
  failsAt = hasUnlucky;
  bad.tracker.send(1, [vitals({ hr: 13 }), sos]);
  good.tracker.send(1, [vitals({ hr: 60 })]);
  await good.tracker.until("ok 1");
  // One packet may have come alone: the next one of anybody shows that it is to blame.
  await vi.waitUntil(
    async () => {
      good.tracker.send(2, [vitals({ hr: 61 })]);
      return bad.tracker.lines.includes("ok 1");
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(await poisoned(bad.id)).toEqual([{ reason: "TypeError", has_event: true }]);
  expect(await alarms(bad.id)).toHaveLength(1);
  expect(await readings(bad.id)).toEqual([]);
  // The same alarm again within a minute is the same event.
  bad.tracker.send(2, [vitals({ hr: 13 }), sos]);
  await vi.waitUntil(
    async () => {
      good.tracker.send(3, [vitals({ hr: 62 })]);
      return bad.tracker.lines.includes("ok 2");
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(await alarms(bad.id)).toHaveLength(1);
});

test("the ingest stores what a device sends after the packet that was set aside, and the others at once", async () => {
  const [bad, good] = await Promise.all([1, 2].map(() => connectDevice(world, gateway, nextImei())));
  if (!bad || !good) throw new Error("no devices");
  failsAt = hasUnlucky;
  for (let n = 1; n <= 60; n++) {
    bad.tracker.send(n, [vitals({ hr: n % 2 === 0 ? 13 : 60 + n })]);
    good.tracker.send(n, [vitals({ hr: 60 + n })]);
  }
  await good.tracker.until("ok 60");
  await vi.waitUntil(
    async () => {
      good.tracker.send(61);
      return [59, 60].every((n) => bad.tracker.lines.includes(`ok ${n}`));
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(await readings(bad.id)).toHaveLength(30);
  expect(await poisoned(bad.id)).toHaveLength(30);
  expect(await readings(good.id)).toHaveLength(60);
});
