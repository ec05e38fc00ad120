import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepSilentDevices } from "../../src/ingest/presence.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { connectDevice, type GatewayWorld, gpsFix, openGatewayWorld, vitals } from "../support/gateway.ts";
import { northOf, rulesOf } from "../support/live-rules.ts";
import { addIntegration } from "../support/outbound.ts";
import { until } from "../support/until.ts";

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

const waitingForLocks = () =>
  world.db.many`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test("a position found by networks and the events of its fences take the logs of partners in one step", async () => {
  const gateway = await world.open();
  const rules = rulesOf(world);
  const { id, uid, tracker } = await connectDevice(world, gateway, nextImei());
  await rules.addFence({ devices: [id], radiusM: 500 });
  tracker.send(1, [gpsFix(clock.nowMs(), 41.9, 12.5)]);
  await tracker.until("ok 1");
  const [fences, places] = [await addIntegration(world), await addIntegration(world)].toSorted() as [string, string];
  await world.db.run`update integrations set scopes = '{events:read,geofences:read}' where id = ${fences}`;
  await world.db.run`update integrations set scopes = '{locations:read}' where id = ${places}`;
  const locate = () => {
    clock.advanceMs(59_000);
    return rules.locate(id, northOf(41.9, 2000), 12.5, 80);
  };
  await locate();
  const batch = await world.db.connect();
  try {
    await batch.query("begin");
    await batch.query("select from outbound_lanes where integration_id = $1 for update", [fences]);
    const located = locate();
    await until(async () => expect(await waitingForLocks()).not.toEqual([]));
    // A batch with rows for both has the lower one, and takes the other one next.
    await batch.query("select from outbound_lanes where integration_id = $1 for update nowait", [places]);
    await batch.query("commit");
    await located;
  } finally {
    await batch.end();
  }
  const types = await world.db.many<{ integration_id: string; type: string }>`
    select integration_id, type from outbound_events
    where device_uid = ${uid} and integration_id = any(${[fences, places]}::uuid[]) order by integration_id, id`;
  expect(types.map(({ integration_id: integration, type }) => [integration, type])).toEqual([
    [fences, "geofence.exit"],
    [places, "location.update"],
    [places, "location.update"],
  ]);
});
