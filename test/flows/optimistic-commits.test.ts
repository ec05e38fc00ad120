import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepSilentDevices } from "../../src/ingest/presence.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { rulesOf } from "../support/live-rules.ts";
import { addIntegration } from "../support/outbound.ts";

const clock = makeManualClock(new Date("2026-03-02T08:15:30.000Z"));
const nextImei = imeis();
let world: GatewayWorld;
beforeAll(async () => {
  world = await openGatewayWorld(clock);
});
afterAll(() => world.close());

/** A device of an organization of its own, whose last packet was committed without waiting for answers. */
async function settled() {
  const gateway = await world.open();
  const organizationId = await world.addOrganization();
  const uid = nextImei();
  const id = await world.addDevice(uid, { organizationId });
  const tracker = await gateway.tracker(uid);
  let n = 0;
  const say = async (): Promise<void> => {
    n++;
    clock.advanceMs(10_000);
    tracker.send(n, [gpsFix(clock.nowMs(), 41.9 + n * 0.0001, 12.5)]);
    await tracker.until(`ok ${n}`);
  };
  await say();
  await say();
  expect(countOf(gateway, "stored")).toBe(1);
  return { gateway, organizationId, uid, id, say };
}

const countOf = (gateway: TestGateway, outcome: string): number =>
  gateway.metric(`vigil_ingest_optimistic_total{outcome="${outcome}"}`);
const fixesOf = (id: string) => world.db.one<{ count: number }>`
  select count(*)::int as count from locations where device_id = ${id}`;
const typesOf = async (integrationId: string): Promise<string[]> =>
  (
    await world.db.many<{
      type: string;
    }>`select type from outbound_events where integration_id = ${integrationId} order by id`
  ).map(({ type }) => type);

test("packets of a device whose presence, rules and partners stay as they are go out as one message", async () => {
  const { gateway, id, say } = await settled();
  for (let more = 0; more < 5; more++) await say();
  expect([countOf(gateway, "stored"), countOf(gateway, "unexpected")]).toEqual([6, 0]);
  expect(await fixesOf(id)).toEqual({ count: 7 });
});

test("a partner who came after the last packet receives the next one", async () => {
  const { gateway, organizationId, say, id } = await settled();
  const integrationId = await addIntegration({ ...world, organizationId }, { webhookEventTypes: ["location.update"] });
  await say();
  expect(await typesOf(integrationId)).toEqual(["location.update"]);
  expect(countOf(gateway, "unexpected")).toBe(1);
  for (let more = 0; more < 9; more++) await say();
  expect(await typesOf(integrationId)).toHaveLength(10);
  expect(countOf(gateway, "stored")).toBe(2);
  expect(await fixesOf(id)).toEqual({ count: 12 });
});

test("a partner who lost a scope after the last packet receives nothing of the next one", async () => {
  const { organizationId, say } = await settled();
  const integrationId = await addIntegration({ ...world, organizationId }, { webhookEventTypes: ["location.update"] });
  for (let more = 0; more < 10; more++) await say();
  const before = await typesOf(integrationId);
  await world.db.run`update integrations set scopes = '{events:read}' where id = ${integrationId}`;
  await say();
  expect(await typesOf(integrationId)).toEqual(before);
});

test("a device that was found silent is online again with its next packet, and partners hear of it", async () => {
  const { gateway, id, say } = await settled();
  clock.advanceMs(700_000);
  await sweepSilentDevices(world.db, clock, 600);
  expect(await world.db.one`select is_online from device_state where device_id = ${id}`).toEqual({ is_online: false });
  await say();
  expect(countOf(gateway, "unexpected")).toBe(0);
  expect(await world.db.one`select is_online from device_state where device_id = ${id}`).toEqual({ is_online: true });
  const events = await world.db
    .many`select event_type from events where device_id = ${id} and event_type in (60, 70) order by ts`;
  expect(events.map(({ event_type: type }) => type)).toEqual([60, 70, 60]);
});

test("a device that was set offline sooner than expected is online again with its next packet", async () => {
  const { gateway, id, say } = await settled();
  await world.db.run`update device_state set is_online = false, was_online = true where device_id = ${id}`;
  await say();
  expect(countOf(gateway, "unexpected")).toBe(1);
  expect(await world.db.one`select is_online from device_state where device_id = ${id}`).toEqual({ is_online: true });
});

test("a fence that was drawn after the last packet counts for the next one", async () => {
  const { organizationId, id, say } = await settled();
  await rulesOf({ ...world, organizationId }).addFence({ devices: [id] });
  await say();
  const events = await world.db
    .many`select event_type from events where device_id = ${id} and event_type not in (60, 70)`;
  expect(events).toHaveLength(0);
  const [state] = await world.db.many`select state from rule_states where device_id = ${id}`;
  expect(state).toBeDefined();
});

test("a packet of a device that has a newer connection elsewhere is not stored", async () => {
  const { id, say, uid } = await settled();
  const other = await world.open();
  const tracker = await other.tracker(uid);
  tracker.send(1, [gpsFix(clock.nowMs(), 41.9, 12.5)]);
  await tracker.until("ok 1");
  const before = await fixesOf(id);
  await expect(
    Promise.race([say(), new Promise((_, fail) => setTimeout(() => fail(new Error("no answer")), 500))]),
  ).rejects.toThrow();
  expect(await fixesOf(id)).toEqual(before);
});
