import { connect } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { iwLogin, iwPosition, registerFleet } from "../support/fleet.ts";
import { type RunningVigil, startVigil, vigilJson } from "../support/vigil-process.ts";

let database: TestDatabase;
let client: pg.Client;
let service: RunningVigil;
const env = (): Record<string, string> => ({ DATABASE_URL: database.url, VIGIL_GATEWAY_HOST: "127.0.0.1" });

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  service = await startVigil([], env());
});
afterAll(async () => {
  await service.kill("SIGKILL");
  await client.end();
  await database.drop();
});

/** What the service says to a device that sends these frames. */
function talk(frames: string[]): { received: () => string; isClosed: () => boolean } {
  const [host, port] = service.gateway.split(":");
  const socket = connect({ host: host as string, port: Number(port) });
  let received = "";
  let isClosed = false;
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
  });
  for (const frame of frames) socket.write(frame);
  return { received: () => received, isClosed: () => isClosed };
}

test("a registered watch is stored and answered, a stranger is refused and listed, SIGTERM drains", async () => {
  const [uid] = await registerFleet(client, 1);
  const watch = talk([iwLogin(uid as string), iwPosition(Date.now() - 5000)]);
  await vi.waitFor(() => expect(watch.received()).toContain("IWBP01#"), { timeout: 10_000 });
  expect(watch.received()).toMatch(/^IWBP00/);
  const { rows } = await client.query("select lat, source from locations");
  expect(rows).toEqual([{ lat: expect.closeTo(41.9028, 3), source: "gps" }]);
  const stranger = talk([iwLogin("123456789012345")]);
  await vi.waitFor(() => expect(stranger.isClosed()).toBe(true), { timeout: 10_000 });
  expect(stranger.received()).toBe("");
  await vi.waitFor(
    async () =>
      expect(await vigilJson<object[]>(["device", "unknown"], env())).toMatchObject([
        { imei: "123456789012345", protocol: "iw", remote_addr: "127.0.0.1", count: 1 },
      ]),
    { timeout: 20_000, interval: 500 },
  );
  expect(await service.kill("SIGTERM")).toBe(0);
  expect(service.stderr()).not.toContain('"level":50');
  expect(watch.isClosed()).toBe(true);
  const { rows: sessions } = await client.query("select disconnected_at is null as is_open from device_sessions");
  expect(sessions).toEqual([{ is_open: false }]);
});
