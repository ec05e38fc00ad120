import { connect } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listUnknownDevices } from "../../src/resources/devices/unknown-device-store.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";

const nextImei = imeis();
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld();
  gateway = await world.open({ proxyNetworks: ["127.0.0.1/32"], limits: { proxyHeaderTimeoutMs: 300 } });
});
afterAll(() => world.close());

const version1 = "PROXY TCP4 203.0.113.7 198.51.100.9 41220 7700\r\n";

/** The address that the gateway notes of a device that nobody has registered. */
async function addressNotedOf(imei: string): Promise<string | undefined> {
  return vi.waitFor(async () => {
    const row = (await listUnknownDevices(world.db, 1000)).find((one) => one.imei === imei);
    expect(row).toBeDefined();
    return row?.remote_addr;
  }, 10_000);
}

test("takes a device's address from the header, and its bytes behind it, however they are cut", async () => {
  const uid = nextImei();
  await world.addDevice(uid);
  const tracker = await gateway.tracker();
  for (const byte of version1) tracker.write(byte);
  tracker.write(`{"login":"${uid}"}\n`);
  await tracker.until("clock");
  tracker.send(1);
  await tracker.until("ok 1");
  await tracker.close();
});

test("notes the address of the device, not that of the proxy", async () => {
  const imei = nextImei();
  const tracker = await gateway.tracker();
  tracker.write(`${version1}{"login":"${imei}"}\n`);
  await tracker.untilClosed();
  expect(await addressNotedOf(imei)).toBe("203.0.113.7");
});

test("answers what came with the header when the peer has already sent its last byte", async () => {
  const uid = nextImei();
  await world.addDevice(uid);
  const { port } = gateway.address;
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.end(`${version1}{"login":"${uid}"}\n{"n":1}\n`);
  await vi.waitFor(() => expect(received).toContain("ok 1"), 10_000);
  socket.destroy();
});

test("closes a proxy that sends no header, a wrong one or nothing", async () => {
  const reason = 'vigil_gateway_connections_closed_total{reason="proxy_header"}';
  const uid = nextImei();
  await world.addDevice(uid);
  for (const bytes of [`{"login":"${uid}"}\n`, "PROXY TCP4 here there 1 2\r\n", "PRO"]) {
    const before = gateway.metric(reason) || 0;
    const tracker = await gateway.tracker();
    tracker.write(bytes);
    await tracker.untilClosed();
    expect(tracker.lines).toEqual([]);
    await vi.waitUntil(() => gateway.metric(reason) === before + 1, { timeout: 10_000, interval: 20 });
  }
});

test("believes no header from an address that is not a proxy, and lets it speak directly", async () => {
  const uid = nextImei();
  await world.addDevice(uid);
  const direct = await gateway.tracker(uid, "127.0.0.2");
  await direct.until("clock");
  await direct.close();
  const liar = await gateway.tracker(undefined, "127.0.0.2");
  liar.write(`${version1}{"login":"${uid}"}\n`);
  await liar.untilClosed();
  expect(liar.lines).toEqual([]);
});

test("closes the gateway to networks by the address in the header", async () => {
  const narrow = await world.open({ proxyNetworks: ["127.0.0.0/8"], networks: ["203.0.113.0/24"] });
  const uid = nextImei();
  await world.addDevice(uid);
  const inside = await narrow.tracker();
  inside.write(`${version1}{"login":"${uid}"}\n`);
  await inside.until("clock");
  const outside = await narrow.tracker();
  outside.write(`${version1.replace("203.0.113.7", "192.0.2.1")}{"login":"${uid}"}\n`);
  await outside.untilClosed();
  expect(outside.lines).toEqual([]);
});
