import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";
import { testProtocol } from "../support/test-protocol.ts";
import { openUdpDevice } from "../support/udp-device.ts";

const nextImei = imeis();
const soon = { timeout: 10_000, interval: 10 };
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld();
  gateway = await world.open({ protocols: [testProtocol("iw", ["tcp", "udp"])] });
});
afterAll(() => world.close());

const takeovers = (): number => gateway.metric("vigil_gateway_takeovers_total");
const audited = (uid: string): Promise<{ additional_data: { reason: string } }[]> =>
  world.db.many`select additional_data from audit_log where object_repr = ${uid} order by id`;

test("the gateway leaves a trace of one datagram that takes over a TCP connection, though it shows the same address", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const tracker = await gateway.tracker(uid);
  const before = takeovers();
  const forger = await openUdpDevice(gateway.address.port);
  forger.send(uid, 1, [vitals({ hr: 200 })]);
  await tracker.untilClosed();
  await vi.waitUntil(async () => (await audited(uid)).length === 1, soon);
  expect(await audited(uid)).toEqual([{ additional_data: expect.objectContaining({ reason: "takeover" }) }]);
  expect(takeovers()).toBe(before + 1);
  // The device comes back and has its connection again; the forger hears nothing of what is said to it.
  const back = await gateway.tracker(uid);
  back.send(2);
  await back.until("ok 2");
  expect(forger.lines).not.toContain("ok 2");
  const { transport } = await world.db.one<{ transport: string }>`
    select transport from device_sessions where device_id = ${id}`;
  expect(transport).toBe("tcp");
  forger.close();
  await back.close();
});

test("the gateway makes an event of datagrams that take a connection over again and again", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const forger = await openUdpDevice(gateway.address.port);
  for (let round = 1; round <= 6; round++) {
    const tracker = await gateway.tracker(uid);
    forger.send(uid, round);
    await tracker.untilClosed();
    await forger.until(`ok ${round}`);
  }
  await vi.waitUntil(
    async () => (await world.db.many`select 1 from events where device_id = ${id} and event_type = 220`).length === 1,
    soon,
  );
  forger.close();
});

test("the gateway takes a device that changes its port for the same one", async () => {
  const uid = nextImei();
  await world.addDevice(uid);
  const before = takeovers();
  for (let n = 1; n <= 3; n++) {
    const device = await openUdpDevice(gateway.address.port);
    device.send(uid, n);
    await device.until(`ok ${n}`);
    device.close();
  }
  expect(takeovers()).toBe(before);
  expect(await audited(uid)).toEqual([]);
});
