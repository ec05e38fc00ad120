import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { listUnknownDevices } from "../../src/resources/devices/unknown-device-store.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";
import { testProtocol } from "../support/test-protocol.ts";
import { openUdpDevice, type UdpDevice } from "../support/udp-device.ts";

const nextImei = imeis();
const both = [testProtocol("iw", ["tcp", "udp"])];
const soon = { timeout: 10_000, interval: 10 };
let world: GatewayWorld;
let gateway: TestGateway;
let opened: UdpDevice[] = [];

beforeAll(async () => {
  world = await openGatewayWorld();
  gateway = await world.open({ protocols: both });
});
afterEach(() => {
  for (const device of opened) device.close();
  opened = [];
});
afterAll(() => world.close());

async function phone(port = gateway.address.port): Promise<UdpDevice> {
  const device = await openUdpDevice(port);
  opened.push(device);
  return device;
}

async function registered() {
  const uid = nextImei();
  return { uid, id: await world.addDevice(uid) };
}

const rates = async (id: string): Promise<number[]> =>
  (
    await world.db.many<{ hr: number }>`
      select (data->>'hr')::int as hr from telemetry where device_id = ${id} order by ts, id`
  ).map(({ hr }) => hr);
const session = (id: string) =>
  world.db.one<{ epoch: number; disconnected_at: Date | null; remote_addr: string }>`
    select epoch, disconnected_at, remote_addr from device_sessions where device_id = ${id}`;
const dropped = (reason: string, host = gateway): number =>
  host.metric(`vigil_gateway_datagrams_dropped_total{reason="${reason}"}`);

