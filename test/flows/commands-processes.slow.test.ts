import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeCommandSweep } from "../../src/resources/commands/command-sweep.ts";
import { resendTimezones } from "../../src/resources/commands/timezone-resend.ts";
import { removeDeadNodes } from "../../src/resources/devices/device-sessions.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { testCatalog } from "../support/catalog.ts";
import { type CommandWorld, iwDevice, openCommandWorld, serialIn } from "../support/command-world.ts";

/** More than one process on one database, processes that are gone, and work that waits for months. */
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
let world: CommandWorld;

beforeAll(async () => {
  world = await openCommandWorld(clock);
});
afterAll(() => world.close());

const codes = (frames: readonly string[]): string[] =>
  frames.map((frame) => frame.slice(2, 6)).filter((code) => code !== "BP00");

test("two gateways and one API: commands follow the device", async () => {
  const [one, two] = [await world.openGateway(), await world.openGateway()];
  const uid = await world.device();
  const device = await iwDevice(one, uid);
  const first = await world.command(uid, "locate_now");
  const frame = await device.until("IWBP16");
  await world.until(uid, first, "sent");
  const [second, third] = [await world.command(uid, "restart"), await world.command(uid, "test_heart_rate")];
  const moved = await iwDevice(two, uid);
  await vi.waitUntil(() => device.isClosed, { timeout: 5000 });
  expect(codes(moved.frames)).toEqual([]);
  moved.write(`IWAP16,${serialIn(frame)}#`);
  await world.until(uid, first, "ack_ok");
  moved.write(`IWAP18,${serialIn(await moved.until("IWBP18"))}#`);
  await world.until(uid, second, "ack_ok");
  const back = await iwDevice(one, uid);
  await vi.waitUntil(() => moved.isClosed, { timeout: 5000 });
  const inFlight = await world.until(uid, third, "sent");
  if (!codes(back.frames).includes("BPXL")) clock.advanceMs(60_000);
  back.write(`IWAPXL,${serialIn(await back.until("IWBPXL"))}#`);
  const done = await world.until(uid, third, "ack_ok");
  expect(done.attempts).toBeLessThanOrEqual(inFlight.attempts + 1);
  expect((await world.outbound(uid)).map(({ data }) => data.command_uuid)).toEqual([first, second, third]);
  await back.close();
  await one.close();
  await two.close();
});

test("the service gives a command that was sent before a restart a full new wait, however long the restart took", async () => {
  const gateway = await world.openGateway();
  const uid = await world.device();
  const device = await iwDevice(gateway, uid);
  const id = await world.command(uid, "locate_now");
  const frame = await device.until("IWBP16");
  await world.until(uid, id, "sent");
  await gateway.close();
  clock.advanceMs(3_600_000);
  const worker = makeCommandSweep(world.api.db, clock);
  await worker();
  expect(await world.get(uid, id)).toMatchObject({ status: "sent", attempts: 1 });
  const next = await world.openGateway();
  const again = await iwDevice(next, uid);
  clock.advanceMs(59_999);
  await worker();
  expect(await world.get(uid, id)).toMatchObject({ status: "sent", attempts: 1 });
  again.write(`IWAP16,${serialIn(frame)}#`);
  await world.until(uid, id, "ack_ok");
  await next.close();
});

test("the service counts a command found in sending as sent, with an unknown outcome", async () => {
  const [known, uid] = [await world.device(), await world.device()];
  const [answered, silent] = [await world.command(known, "restart"), await world.command(uid, "restart")];
  await world.api.db.run`
    update commands set status = 'sending', attempts = 1, node_id = ${newUuid()}, ack_wait_seconds = 60,
      awaited = '[{"word":"AP18"}]', due_at = ${clock.now()}
    where id = any(${[answered, silent]}::uuid[])`;
  clock.advanceMs(1000);
  await world.sweep();
  expect(await world.get(uid, silent)).toMatchObject({ status: "sent", attempts: 1, terminal: false });
  const { number } = await world.api.db.one<{ number: number }>`select number from commands where id = ${answered}`;
  const gateway = await world.openGateway();
  const device = await iwDevice(gateway, known);
  device.write(`IWAP18,${String(number).padStart(6, "0")}#`);
  await world.until(known, answered, "ack_ok");
  expect(codes(device.frames)).toEqual([]);
  clock.advanceMs(60_000);
  await world.sweep();
  const over = await world.get(uid, silent);
  expect([over.status, over.error.code, over.attempts]).toEqual(["timeout", "transport_error", 1]);
  expect(await world.outbound(uid)).toHaveLength(1);
  await gateway.close();
});

