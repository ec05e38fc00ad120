import { Agent, request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { openRawSocket } from "../support/raw-socket.ts";

/** Phones speak HTTP to the port of the trackers. */
let world: CommandWorld;
let gateway: TestGateway;
let uid: string;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
  uid = await world.device("osmand-generic");
});
afterAll(() => world.close());

interface Answer {
  status: number;
  body: string;
}

function call(
  path: string,
  options: { method?: string; type?: string; body?: string; agent?: Agent } = {},
): Promise<Answer> {
  const { method = "GET", type, body, agent } = options;
  return new Promise((resolve, reject) => {
    const headers = {
      ...(type ? { "Content-Type": type } : {}),
      ...(body ? { "Content-Length": Buffer.byteLength(body) } : {}),
    };
    const outgoing = request(
      { host: "127.0.0.1", port: gateway.address.port, path, method, headers, agent },
      (incoming) => {
        let text = "";
        incoming.on("data", (chunk) => {
          text += String(chunk);
        });
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, body: text }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** A client that says all it has to say and ends its side. */
async function halfClosed(text: string) {
  const socket = connect({ host: "127.0.0.1", port: gateway.address.port, allowHalfOpen: true });
  let received = "";
  let isClosed = false;
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.on("end", () => {
    isClosed = true;
  });
  socket.end(text);
  await new Promise((resolve) => socket.once("finish", resolve));
  return { received: () => received, isClosed: () => isClosed };
}

const stored = { status: 200, body: "" };
const seconds = (): number => Math.floor(Date.now() / 1000);
const get = async (path: string) => (await world.api.call("GET", path, { token: world.integration.token })).body;
const latest = () => get(`/api/v1/devices/${uid}/locations/latest/`);

describe("with an HTTP client", () => {
  it("stores the query before it answers", async () => {
    expect(await call(`/?id=${uid}&lat=41.902782&lon=12.496366&timestamp=${seconds()}&speed=2&batt=64`)).toEqual(
      stored,
    );
    expect(await latest()).toMatchObject({ lat: 41.902782, lng: 12.496366, speed_kmh: 3.7, source: "gps" });
    expect((await get(`/api/v1/devices/${uid}/`)).last_status.bat.value).toBe(64);
  });

  it("takes a form, and JSON with an alarm", async () => {
    const form = { method: "POST", type: "application/x-www-form-urlencoded" };
    expect(await call("/", { ...form, body: `id=${uid}&lat=41.91&lon=12.5&timestamp=${seconds()}` })).toEqual(stored);
    const location = {
      timestamp: new Date().toISOString(),
      coords: { latitude: 41.92, longitude: 12.51, speed: -1, heading: -1, accuracy: 8, altitude: 20 },
      battery: { level: 0.5, is_charging: false },
      alarm: "sos",
    };
    const body = JSON.stringify({ device_id: uid, location });
    expect(await call("/", { method: "POST", type: "application/json", body })).toEqual(stored);
    expect((await get(`/api/v1/events/?device_uid=${uid}&event_type=sos`)).results).toHaveLength(1);
  });

  it("answers many requests on one connection", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = gateway.metric("vigil_gateway_connections_opened_total");
    for (let round = 0; round < 5; round++) {
      expect(await call(`/?id=${uid}&lat=41.9${round}&lon=12.5&timestamp=${seconds()}`, { agent })).toEqual(stored);
    }
    expect(gateway.metric("vigil_gateway_connections_opened_total") - before).toBe(1);
    agent.destroy();
  });

  const unknown = "490154299999990";
  it.each([
    ["a query", `/?id=${unknown}&lat=1&lon=2`, {}],
    ["a form", "/", { method: "POST", type: "application/x-www-form-urlencoded", body: `id=${unknown}&lat=1&lon=2` }],
    ["JSON", "/", { method: "POST", type: "application/json", body: `{"device_id":"${unknown}"}` }],
  ])("says 404 to an unknown id in %s", async (_, path, options) =>
    expect(await call(path, options)).toEqual({ status: 404, body: "" }),
  );

  it.each([
    ["no id", "/?lat=1&lon=2", {}],
    ["coordinates that are nowhere", "/?id=UID&lat=91&lon=2", {}],
    ["a number that is none", "/?id=UID&lat=x&lon=2", {}],
    ["a time that is none", "/?id=UID&lat=1&lon=2&timestamp=yesterday", {}],
    ["a body that is no JSON", "/", { method: "POST", type: "application/json", body: "{" }],
    ["another method", "/?id=UID", { method: "PUT" }],
  ])("says 400 to %s", async (_, path, options) =>
    expect(await call(path.replace("UID", uid), options)).toEqual({ status: 400, body: "" }),
  );
});

describe("on a raw socket", () => {
  const head = (more = ""): string => `GET /?id=${uid}&lat=41.9&lon=12.5 HTTP/1.1\r\nHost: vigil\r\n${more}\r\n`;

  it("takes a request that comes byte by byte", async () => {
    const socket = await openRawSocket(gateway.address.port);
    for (const byte of head()) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await socket.untilText("\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive/,
    );
    socket.close();
  });

  it("closes when it was asked to, and after a request of HTTP/1.0", async () => {
    for (const text of [head("Connection: close\r\n"), head().replace("HTTP/1.1", "HTTP/1.0")]) {
      const socket = await openRawSocket(gateway.address.port);
      socket.write(text);
      await socket.untilClosed();
      expect(socket.received().toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 0\r\nConnection: close/);
    }
  });

  it("answers a client that has sent its last byte, and only after the commit", async () => {
    const lock = await world.api.db.connect();
    await lock.query("begin; lock table locations in access exclusive mode");
    const [known, unknown] = [head(), head().replace(uid, "490154209999999")];
    const [waiting, refused] = [await halfClosed(known), await halfClosed(unknown)];
    await vi.waitUntil(() => refused.isClosed(), { timeout: 10_000 });
    expect(refused.received()).toMatch(/^HTTP\/1\.1 404 Not Found/);
    expect([waiting.received(), waiting.isClosed()]).toEqual(["", false]);
    await lock.query("commit");
    await lock.end();
    await vi.waitUntil(() => waiting.isClosed(), { timeout: 10_000 });
    expect(waiting.received()).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it("answers requests in order, and the bad one last", async () => {
    const socket = await openRawSocket(gateway.address.port);
    socket.write(`${head()}${head()}GET /?id=${uid}&lat=91&lon=0 HTTP/1.1\r\n\r\n`);
    await socket.untilClosed();
    expect(
      socket
        .received()
        .toString()
        .match(/HTTP\/1\.1 \d+/g),
    ).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 400"]);
  });

  it.each([
    ["a body without a length", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nid=12\r\n0\r\n\r\n"],
    ["a body that is too long", "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nid"],
    ["a head without an end", `GET /?${"x".repeat(9000)}`],
  ])("refuses %s", async (_, text) => {
    const socket = await openRawSocket(gateway.address.port);
    socket.write(text);
    await socket.untilClosed();
    expect(socket.received().toString()).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  });
});
