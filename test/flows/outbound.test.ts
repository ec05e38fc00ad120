import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { maintainPartitions, type PartitionedTable, pruneDefaults } from "../../src/db/partitions.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid, uuidV7Floor } from "../../src/lib/ids.ts";
import { outboundChannel } from "../../src/outbox/lane-wakes.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import { publishLocated } from "../../src/places/located-update.ts";
import { insertLocated, type LocatedPosition } from "../../src/places/place-store.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { imeis } from "../support/devices.ts";
import {
  connectDevice,
  type GatewayWorld,
  gpsFix,
  openGatewayWorld,
  type TestGateway,
  vitals,
} from "../support/gateway.ts";
import { addIntegration } from "../support/outbound.ts";

const start = new Date("2026-03-01T08:15:30.000Z");
const clock = makeManualClock(start);
const nextImei = imeis();
const outboundTable = partitionedTables.filter(({ table }) => table === "outbound_events") as [PartitionedTable];
let world: GatewayWorld;
let proxy: DatabaseProxy;
let gateway: TestGateway;
let integrationId: string;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  proxy = await openDatabaseProxy(world.url);
  gateway = await world.open({ url: proxy.url, ingest: { carrierName: () => 'T"IM' } });
});
beforeEach(async () => {
  integrationId = await addIntegration(world);
});
afterEach(async () => {
  clock.set(start);
  await world.db.run`update integrations set status = 'deleted'`;
});
afterAll(async () => {
  await gateway.close();
  await proxy.close();
  await world.close();
});

const device = () => connectDevice(world, gateway, nextImei());

interface OutboundRow {
  id: string;
  type: string;
  push_epoch: number | null;
  body: string;
}

/** What the integration is told of a device, in order. That it came online is another matter. */
async function outboundRows(
  uid: string,
  integration = integrationId,
): Promise<(OutboundRow & { envelope: Record<string, unknown> })[]> {
  const rows = await world.db.many<OutboundRow>`
    select id, type, push_epoch, body from outbound_events
    where integration_id = ${integration} and device_uid = ${uid} and type not in ('device.online', 'device.offline') order by id`;
  return rows.map((row) => ({ ...row, envelope: JSON.parse(row.body) }));
}
const typesOf = async (uid: string, integration = integrationId) =>
  (await outboundRows(uid, integration)).map(({ type }) => type);
const alarm = (type: "sos" | "fall" | "low_battery" | "not_worn", deviceTimeMs: number | null = null) =>
  ({ kind: "alarm", type, code: "1", deviceTimeMs }) as const;

test("the outbound log has a valid fix with every key, in an envelope that names device and integration", async () => {
  const { uid, id, tracker } = await device();
  const at = clock.nowMs() - 6000;
  const gps = { altitudeM: 37.5, speedKmh: 1.7 * 1.852, satellites: 9, heading: 118 };
  tracker.send(1, [{ ...gpsFix(at, 41.902782, 12.496366, gps), network: { mcc: 222, mnc: 1 } }]);
  await tracker.until("ok 1");
  const [row, ...others] = await outboundRows(uid);
  expect(others).toEqual([]);
  const location = await world.db.one<{ id: string }>`select id from locations where device_id = ${id}`;
  expect(row?.body).toBe(
    JSON.stringify({
      id: row?.id,
      type: "location.update",
      occurred_at: "2026-03-01T08:15:24.000Z",
      partner_integration_id: integrationId,
      device: { uid, imei: uid },
      data: {
        location_id: location.id,
        ts: "2026-03-01T08:15:24.000Z",
        device_ts: "2026-03-01T08:15:24.000Z",
        received_at: "2026-03-01T08:15:30.000Z",
        lat: 41.902782,
        lng: 12.496366,
        altitude_m: 37.5,
        speed_kmh: 3.1484,
        heading: 118,
        accuracy_m: 10,
        source: "gps",
        satellites: 9,
        is_moving: true,
        carrier: 'T"IM',
        address: null,
      },
    }),
  );
});

test("the outbound log has null for what the fix did not say, and a wrong clock as it was sent", async () => {
  const { uid, tracker } = await device();
  const liar = Date.UTC(2099, 0, 1);
  tracker.send(1, [gpsFix(liar, 41.9, 12.4, { heading: null, accuracyM: null }), gpsFix(null, 41.9, 12.4)]);
  await tracker.until("ok 1");
  const data = (await outboundRows(uid)).map(({ envelope }) => envelope.data);
  const nothing = { altitude_m: null, speed_kmh: null, satellites: null, carrier: null, ts: start.toISOString() };
  expect(data).toMatchObject([
    { ...nothing, device_ts: "2099-01-01T00:00:00.000Z", heading: null, accuracy_m: null },
    { ...nothing, device_ts: null },
  ]);
});