test("a lost wake-up is made up for", async () => {
  const gateway = await world.openGateway();
  const uid = await world.device();
  const device = await iwDevice(gateway, uid);
  await world.api.db.run`
    insert into commands (device_id, id, organization_id, command_type, params, status, created_at, expires_at, due_at)
    select d.id, gen_random_uuid(), d.organization_id, 'restart', '{}', 'pending', ${clock.now()},
      ${new Date(clock.nowMs() + 86_400_000)}, ${new Date(clock.nowMs() + 86_400_000)}
    from devices d where d.uid = ${uid}`;
  await device.until("IWBP18");
  await gateway.close();
});

test("a process that was taken for dead while it could not say that it lives serves its devices again", async () => {
  const gateway = await world.openGateway();
  const [uid, deleted] = [await world.device(), await world.device()];
  const [device, other] = [await iwDevice(gateway, uid), await iwDevice(gateway, deleted)];
  await other.close();
  const { db } = world.api;
  await db.run`update gateway_nodes set lease_until = ${new Date(clock.nowMs() - 1)}`;
  await removeDeadNodes(db, clock.now());
  await world.command(uid, "restart");
  const open = () =>
    db.many<{ uid: string }>`
      select d.uid from device_sessions s join devices d on d.id = s.device_id
      where s.disconnected_at is null and d.uid = any(${[uid, deleted]})`;
  // By its next heartbeat.
  await vi.waitUntil(async () => (await open()).length > 0, { timeout: 15_000, interval: 50 });
  await device.until("IWBP18");
  expect(await open()).toEqual([{ uid }]);
  await gateway.close();
});

test("the service sends a zone by name again when its offset changes, and only then", async () => {
  const gateway = await world.openGateway();
  const uid = await world.device();
  const other = await world.device();
  const options = { db: world.api.db, clock, catalog: testCatalog(), commandTtlSeconds: 86_400 };
  const zoneOf = async () => {
    const { token } = world.integration;
    const { body } = await world.api.call("GET", `/api/v1/devices/${uid}/`, { token });
    return body.timezone;
  };
  const device = await iwDevice(gateway, uid);
  const fixed = await iwDevice(gateway, other);
  const id = await world.command(uid, "set_timezone", { timezone: "Europe/London" });
  const winter = await device.until("IWBP20");
  expect(winter).toBe(`IWBP20,${uid},${serialIn(winter)},0,0#`);
  device.write(`IWAP20,${serialIn(winter)}#`);
  await world.until(uid, id, "ack_ok");
  const numbered = await world.command(other, "set_timezone", { utc_offset_minutes: 0 });
  fixed.write(`IWAP20,${serialIn(await fixed.until("IWBP20"))}#`);
  await world.until(other, numbered, "ack_ok");
  clock.set(new Date("2026-03-29T00:59:59.999Z"));
  await maintainPartitions(world.api.db, partitionedTables, clock.nowMs());
  expect(await resendTimezones(options)).toBe(0);
  clock.advanceMs(1);
  const made = await Promise.all([resendTimezones(options), resendTimezones(options)]);
  expect(made.reduce((sum, count) => sum + count, 0)).toBe(1);
  const summer = await device.until("IWBP20", 2);
  expect(summer).toBe(`IWBP20,${uid},${serialIn(summer)},0,1#`);
  device.write(`IWAP20,${serialIn(summer)}#`);
  const list = await world.api.call("GET", `/api/v1/devices/${uid}/commands/?status=sent,ack_ok`, {
    token: world.integration.token,
  });
  const automatic = list.body.results[0];
  expect(automatic).toMatchObject({ command_type: "set_timezone", sender_user_id: null });
  await world.until(uid, automatic.command_uuid, "ack_ok");
  const audit = await world.api.db.one`
    select actor_type, additional_data from audit_log where object_pk = ${automatic.command_uuid} and action = 0`;
  expect(audit).toEqual({ actor_type: "system", additional_data: { via: "task" } });
  expect(await zoneOf()).toBe("Europe/Rome");
  expect(await resendTimezones(options)).toBe(0);
  const next = await world.api.db.one<{ send_again_at: Date }>`
    select send_again_at from device_settings where setting = 'timezone' and send_again_at is not null`;
  expect(next.send_again_at.toISOString()).toBe("2026-10-25T01:00:00.000Z");
  await gateway.close();
});
