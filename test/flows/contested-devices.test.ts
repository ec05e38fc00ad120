import { afterAll, beforeAll, expect, test } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { updateDevice } from "../../src/resources/devices/device-writes.ts";
import { cliActor } from "../support/api.ts";
import { testCatalog } from "../support/catalog.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const nextImei = imeis();
const clock = makeManualClock(new Date());
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open();
});
afterAll(() => world.close());

interface EventRow {
  event_type: number;
  severity: number;
  data: Record<string, unknown>;
}

const eventsOf = (id: string, type: number): Promise<EventRow[]> =>
  world.db.many<EventRow>`
    select event_type, severity, data from events where device_id = ${id} and event_type = ${type} order by id`;
const takeoversOf = (uid: string): Promise<{ additional_data: { reason: string }; changes: unknown }[]> =>
  world.db.many`select additional_data, changes from audit_log where object_repr = ${uid} order by id`;

/** So many takeovers, each from the other address. */
async function takeOver(uid: string, times: number): Promise<void> {
  for (let round = 0; round < times; round++) {
    const before = gateway.metric("vigil_gateway_takeovers_total");
    await gateway.tracker(uid, round % 2 === 0 ? "127.0.0.3" : "127.0.0.2");
    await until(() => expect(gateway.metric("vigil_gateway_takeovers_total")).toBe(before + 1));
    clock.advanceMs(20_000);
  }
}

test("the gateway makes one event an hour of a connection that is taken over more than five times in ten minutes", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  await gateway.tracker(uid, "127.0.0.2");
  await takeOver(uid, 5);
  await until(async () => expect(await takeoversOf(uid)).toHaveLength(5));
  expect(await eventsOf(id, 220)).toEqual([]);
  await gateway.tracker(uid, "127.0.0.3");
  const conflict = {
    event_type: 220,
    severity: 20,
    data: { code: "session_conflict", addresses: ["127.0.0.3", "127.0.0.2"] },
  };
  await gateway.tracker(uid, "127.0.0.2");
  await until(async () => expect(await eventsOf(id, 220)).toEqual([conflict]));
  await takeOver(uid, 4);
  expect(await eventsOf(id, 220)).toHaveLength(1);
  const audited = await takeoversOf(uid);
  expect(audited.map(({ additional_data }) => additional_data.reason)).toEqual([
    ...Array.from({ length: 5 }, () => "takeover"),
    "session_conflict",
  ]);
  expect(JSON.stringify(audited)).not.toContain("127.0.0");
  expect(await world.db.many`select 1 from outbound_events where device_uid = ${uid}`).toEqual([]);
  clock.advanceMs(61 * 60_000);
  await takeOver(uid, 6);
  await until(async () => expect(await eventsOf(id, 220)).toHaveLength(2));
});

test("the gateway does not count connections from the same address, nor those after the old one was closed", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  for (let round = 0; round < 4; round++) await gateway.tracker(uid, "127.0.0.2");
  for (let round = 0; round < 2; round++) {
    const tracker = await gateway.tracker(uid, `127.0.1.${round + 1}`);
    await tracker.close();
    await until(async () =>
      expect(
        await world.db.one`select disconnected_at is null as open from device_sessions where device_id = ${id}`,
      ).toEqual({ open: false }),
    );
  }
  expect((await takeoversOf(uid)).length).toBeLessThanOrEqual(1);
  expect(await eventsOf(id, 220)).toEqual([]);
});

const first = "8939012345678901234";
const second = "8939099999999999999";

async function logIn(uid: string, iccid: string): Promise<"open" | "closed"> {
  const tracker = await gateway.tracker();
  tracker.write(`${JSON.stringify({ login: uid, iccid })}\n`);
  await until(() => expect(tracker.isClosed || tracker.lines.includes("clock")).toBe(true));
  const outcome = tracker.isClosed ? "closed" : "open";
  if (!tracker.isClosed) await tracker.close();
  return outcome;
}

async function patchIccid(id: string, iccid: string | null): Promise<void> {
  const organization = { id: world.organizationId, timezone: "Europe/Rome" };
  const write = { organization, given: { iccid }, catalog: testCatalog(), actor: cliActor(organization.id) };
  await world.db.transaction((tx) => updateDevice(tx, id, { ...write, now: clock.now() }, false));
}