test("the outbound log has readings with a vital sign: all metrics in range, with their units", async () => {
  const { uid, id, tracker } = await device();
  tracker.send(1, [vitals({ temp: 36.6, hr: 72, sbp: 118, dbp: 76, spo2: null, bat: 0, steps: 10 }, null, { x: 1 })]);
  tracker.send(2, [vitals({ glucose: 2000, hr: 70 }, clock.nowMs() - 1000)]);
  tracker.send(3, [vitals({ bat: 50, steps: 1 }), gpsFix(null, 0, 0, { satellites: 7 })]);
  tracker.send(4, [vitals({ hr: 900, bat: 40 })]);
  await tracker.until("ok 4");
  const rows = (await outboundRows(uid)).filter(({ type }) => type === "health.snapshot");
  const stored = await world.db.many<{ id: string }>`select id from telemetry where device_id = ${id} and data ? 'x'`;
  expect(rows).toHaveLength(2);
  const [first, second] = rows.map(({ envelope }) => envelope);
  const telemetry_id = stored[0]?.id;
  expect(JSON.stringify(first?.data)).toBe(
    JSON.stringify({
      telemetry_id,
      ts: "2026-03-01T08:15:30.000Z",
      device_ts: null,
      metrics: {
        bat: { value: 0, unit: "%" },
        hr: { value: 72, unit: "bpm" },
        sbp: { value: 118, unit: "mmHg" },
        dbp: { value: 76, unit: "mmHg" },
        temp: { value: 36.6, unit: "Cel" },
        steps: { value: 10, unit: "steps" },
      },
    }),
  );
  expect(second).toMatchObject({
    occurred_at: "2026-03-01T08:15:30.000Z",
    data: { device_ts: "2026-03-01T08:15:29.000Z", metrics: { hr: { value: 70, unit: "bpm" } } },
  });
});

test("the outbound log has alarms that have a type for partners, with battery and place", async () => {
  const { uid, id, tracker } = await device();
  const at = clock.nowMs() - 1000;
  tracker.send(1, [gpsFix(at, 41.9, 12.4), vitals({ bat: 12 }), alarm("sos", at), alarm("fall"), alarm("not_worn")]);
  await tracker.until("ok 1");
  const rows = (await outboundRows(uid)).filter(({ type }) => type === "alarm.sos" || type === "alarm.fall");
  const events = await world.db.many<{ id: string; event_type: number }>`
    select id, event_type from events where device_id = ${id}`;
  const eventId = (number: number) => events.find(({ event_type }) => event_type === number)?.id;
  const location = { lat: 41.9, lng: 12.4, accuracy_m: 10, source: "gps", ts: new Date(at).toISOString() };
  expect(rows.map(({ envelope }) => [envelope.occurred_at, JSON.stringify(envelope.data)])).toEqual([
    [
      new Date(at).toISOString(),
      JSON.stringify({
        event_id: eventId(10),
        event_type: "sos",
        severity: "critical",
        ts: new Date(at).toISOString(),
        message: "SOS pressed",
        battery: 12,
        location,
      }),
    ],
    [
      start.toISOString(),
      JSON.stringify({
        event_id: eventId(20),
        event_type: "fall",
        severity: "critical",
        ts: start.toISOString(),
        message: "Fall detected",
        battery: 12,
        location,
      }),
    ],
  ]);
  expect(await typesOf(uid)).not.toContain("alarm.not_worn");
});

test("the outbound log has a low battery without a place", async () => {
  const { uid, tracker } = await device();
  tracker.send(1, [vitals({ bat: 12 }), alarm("low_battery")]);
  await tracker.until("ok 1");
  const [row] = (await outboundRows(uid)).filter(({ type }) => type === "alarm.low_battery");
  expect(row?.envelope.data).toMatchObject({
    event_type: "low_battery",
    severity: "warning",
    message: "Battery at 12%",
    battery: 12,
    location: null,
  });
});

