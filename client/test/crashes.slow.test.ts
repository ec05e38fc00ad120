import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { createIntegration } from "../../src/resources/organizations/integration-store.ts";
import { cliActor } from "../../test/support/api.ts";
import { createTestDatabase } from "../../test/support/database.ts";
import { integrationSettings } from "../../test/support/integration-settings.ts";
import { tell } from "../../test/support/outbound.ts";
import { makeOrganization } from "../../test/support/outbound-world.ts";
import { testSecrets } from "../../test/support/secrets.ts";
import { type RunningVigil, startVigil, tempFolder } from "../../test/support/vigil-process.ts";
import { createClient, type Follower, type VigilClient } from "../src/vigil-client.ts";

const maxRounds = 20;
/** Rounds begin within this time; a start of the service takes from two seconds to many, by the machine. */
const maxTimeMs = 30_000;

/** What a partner keeps: rows and cursor, written together. */
interface PartnerStore {
  ids: string[];
  cursor: string | undefined;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

const followInto = (client: VigilClient, store: PartnerStore): Follower =>
  client.follow({
    pollMs: 50,
    loadCursor: () => store.cursor,
    handleBatch: (events, cursor) => {
      store.ids.push(...events.map(({ id }) => id));
      store.cursor = cursor;
    },
  });

test("follow and lists lose and double nothing while the service is killed again and again", async () => {
  const database = await createTestDatabase();
  const folder = await tempFolder();
  const db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  const clock = makeClock();
  const organization = { id: crypto.randomUUID(), slug: "care" };
  await makeOrganization(db, organization.id, clock.now());
  await db.run`update organizations set per_minute = 100000, per_hour = 1000000 where id = ${organization.id}`;
  const { integration, clientSecret } = await db.transaction((tx) =>
    createIntegration(tx, organization.id, integrationSettings(), cliActor(organization.id), clock.now(), testSecrets),
  );
  const port = String(await freePort());
  const start = (): Promise<RunningVigil> =>
    startVigil(["--data-dir", folder.path, "--port", port, "--roles", "api"], { DATABASE_URL: database.url });
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    clientId: integration.clientId,
    clientSecret,
    maxRetries: 1000,
    timeoutMs: 5000,
  });
  const store: PartnerStore = { ids: [], cursor: undefined };
  let vigil = await start();
  // After the first start, which may have to build the program.
  const startedMs = Date.now();
  let follower = followInto(client, store);
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) {
      await tell({ db, clock }, organization, ["alarm.sos", "alarm.fall"]);
      await new Promise((done) => setTimeout(done, 20));
    }
  })();
  let rounds = 0;
  try {
    for (; rounds < maxRounds && Date.now() - startedMs < maxTimeMs; rounds++) {
      const handled = store.ids.length;
      await expect.poll(() => store.ids.length, { timeout: 30_000, interval: 20 }).toBeGreaterThan(handled + 10);
      await vigil.kill("SIGKILL");
      // Every other time the partner's program ends as well, and begins from what it has stored.
      if (rounds % 2 === 1) await follower.stop();
      vigil = await start();
      if (rounds % 2 === 1) follower = followInto(client, store);
    }
    isWriting = false;
    await writing;
    const rows = await db.many<{ id: string }>`
      select id from outbound_events where integration_id = ${integration.id} order by id`;
    const logged = rows.map(({ id }) => id);
    await expect.poll(() => store.ids.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(logged.length);
    expect(store.ids).toEqual(logged);
    expect(rounds).toBeGreaterThan(0);

    // A list whose service dies between its pages.
    const listed: string[] = [];
    for await (const { id } of client.outboundEvents.list({ limit: 25 })) {
      if (listed.push(id) !== 30) continue;
      await vigil.kill("SIGKILL");
      const starting = start();
      starting.then((next) => {
        vigil = next;
      });
    }
    expect(listed).toEqual(logged);
  } finally {
    isWriting = false;
    await Promise.allSettled([writing, follower.stop()]);
    await vigil.kill("SIGKILL");
    await db.close();
    await folder.remove();
    await database.drop();
  }
});
