import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepSilentDevices } from "../../src/ingest/presence.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, vitals } from "../support/gateway.ts";
import { northOf, rulesOf } from "../support/live-rules.ts";
import { addIntegration } from "../support/outbound.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
let world: GatewayWorld;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
});
afterAll(() => world.close());

test("partners receive presence, fences, stays, breaches and the battery, each once, from packets and timers alike", async () => {
  const gateway = await world.open();
  const rules = rulesOf(world);
  const uid = nextImei();
  const id = await world.addDevice(uid);
  await addIntegration(world, {
    webhookEventTypes: [
      ...(["device.online", "device.offline", "geofence.enter", "geofence.exit", "geofence.dwell"] as const),
      ...(["alarm.threshold", "alarm.threshold_cleared", "alarm.low_battery"] as const),
    ],
  });
  const fenceId = await rules.addFence({ devices: [id], dwellSeconds: 60 });
  const thresholdId = await rules.addThreshold({ deviceId: id, high: 120, minDurationSeconds: 30 });
  const tracker = await gateway.tracker(uid);
  const started = clock.now().toISOString();
  let n = 0;
  const say = async (metres: number, metrics: Record<string, number>): Promise<void> => {
    n++;
    tracker.send(n, [gpsFix(clock.nowMs(), northOf(41.9, metres), 12.5), vitals(metrics)]);
    await tracker.until(`ok ${n}`);
    clock.advanceMs(10_000);
  };
  await say(1000, { hr: 80, bat: 50 });
  clock.advanceMs(60_000);
  await say(0, { hr: 140, bat: 12 });
  const entered = new Date(clock.nowMs() - 10_000);
  clock.advanceMs(60_000);
  await rules.runTimers();
  await say(1000, { hr: 90 });
  clock.advanceMs(700_000);
  await sweepSilentDevices(world.db, clock, 600);
  const rows = await world.db.many<{ type: string; body: string }>`
    select type, body from outbound_events where device_uid = ${uid}
      and type not in ('location.update', 'health.snapshot') order by id`;
  const envelopes = rows.map(({ body }) => JSON.parse(body));
  const geofence = { id: fenceId, name: "Home", fence_type: "circle", scope: "device" };
  const threshold = { id: thresholdId, scope: "Device", low: null, high: 120 };
  const breach = envelopes.find(({ type }) => type === "alarm.threshold");
  expect(envelopes.map(({ type, data }) => ({ type, data }))).toMatchObject([
    {
      type: "device.online",
      data: { is_online: true, reason: "connected", last_seen_at: started, previous_change_at: null },
    },
    { type: "alarm.low_battery", data: { message: "Battery at 12%", battery: 12 } },
    {
      type: "geofence.enter",
      data: { geofence, distance_m: 0, location: { source: "gps", ts: entered.toISOString() } },
    },
    { type: "geofence.dwell", data: { geofence, dwell_seconds: 60, severity: "info" } },
    {
      type: "alarm.threshold",
      data: { message: "hr 140 above 120", value: 140, unit: "bpm", bound: "high", threshold, battery: 12 },
    },
    { type: "geofence.exit", data: { geofence, distance_m: 1000, severity: "warning" } },
    {
      type: "alarm.threshold_cleared",
      data: { message: "hr 90 back in range", breach_event_id: breach.data.event_id },
    },
    { type: "device.offline", data: { is_online: false, reason: "silence", previous_change_at: started } },
  ]);
  const events = await world.db.many`select id from events where device_id = ${id}`;
  expect(events.map((event) => event.id).toSorted()).toEqual(envelopes.map(({ data }) => data.event_id).toSorted());
});