test("the gateway stores a datagram before it is answered, and answers its sender", async () => {
  const { uid, id } = await registered();
  const device = await phone();
  const lock = await world.db.connect();
  await lock.query("begin; lock table telemetry in access exclusive mode");
  device.send(uid, 1, [vitals({ hr: 70 })]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_queue_packets") > 0, soon);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(device.lines).not.toContain("ok 1");
  await lock.query("commit");
  await lock.end();
  await device.until("ok 1");
  expect(await rates(id)).toEqual([70]);
  const { is_online } = await world.db.one<{ is_online: boolean }>`
    select is_online from device_state where device_id = ${id}`;
  expect(is_online).toBe(true);
  expect(await session(id)).toMatchObject({ epoch: 1, disconnected_at: null, remote_addr: "127.0.0.1" });
});

test("the gateway keeps one session for the datagrams of an address, and reads each of them whole", async () => {
  const { uid, id } = await registered();
  const device = await phone();
  for (let n = 1; n <= 20; n++) device.send(uid, n, [vitals({ hr: 60 + n })]);
  await device.until("ok 20");
  const frame = `${JSON.stringify({ id: uid, n: 21, messages: [vitals({ hr: 81 })] })}\n`;
  device.write(`${frame}${frame.replace("21", "22")}{"id":"cut off`);
  await device.until("ok 22");
  device.send(uid, 23);
  await device.until("ok 23");
  expect((await rates(id)).length).toBe(22);
  expect((await session(id)).epoch).toBe(1);
});

test("the gateway stores a packet once that is sent again from another address", async () => {
  const { uid, id } = await registered();
  const [before, after] = [await phone(), await phone()];
  const fix = gpsFix(world.clock.nowMs(), 41.9, 12.5);
  before.send(uid, 1, [fix]);
  await before.until("ok 1");
  after.send(uid, 1, [fix]);
  after.send(uid, 2, [vitals({ hr: 71 })]);
  await after.until("ok 2");
  expect(await world.db.many`select 1 from locations where device_id = ${id}`).toHaveLength(1);
  expect((await session(id)).epoch).toBe(2);
  // The old address is not answered any more, unless the device comes back to it.
  expect(before.lines).not.toContain("ok 2");
  before.send(uid, 3);
  await before.until("ok 3");
  expect((await session(id)).epoch).toBe(3);
});

test("the gateway gives an address to the device that speaks from it now", async () => {
  const [one, other] = [await registered(), await registered()];
  const shared = await phone();
  shared.send(one.uid, 1, [vitals({ hr: 61 })]);
  shared.send(other.uid, 2, [vitals({ hr: 62 })]);
  shared.send(one.uid, 3, [vitals({ hr: 63 })]);
  await shared.until("ok 2");
  await shared.until("ok 3");
  expect([await rates(one.id), await rates(other.id)]).toEqual([[61, 63], [62]]);
});

test("the gateway takes a frame without an id as that of the device that spoke last", async () => {
  const { uid, id } = await registered();
  const device = await phone();
  const before = dropped("no_login");
  device.write('{"n":1}\n');
  await vi.waitUntil(() => dropped("no_login") === before + 1, soon);
  device.send(uid, 2);
  await device.until("ok 2");
  device.write(`${JSON.stringify({ n: 3, messages: [vitals({ hr: 90 })] })}\n`);
  await device.until("ok 3");
  expect(await rates(id)).toEqual([90]);
});

test("the gateway counts an unknown id and does not answer it", async () => {
  const uid = nextImei();
  const device = await phone();
  device.send(uid, 1);
  device.send(uid, 2);
  await vi.waitUntil(async () => (await listUnknownDevices(world.db, 100)).some(({ imei }) => imei === uid), soon);
  expect(device.answers).toEqual([]);
  await vi.waitUntil(() => gateway.metric("vigil_gateway_udp_peers") === gateway.metric("vigil_gateway_devices"), soon);
});

test("the gateway drops what is too large and what no protocol begins with", async () => {
  const device = await phone();
  const [large, strange] = [dropped("too_large"), dropped("unrecognized")];
  device.write(`{"id":"${"1".repeat(9000)}"}\n`);
  device.write("GET / HTTP/1.1\r\n\r\n");
  await vi.waitUntil(() => dropped("too_large") === large + 1 && dropped("unrecognized") === strange + 1, soon);
  expect(device.answers).toEqual([]);
});

test("the gateway ends the session when the address is no longer fresh, and opens it again with the next datagram", async () => {
  const brief = await world.open({ protocols: both, limits: { addressFreshMs: 100 } });
  const { uid, id } = await registered();
  const device = await phone(brief.address.port);
  device.send(uid, 1);
  await device.until("ok 1");
  await vi.waitUntil(async () => (await session(id)).disconnected_at !== null, soon);
  device.send(uid, 2);
  await device.until("ok 2");
  expect((await session(id)).epoch).toBe(2);
  await brief.close();
});

test("the gateway bounds what waits while the database is away, and goes on after it", async () => {
  const small = await world.open({ protocols: both, limits: { waitingFrames: 2, waitingDatagrams: 3 } });
  const { uid, id } = await registered();
  const device = await phone(small.address.port);
  device.send(uid, 0);
  await device.until("ok 0");
  const lock = await world.db.connect();
  await lock.query("begin; lock table telemetry in access exclusive mode");
  for (let n = 1; n <= 20; n++) device.send(uid, n, [vitals({ hr: 100 + n })]);
  await vi.waitUntil(() => dropped("waiting_limit", small) === 15, soon);
  await lock.query("commit");
  await lock.end();
  await device.until("ok 5");
  expect(await rates(id)).toEqual([101, 102, 103, 104, 105]);
  for (let n = 6; n <= 20; n++) {
    device.send(uid, n, [vitals({ hr: 100 + n })]);
    await device.until(`ok ${n}`);
  }
  expect(await rates(id)).toHaveLength(20);
  await small.close();
});

test("the gateway bounds the peers of an address and those that are looked up at once", async () => {
  const strict = await world.open({ protocols: both, limits: { connectionsPerAddress: 1 } });
  const [one, other] = [await registered(), await registered()];
  const device = await phone(strict.address.port);
  device.send(one.uid, 1);
  await device.until("ok 1");
  device.send(other.uid, 2);
  await vi.waitUntil(() => dropped("peer_limit", strict) === 1, soon);
  device.send(one.uid, 3);
  await device.until("ok 3");
  await strict.close();
  const closed = await world.open({ protocols: both, limits: { unsettledPeers: 0 } });
  const turnedAway = await phone(closed.address.port);
  turnedAway.send(one.uid, 4);
  await vi.waitUntil(() => dropped("peer_limit", closed) === 1, soon);
  await closed.close();
});

test("the gateway opens UDP on dedicated ports of protocols that speak it, and not at all when it is off", async () => {
  const spoken = await world.open({
    protocols: [testProtocol("watch"), ...both],
    dedicatedPorts: [
      { protocol: "iw", port: 0 },
      { protocol: "watch", port: 0 },
    ],
  });
  const { uid } = await registered();
  const device = await phone(spoken.ports.get("iw"));
  device.send(uid, 1);
  await device.until("ok 1");
  await spoken.close();
  const off = await world.open({ protocols: both, udp: false });
  expect(off.isUdpOpen).toBe(false);
  const unheard = await phone(off.address.port);
  unheard.send(uid, 2);
  const tracker = await off.tracker(uid);
  expect(unheard.answers).toEqual([]);
  await tracker.close();
  await off.close();
});