test("the outbound log has no implausible fixes, nor of an outlier that its own batch shows to be one", async () => {
  const { uid, tracker } = await device();
  const at = clock.nowMs() - 600_000;
  tracker.send(1, [gpsFix(at, 0, 0), gpsFix(at, 95, 12), gpsFix(at, 41, 12, { accuracyM: 10_001 })]);
  tracker.send(2, [gpsFix(at, 41.9, 12.4), gpsFix(at + 60_000, 45.9, 12.4), gpsFix(at + 120_000, 41.91, 12.4)]);
  await tracker.until("ok 2");
  const latitudes = (await outboundRows(uid)).map(({ envelope }) => (envelope.data as { lat: number }).lat);
  expect(latitudes).toEqual([41.9, 41.91]);
});

test("the outbound log keeps a fix that turns out to be an outlier later", async () => {
  const { uid, id, tracker } = await device();
  const at = clock.nowMs() - 600_000;
  for (const [n, lat] of [41.9, 45.9, 41.91].entries()) {
    tracker.send(n, [gpsFix(at + n * 60_000, lat, 12.4)]);
    await tracker.until(`ok ${n}`);
  }
  expect(await world.db.many`select id from locations where device_id = ${id} and is_valid`).toHaveLength(2);
  expect(await typesOf(uid)).toEqual(["location.update", "location.update", "location.update"]);
});

test("the outbound log has one row for a packet that is sent again, and for one whose commit was not confirmed", async () => {
  const { uid, tracker } = await device();
  const packet = [gpsFix(clock.nowMs() - 1000, 41.9, 12.4)];
  tracker.send(1, packet);
  tracker.send(1, packet);
  await vi.waitUntil(() => tracker.lines.filter((line) => line === "ok 1").length === 2, {
    timeout: 10_000,
    interval: 20,
  });
  const before = proxy.lostCommits();
  proxy.loseNextCommit();
  tracker.send(2, [gpsFix(null, 41.9, 12.4), alarm("sos")]);
  await tracker.until("ok 2");
  expect(proxy.lostCommits()).toBe(before + 1);
  expect(await typesOf(uid)).toEqual(["location.update", "location.update", "alarm.sos"]);
});

test("the outbound log is locked by no gateway that is yet to hear from the database", async () => {
  const { uid, tracker } = await device();
  const release = proxy.withholdAnswersTo("ingest_outbound");
  tracker.send(1, [alarm("sos")]);
  await vi.waitUntil(async () => (await typesOf(uid)).length > 0, { timeout: 10_000, interval: 20 });
  const { organizationId } = world;
  const entry = { organizationId, type: "alarm.fall", deviceUid: uid, occurredAtMs: clock.nowMs(), data: {} } as const;
  await world.db.transaction((tx) => appendOutbound(tx, [entry], clock.nowMs()));
  expect(tracker.lines).not.toContain("ok 1");
  release();
  await tracker.until("ok 1");
  expect(await typesOf(uid)).toEqual(["alarm.sos", "alarm.fall"]);
});

test("the outbound log writes a row for each integration that may have it, and none for others", async () => {
  const narrow = await addIntegration(world, { scopes: ["events:read"] });
  const deleted = await addIntegration(world);
  await world.db.run`update integrations set status = 'deleted' where id = ${deleted}`;
  const disabled = await addIntegration(world);
  await world.db.run`update integrations set status = 'disabled' where id = ${disabled}`;
  const { uid, tracker } = await device();
  tracker.send(1, [gpsFix(null, 41.9, 12.4), alarm("sos")]);
  await tracker.until("ok 1");
  const both = ["location.update", "alarm.sos"];
  expect(await typesOf(uid)).toEqual(both);
  expect(await typesOf(uid, disabled)).toEqual(both);
  expect(await typesOf(uid, narrow)).toEqual(["alarm.sos"]);
  expect(await typesOf(uid, deleted)).toEqual([]);
  const ids = await world.db.many<{ id: string }>`select id from outbound_events where device_uid = ${uid}`;
  expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
});

