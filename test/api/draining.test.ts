import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import { afterEach, describe, expect, it } from "vitest";
import { ok, type Route, route } from "../../src/http/route.ts";
import type { TestApi } from "../support/api.ts";
import { openRawSocket, type RawSocket } from "../support/raw-socket.ts";
import { openPartnerApi } from "../support/world.ts";

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Held {
  api: TestApi;
  socket: RawSocket;
  /** Lets the call go on that the socket waits for. */
  release(): void;
}

/** A kept connection with a call of the route under way. */
async function holdCall(answer: Pick<Route, "handle" | "responses" | "produces">): Promise<Held> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const held = route({
    method: "GET",
    path: "/api/v1/held/",
    operationId: "held",
    tag: "Held",
    summary: "Waits",
    partners: [],
    people: "VIEWER",
    ...answer,
    handle: async (context) => {
      arrive();
      await released;
      return answer.handle(context as never);
    },
  });
  const { api, token } = await openPartnerApi({ routes: [held], isPrivate: true });
  closing.push(api.close);
  await api.app.listen({ port: 0, host: "127.0.0.1" });
  const socket = await openRawSocket((api.app.server.address() as AddressInfo).port);
  closing.push(socket.close);
  socket.write(`GET /api/v1/held/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await arrived;
  return { api, socket, release };
}

const written = { responses: { 200: Type.Object({ a: Type.Number() }) }, handle: async () => ok({ a: 1 }) };
const sent = { responses: { 204: null }, handle: async () => ({ status: 204, body: undefined }) };

describe("a call that is under way while the service drains", () => {
  it.each([
    ["that the kernel writes", written],
    ["that the framework writes", sent],
  ])("has an answer %s with Connection: close, and its connection ends", async (_what, answer) => {
    const { api, socket, release } = await holdCall(answer);
    const closed = api.app.close();
    await expect.poll(() => api.app.server.listening).toBe(false);
    release();
    await socket.untilClosed();
    expect(socket.received().toString()).toMatch(/^HTTP\/1\.1 20[04] [\s\S]*\r\nconnection: close\r\n/i);
    await closed;
  });

  it("has Connection: close also when no route can take its path", async () => {
    const { api, release } = await holdCall(written);
    const taken = once(api.app.server, "connection");
    const other = await openRawSocket((api.app.server.address() as AddressInfo).port);
    closing.push(other.close);
    other.write("GET /%zz HTTP/1.1\r\nHost: a\r\n");
    const [connection] = (await taken) as [Socket];
    await expect.poll(() => connection.bytesRead).toBeGreaterThan(0);
    const closed = api.app.close();
    await expect.poll(() => api.app.server.listening).toBe(false);
    other.write("\r\n");
    expect(await other.untilText('"request_id"')).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\nconnection: close\r\n/i);
    release();
    await closed;
  });

  it("keeps its connection while the service runs", async () => {
    const { socket, release } = await holdCall(written);
    release();
    expect(await socket.untilText('{"a":1}')).toMatch(/\r\nconnection: keep-alive\r\n/i);
  });
});
