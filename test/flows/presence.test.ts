import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import { sweepSilentDevices } from "../../src/ingest/presence.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
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
  gateway = await world.open();
});
afterAll(() => world.close());

const device = () => connectDevice(world, gateway, nextImei());

const presence = (id: string) =>
  world.db.many`select event_type, severity, ts, title, message, data, location from events
    where device_id = ${id} and event_type in (60, 70) order by ts, id`;
const state = (id: string) => world.db.one`select * from device_state where device_id = ${id}`;
const off: TrackerMessage = { kind: "alarm", type: "power_off", code: "19", deviceTimeMs: null };

test("presence makes one event when a device comes online, and none with its next packets or connections", async () => {
  const { id, uid, tracker } = await device();
  const at = clock.now();
  clock.advanceMs(1000);
  for (const n of [1, 2, 3]) tracker.send(n);
  await tracker.until("ok 3");
  const again = await gateway.tracker(uid);
  again.send(4);
  await again.until("ok 4");
  expect(await presence(id)).toEqual([
    {
      event_type: 60,
      severity: 10,
      ts: at,
      title: "Online",
      message: "Watch is online",
      data: { reason: "connected" },
      location: null,
    },
  ]);
});

test("presence names the closed socket when the process that held it has died, before its lease is over", async () => {
  const dying = await world.open();
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const tracker = await dying.tracker(uid);
  tracker.send(1);
  await tracker.until("ok 1");
  // What a killed process leaves: the session is open, and nobody holds its lock.
  const deadId = newUuid();
  await world.db.run`
    insert into gateway_nodes (id, started_at, lease_until)
    values (${deadId}, ${clock.now()}, ${new Date(clock.nowMs() + 900_000)})`;
  await world.db.run`update device_sessions set node_id = ${deadId} where device_id = ${id}`;
  clock.advanceMs(601_000);
  await sweepSilentDevices(world.db, clock, 600);
  expect((await presence(id)).at(-1)).toMatchObject({ event_type: 70, data: { reason: "socket_closed" } });
  await dying.close();
});

test.each([
  ["silence", false],
  ["socket_closed", true],
])("presence makes one event when a device has been silent for too long: %s", async (reason, isClosed) => {
  const { id, tracker } = await device();
  const seen = clock.now();
  tracker.send(1, [gpsFix(clock.nowMs(), 41.9, 12.4)]);
  await tracker.until("ok 1");
  if (isClosed) {
    await tracker.close();
    await vi.waitUntil(
      async () =>
        (await world.db.one`select disconnected_at from device_sessions where device_id = ${id}`).disconnected_at,
      { timeout: 5000 },
    );
  }
  await world.db.run`update devices set name = 'Watch 12' where id = ${id}`;
  clock.advanceMs(601_000);
  await Promise.all([1, 2, 3].map(() => sweepSilentDevices(world.db, clock, 600)));
  await sweepSilentDevices(world.db, clock, 600);
  expect((await presence(id)).slice(1)).toEqual([
    {
      event_type: 70,
      severity: 10,
      ts: clock.now(),
      title: "Offline",
      message: "Watch 12 is offline",
      data: { reason },
      location: expect.objectContaining({ lat: 41.9 }),
    },
  ]);
  expect(await state(id)).toMatchObject({ is_online: false, status_changed_at: clock.now(), last_seen_at: seen });
});

test("presence is online again with the first packet after a silence, also on a connection that stayed open", async () => {
  const { id, tracker } = await device();
  clock.advanceMs(700_000);
  await sweepSilentDevices(world.db, clock, 600);
  clock.advanceMs(60_000);
  tracker.send(1, [vitals({ hr: 70 })]);
  await tracker.until("ok 1");
  expect((await presence(id)).map(({ event_type }) => event_type)).toEqual([60, 70, 60]);
  expect(await state(id)).toMatchObject({ is_online: true, status_changed_at: clock.now() });
});

test("presence is offline with a power-off notice, and each change of one batch is an event of its own", async () => {
  const { id, tracker } = await device();
  clock.advanceMs(5000);
  const held = await device();
  const lock = await world.db.connect();
  await lock.query("begin; lock table locations in access exclusive mode");
  held.tracker.send(1, [gpsFix(null, 41.9, 12.4)]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_queue_packets") > 0, { timeout: 10_000, interval: 20 });
  // All of these wait behind the held batch, and are one.
  tracker.send(1);
  tracker.send(2, [off]);
  tracker.send(3);
  tracker.send(4, [off]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_queue_packets") >= 5, { timeout: 10_000, interval: 20 });
  await lock.query("commit");
  await lock.end();
  await tracker.until("ok 4");
  const events = await presence(id);
  expect(events.map(({ event_type, data }) => `${event_type} ${data.reason}`)).toEqual([
    "60 connected",
    "70 power_off",
    "60 connected",
    "70 power_off",
  ]);
  // Each is later than the one before, also within a millisecond.
  expect(await state(id)).toMatchObject({ is_online: false, status_changed_at: events.at(-1)?.ts });
});