test("the outbound log wakes the workers that push for integrations with a webhook, and marks their rows", async () => {
  const pushing = await addIntegration(world, { webhookUrl: "https://partner.example/hook" });
  const notified: string[] = [];
  const listener = await world.db.connect();
  await listener.query(`listen ${outboundChannel}`);
  listener.on("notification", ({ payload }) => notified.push(payload ?? ""));
  const { uid, tracker } = await device();
  notified.length = 0;
  tracker.send(1, [gpsFix(null, 41.9, 12.4), gpsFix(null, 41.9, 12.4)]);
  await tracker.until("ok 1");
  await vi.waitUntil(() => notified.length > 0, { timeout: 10_000, interval: 20 });
  await listener.end();
  expect(new Set(notified)).toEqual(new Set([pushing]));
  expect((await outboundRows(uid, pushing)).map(({ push_epoch }) => push_epoch)).toEqual([1, 1]);
  expect((await outboundRows(uid)).map(({ push_epoch }) => push_epoch)).toEqual([null, null]);
});

test("the outbound log has a position that was found by networks, when it is valid", async () => {
  const { uid, id } = await device();
  const position: LocatedPosition = {
    id: newUuid(),
    deviceId: id,
    organizationId: world.organizationId,
    ts: start,
    deviceTs: null,
    receivedAt: start,
    lat: 41.9,
    lng: 12.4,
    accuracyM: 1200,
    source: "lbs",
    invalidReason: null,
    mcc: 222,
    mnc: 1,
    carrier: "TIM",
  };
  await world.db.transaction(async (tx) => {
    await insertLocated(tx, position);
    await publishLocated(clock)(tx, position);
    await publishLocated(clock)(tx, { ...position, id: newUuid(), invalidReason: "low_accuracy" });
  });
  const rows = await outboundRows(uid);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.envelope).toMatchObject({ type: "location.update", occurred_at: start.toISOString() });
  expect(JSON.stringify(rows[0]?.envelope.data)).toBe(
    `{"location_id":"${position.id}","ts":"${start.toISOString()}","device_ts":null,"received_at":"${start.toISOString()}","lat":41.9,"lng":12.4,"altitude_m":null,"speed_kmh":null,"heading":null,"accuracy_m":1200,"source":"lbs","satellites":null,"is_moving":null,"carrier":"TIM","address":null}`,
  );
});

test("the outbound log goes on above the last id when the clock was ahead, wherever no partition was made for it", async () => {
  const { uid, tracker } = await device();
  const sent = async (n: number, days: number) => {
    clock.set(new Date(start.getTime() + days * 86_400_000));
    await maintainPartitions(world.db, partitionedTables, clock.nowMs());
    tracker.send(n, [alarm(n % 2 ? "sos" : "fall")]);
    await tracker.until(`ok ${n}`);
  };
  await sent(1, 0);
  await sent(2, 20);
  const { last_ms: lastMs } = await world.db.one<{ last_ms: number }>`
    select last_ms from outbound_lanes where integration_id = ${integrationId}`;
  expect(lastMs).toBe(start.getTime() + 20 * 86_400_000);
  // As if the partitions of those days had been made by nobody.
  await world.db
    .run`update outbound_lanes set last_ms = last_ms + ${100 * 86_400_000}::int8 where integration_id = ${integrationId}`;
  clock.set(start);
  tracker.send(3, [alarm("low_battery")]);
  await tracker.until("ok 3");
  const rows = (await outboundRows(uid)).map(({ id, type }) => [id, type] as const);
  expect(rows.map(([, type]) => type)).toEqual(["alarm.sos", "alarm.fall", "alarm.low_battery"]);
  expect(String(rows[2]?.[0]) > uuidV7Floor(start.getTime() + 120 * 86_400_000)).toBe(true);
  const inDefault = () => world.db.many`select id from outbound_events_default where device_uid = ${uid}`;
  expect(await inDefault()).toHaveLength(1);
  // When their time comes they move to its partition, and leave by the retention.
  await maintainPartitions(world.db, outboundTable, start.getTime() + 120 * 86_400_000);
  expect(await inDefault()).toEqual([]);
  expect((await outboundRows(uid)).map(({ type }) => type)).toEqual(["alarm.low_battery"]);
});

test("the outbound log prunes rows outside every partition after the retention", async () => {
  const { uid, tracker } = await device();
  await world.db.run`
    update outbound_lanes set last_ms = ${start.getTime() + 900 * 86_400_000} where integration_id = ${integrationId}`;
  tracker.send(1, [alarm("sos")]);
  await tracker.until("ok 1");
  const end = start.getTime() + 930 * 86_400_000;
  await pruneDefaults(world.db, outboundTable, end);
  expect(await typesOf(uid)).toEqual(["alarm.sos"]);
  await pruneDefaults(world.db, outboundTable, end + 1);
  expect(await typesOf(uid)).toEqual([]);
});
