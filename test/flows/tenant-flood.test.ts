import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { GatewayLimits } from "../../src/gateway/gateway-limits.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { HeldIngest } from "../support/held-ingest.ts";
import type { Tracker } from "../support/tracker.ts";
import { until } from "../support/until.ts";

/** Devices of one organization send more than the gateway may keep; none of it is committed until the test says so. */
const nextImei = imeis();
const chunkBytes = 64 * 1024;
const framesOfEach = 50;
const frameBytes = 4096;
let world: GatewayWorld;
let calmOrganizationId: string;
let gateway: TestGateway | undefined;
/** Those of the gateway, of all its connections. */
let sockets: Socket[] = [];
const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);

beforeAll(async () => {
  world = await openGatewayWorld();
  calmOrganizationId = await world.addOrganization();
  subscribe("net.server.socket", onSocket);
});
afterEach(async () => {
  await gateway?.close();
  sockets = [];
});
afterAll(async () => {
  unsubscribe("net.server.socket", onSocket);
  await world.close();
});

async function open(limits: Partial<GatewayLimits>) {
  let ingest: HeldIngest | undefined;
  gateway = await world.open({
    // Nobody is woken by the sweep.
    limits: { packetBurst: 100_000, sweepEveryMs: 60_000, ...limits },
    wrapIngest: (inner) => {
      // A login is committed, or nobody could send anything.
      const isHeld = ({ hold, frame }: { hold: { device: { organizationId: string } }; frame: { raw: Buffer } }) =>
        hold.device.organizationId === world.organizationId && !frame.raw.includes("login");
      ingest = new HeldIngest(inner, isHeld);
      return ingest;
    },
  });
  return { gateway, ingest: ingest as unknown as HeldIngest };
}

async function connect(from: TestGateway, organizationId = world.organizationId): Promise<Tracker> {
  const uid = nextImei();
  await world.addDevice(uid, { organizationId });
  return from.tracker(uid);
}

const frame = (n: number): string => {
  const start = `{"n":${n},"messages":[],"padding":"`;
  return `${start}${"x".repeat(frameBytes - start.length - 3)}"}\n`;
};
const backlog = Array.from({ length: framesOfEach }, (_, n) => frame(n)).join("");

async function flood(from: TestGateway, count: number): Promise<Tracker[]> {
  const fleet = await Promise.all(Array.from({ length: count }, () => connect(from)));
  for (const tracker of fleet) tracker.write(backlog);
  return fleet;
}

/** From the sockets of these devices. */
function bytesRead(fleet: readonly Tracker[]): number {
  const ports = new Set(fleet.map(({ socket }) => socket.localPort));
  return sockets.reduce((sum, { remotePort, bytesRead }) => sum + (ports.has(remotePort) ? bytesRead : 0), 0);
}

/** What was read once nothing more is, with the answers of another organization's device to tell the time. */
async function readInAll(fleet: readonly Tracker[], calm: Tracker): Promise<number> {
  for (let n = 0, before = -1; ; n++) {
    const now = bytesRead(fleet);
    if (now === before && n > 20) return now;
    before = now;
    calm.send(n);
    await calm.until(`ok ${n}`);
  }
}

test("an organization whose devices send without waiting is read up to twice its budget, and others are answered", async () => {
  const tenantBytes = 256 * 1024;
  const { gateway, ingest } = await open({ tenantBytes, queuedBytes: 4 * tenantBytes });
  const calm = await connect(gateway, calmOrganizationId);
  const fleet = await flood(gateway, 24);
  const read = await readInAll(fleet, calm);
  expect(read).toBeGreaterThan(tenantBytes);
  expect(read).toBeLessThan(2 * tenantBytes + chunkBytes);
  expect(gateway.metric("vigil_gateway_paused")).toBe(0);
  ingest.release();
  for (const tracker of fleet) await tracker.until(`ok ${framesOfEach - 1}`);
});

test("an organization with twice its budget lets a device in, and none that sends a backlog with its login", async () => {
  const tenantBytes = 256 * 1024;
  const { gateway, ingest } = await open({ tenantBytes, queuedBytes: 4 * tenantBytes });
  const calm = await connect(gateway, calmOrganizationId);
  const fleet = await flood(gateway, 24);
  await readInAll(fleet, calm);
  await connect(gateway);
  const eager = await gateway.tracker();
  const uid = nextImei();
  await world.addDevice(uid);
  eager.write(`{"login":"${uid}"}\n${backlog}`);
  await eager.untilClosed();
  expect(gateway.metric('vigil_gateway_connections_closed_total{reason="unlogged_limit"}')).toBe(1);
  ingest.release();
  for (const tracker of fleet) await tracker.until(`ok ${framesOfEach - 1}`);
  const again = await gateway.tracker();
  again.write(`{"login":"${uid}"}\n${backlog}`);
  await again.until(`ok ${framesOfEach - 1}`);
});

test("a silent device of a flooded organization is heard", async () => {
  const tenantBytes = 6 * chunkBytes;
  const { gateway, ingest } = await open({ tenantBytes, queuedBytes: 4 * tenantBytes });
  const silent = await connect(gateway);
  const calm = await connect(gateway, calmOrganizationId);
  const fleet = await flood(gateway, 4);
  // One chunk too many, and then one of each of the others.
  expect(await readInAll(fleet, calm)).toBeLessThan(tenantBytes + 4 * chunkBytes);
  silent.write('{"n":"SOS"}\n');
  await until(() => expect(ingest.held.some(({ frame }) => frame.raw.includes("SOS"))).toBe(true));
  ingest.release();
  for (const tracker of fleet) await tracker.until(`ok ${framesOfEach - 1}`);
});

test("what is read and not decoded counts in what the gateway takes in all", async () => {
  const queuedBytes = 512 * 1024;
  const { gateway, ingest } = await open({ tenantFrames: 20, queuedBytes });
  const fleet = await flood(gateway, 24);
  await until(() => expect(gateway.metric("vigil_gateway_paused")).toBe(1));
  // The bytes of what is decoded count with some that a packet takes beside them.
  expect(bytesRead(fleet)).toBeLessThan(queuedBytes + chunkBytes);
  ingest.release();
  for (const tracker of fleet) await tracker.until(`ok ${framesOfEach - 1}`);
  await until(() => expect(gateway.metric("vigil_gateway_paused")).toBe(0));
});