test("the gateway makes an event when the device reports another SIM", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  for (const iccid of [first, first, second, second]) expect(await logIn(uid, iccid)).toBe("open");
  const changes = await eventsOf(id, 210);
  expect(changes.map(({ data }) => data)).toEqual([{ iccid: second, refused: false }]);
});

test("the gateway refuses another SIM where SIMs are pinned, until the iccid is patched to null or to the new one", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const pin = (features: string[]) =>
    world.db.run`update organizations set features = ${features} where id = ${world.organizationId}`;
  await pin(["pin_sim"]);
  try {
    expect(await logIn(uid, first)).toBe("open");
    expect(await logIn(uid, second)).toBe("closed");
    expect(await logIn(uid, second)).toBe("closed");
    await until(async () =>
      expect((await eventsOf(id, 210)).map(({ data }) => data)).toEqual([{ iccid: second, refused: true }]),
    );
    await patchIccid(id, null);
    expect(await logIn(uid, second)).toBe("open");
    expect(await logIn(uid, first)).toBe("closed");
    await patchIccid(id, first);
    expect(await logIn(uid, first)).toBe("open");
    expect(await logIn(uid, second)).toBe("closed");
  } finally {
    await pin([]);
  }
});

test("the gateway closes a connection that reports another SIM than the pinned one after the login", async () => {
  const uid = nextImei();
  await world.addDevice(uid);
  await world.db.run`update organizations set features = '{pin_sim}' where id = ${world.organizationId}`;
  try {
    expect(await logIn(uid, first)).toBe("open");
    const tracker = await gateway.tracker(uid);
    tracker.send(1, [{ kind: "info", iccid: first }]);
    await tracker.until("ok 1");
    tracker.send(2, [{ kind: "info", iccid: second }]);
    await tracker.untilClosed();
    expect(tracker.lines).not.toContain("ok 2");
  } finally {
    await world.db.run`update organizations set features = '{}' where id = ${world.organizationId}`;
  }
});

test("the gateway closes the gateway to networks that are not its own, and an organization to others than its own", async () => {
  const narrow = await world.open({ networks: ["127.0.0.0/30"] });
  const stranger = await narrow.tracker(undefined, "127.0.0.9");
  await stranger.untilClosed();
  const uid = nextImei();
  await world.addDevice(uid);
  await narrow.tracker(uid, "127.0.0.2");
  await world.db.run`update organizations set gateway_networks = '{127.0.0.3/32}' where id = ${world.organizationId}`;
  try {
    const elsewhere = await narrow.tracker(undefined, "127.0.0.2");
    elsewhere.write(`${JSON.stringify({ login: uid })}\n`);
    await elsewhere.untilClosed();
    await narrow.tracker(uid, "127.0.0.3");
    expect(narrow.metric('vigil_gateway_refused_logins_total{protocol="iw",reason="network"}')).toBe(1);
  } finally {
    await world.db.run`update organizations set gateway_networks = '{}' where id = ${world.organizationId}`;
  }
});

test("the gateway writes the end of a session also when it comes while the end of another is being written", async () => {
  const [first, second] = [nextImei(), nextImei()];
  const ids = [await world.addDevice(first), await world.addDevice(second)];
  const [held, other] = [await gateway.tracker(first, "127.0.0.2"), await gateway.tracker(second, "127.0.0.2")];
  await world.db.transaction(async (tx) => {
    await tx.one`select 1 as held from device_sessions where device_id = ${ids[0]} for update`;
    await held.close();
    await until(async () =>
      expect(
        await world.db.many`
          select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%update device_sessions%'`,
      ).not.toEqual([]),
    );
    const open = gateway.metric("vigil_gateway_connections");
    await other.close();
    await until(() => expect(gateway.metric("vigil_gateway_connections")).toBe(open - 1));
  });
  await until(async () =>
    expect(
      await world.db.many`
        select device_id from device_sessions where device_id = any(${ids}::uuid[]) and disconnected_at is null`,
    ).toEqual([]),
  );
});
