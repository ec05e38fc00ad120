import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type BreakingProxy, openBreakingProxy } from "../../test/support/breaking-proxy.ts";
import { withEmbedded } from "../../test/support/embedded-client.ts";
import { iwLogin, iwPosition } from "../../test/support/fleet.ts";
import { freeLowPort } from "../../test/support/free-port.ts";
import { openSocketDevice } from "../../test/support/socket-device.ts";
import {
  type Credentials,
  makeCredentials,
  type RunningVigil,
  startVigil,
  tempFolder,
} from "../../test/support/vigil-process.ts";
import { createClient, type VigilClient } from "../src/vigil-client.ts";

const uids = Array.from({ length: 60 }, (_, n) => String(490_154_203_237_000 + n));
const uid = uids[0] as string;
const positions = 150;

let folder: Awaited<ReturnType<typeof tempFolder>>;
let ports: { http: string; gateway: string };
let service: RunningVigil;
let credentials: Credentials;
let proxy: BreakingProxy;
/** Of the answers that came; 0 for a connection that broke. */
let statuses: number[];
let client: VigilClient;

const start = (): Promise<RunningVigil> =>
  startVigil(["--data-dir", folder.path, "--port", ports.http, "--gateway-port", ports.gateway], {
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_TOKEN_TTL_SECONDS: "10",
  });

beforeAll(async () => {
  folder = await tempFolder();
  ports = { http: await freeLowPort(), gateway: await freeLowPort() };
  service = await start();
  credentials = await makeCredentials(["--data-dir", folder.path]);
  proxy = await openBreakingProxy(Number(ports.http));
});
afterAll(async () => {
  await proxy.close();
  await service.kill("SIGTERM");
  await folder.remove();
});
beforeEach(() => {
  statuses = [];
  client = createClient({
    baseUrl: proxy.url,
    clientId: credentials.client_id,
    clientSecret: credentials.client_secret,
    // A start takes half a minute on a busy machine.
    maxRetries: 40,
    fetch: async (url, init) => {
      try {
        const answer = await fetch(url, init);
        statuses.push(answer.status);
        return answer;
      } catch (error) {
        statuses.push(0);
        throw error;
      }
    },
  });
});
afterEach(() => proxy.breakAnswers(0));

const query = <T extends object>(sql: string): Promise<T[]> =>
  withEmbedded(folder.path, async (db) => (await db.query<T>(sql)).rows);
const storedLocations = async (): Promise<string[]> =>
  (await query<{ id: string }>("select id from locations order by ts, id")).map(({ id }) => id);
const postmasterPid = (): number =>
  Number(readFileSync(join(folder.path, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")[0]);

/** Both kinds of lists and the log, each broken once within its rows. */
async function readAll(disturb: () => unknown): Promise<{ devices: string[]; locations: string[]; log: string[] }> {
  const collect = async <T>(rows: AsyncIterable<T>, keyOf: (row: T) => string, at: number): Promise<string[]> => {
    const found: string[] = [];
    for await (const row of rows) {
      found.push(keyOf(row));
      if (found.length === at) await disturb();
    }
    return found;
  };
  return {
    devices: await collect(client.devices.list({ ordering: "uid", page_size: 7 }), (device) => device.uid, 10),
    locations: await collect(
      client.locations.list(uid, { ordering: "ts", page_size: 20 }),
      (location) => location.id,
      45,
    ),
    log: await collect(client.outboundEvents.list({ limit: 10 }), (event) => event.id, 25),
  };
}

async function expectExact(found: Awaited<ReturnType<typeof readAll>>): Promise<void> {
  const log = await query<{ id: string }>("select id from outbound_events order by id");
  expect(found.devices).toEqual(uids);
  expect(found.locations).toEqual(await storedLocations());
  expect(found.log).toEqual(log.map(({ id }) => id));
}

describe("a client of a service that fails", () => {
  it("creates each thing once while answers are lost", async () => {
    proxy.breakAnswers(0.25);
    for (const one of uids) await client.devices.create({ uid: one, device_model_slug: "iw-h10" });
    proxy.breakAnswers(0);
    expect((await client.devices.list({ ordering: "uid" }).toArray()).map((device) => device.uid)).toEqual(uids);
    expect(statuses).toContain(0);
    const watch = await openSocketDevice(Number(ports.gateway));
    watch.write(Buffer.from(iwLogin(uid)));
    const baseMs = Date.now() - 3_600_000;
    for (let n = 0; n < positions; n++) watch.write(Buffer.from(iwPosition(baseMs + n * 1000)));
    await expect.poll(async () => (await storedLocations()).length, { timeout: 60_000 }).toBe(positions);
    watch.close();
  });

  // Three starts, each of them slow on a busy machine.
  it("misses and doubles no row when the service is killed within an iteration", { timeout: 600_000 }, async () => {
    let starting: Promise<RunningVigil> | undefined;
    const found = await readAll(async () => {
      service = (await starting) ?? service;
      await service.kill("SIGKILL");
      starting = start();
    });
    service = (await starting) ?? service;
    expect(statuses.filter((status) => status === 0).length).toBeGreaterThan(2);
    await expectExact(found);
  });

  it("misses and doubles no row when connections break and answers end early", async () => {
    proxy.breakAnswers(0.3);
    const found = await readAll(() => proxy.cut());
    proxy.breakAnswers(0);
    expect(proxy.broken()).toBeGreaterThan(0);
    await expectExact(found);
  });

  it("misses and doubles no row while the database is away", async () => {
    await expect
      .poll(
        async () => {
          await expectExact(await readAll(() => process.kill(postmasterPid(), "SIGKILL")));
          return statuses;
        },
        { timeout: 120_000 },
      )
      .toContain(503);
  });

  it("misses and doubles no row when its token ends or is revoked", async () => {
    await expect
      .poll(
        async () => {
          await expectExact(await readAll(() => query("delete from access_tokens")));
          return statuses;
        },
        { timeout: 120_000 },
      )
      .toContain(401);
  });

  it("misses and doubles no row when it has used up its quota", async () => {
    await query("update organizations set per_minute = 12");
    await expect
      .poll(
        async () => {
          const rows = await client.devices.list({ ordering: "uid", page_size: 10 }).toArray();
          expect(rows.map((device) => device.uid)).toEqual(uids);
          return statuses;
        },
        { timeout: 150_000 },
      )
      .toContain(429);
  });
});
