import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { webhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { eventTypes } from "../../src/resources/events/event-types.ts";
import type { FleetMember } from "../../src/simulator/fleet.ts";
import { makeAuthority } from "../support/certificates.ts";
import { embeddedUrl, withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { freeLowPort } from "../support/free-port.ts";
import { openReceiver } from "../support/receiver.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";
import { iwMember, startNumbered } from "./numbered-fleet.ts";
import { makeRandom } from "./random.ts";

const devicesEach = 40;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** One partner: an organization with devices, an integration with a webhook, and what reached it. */
interface Partner {
  path: string;
  uids: string[];
  credentials: Credentials;
  pushed: Map<string, Envelope>;
}

interface Envelope {
  id: string;
  type: string;
  partner_integration_id: string;
  device: { uid: string };
  data: { location_id?: string; telemetry_id?: string; event_id?: string };
}

/**
 * Devices of two organizations send numbered packets while the service, a second worker, the database and the receiver are killed
 * or cut at random. In the end what each partner got, by push and by replay, is exactly what the tables of its organization say.
 */
export async function outboundFaults({ rounds, seed }: FaultOptions): Promise<boolean> {
  // Devices and answers draw from a source of their own: how often they do depends on the machine.
  const [random, chance] = [makeRandom(seed), makeRandom(seed + 1)];
  const [folder, workerFolder] = [await tempFolder(), await tempFolder()];
  const authority = makeAuthority();
  await writeFile(join(folder.path, "ca.pem"), authority.ca);
  let receiver = await openReceiver(authority);
  const env = {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
    VIGIL_WEBHOOK_BACKOFF: "0.2,0.5,1,1,2,2,2,2",
    VIGIL_WEBHOOK_TIMEOUT_MS: "2000",
  };
  const port = await freeLowPort();
  let service = await startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
  const workerEnv = { ...env, DATABASE_URL: await databaseUrl(folder.path) };
  const startWorker = (): Promise<RunningVigil> =>
    startVigil(["--roles", "worker", "--data-dir", workerFolder.path], workerEnv);
  let worker = await startWorker();
  const partners = await Promise.all(
    ["/one", "/two"].map((path, index) => makePartner(folder.path, env, receiver.port, path, index)),
  );
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const options = { port: Number(port), baseMs, random: chance };
  const fleet = partners.flatMap(({ uids }) => {
    const watches = uids.map(iwMember);
    const hasNoClock = (_: FleetMember, index: number): boolean => index % 4 === 0;
    return [
      ...startNumbered(watches.filter(hasNoClock), "tcp", false, options),
      ...startNumbered(
        watches.filter((watch, index) => !hasNoClock(watch, index)),
        "tcp",
        true,
        options,
      ),
    ];
  });
  const total = (): number => fleet.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  const collect = (): void => {
    for (const call of receiver.calls.splice(0)) {
      const partner = partners.find(({ path }) => call.path === `POST ${path}`);
      partner?.pushed.set(call.id, JSON.parse(call.raw.toString()) as Envelope);
    }
  };
  const accept = (): void => receiver.answer(() => (chance() < 0.05 ? 500 : 200));
  const faults: Record<string, () => Promise<void>> = {
    "killed the service": async () => {
      await service.kill("SIGKILL");
      service = await startVigil(["--data-dir", folder.path, "--gateway-port", port], env);
    },
    "killed the second worker": async () => {
      await worker.kill("SIGKILL");
      worker = await startWorker();
    },
    "killed the database": async () => void process.kill(postmasterPid(folder.path), "SIGKILL"),
    "cut the receiver": async () => receiver.cut(),
    "took the receiver away": async () => {
      const at = receiver.port;
      await receiver.close();
      collect();
      await pause(300 + random() * 1500);
      receiver = await openReceiver(authority, { port: at });
    },
    "let the receiver hang": async () => {
      receiver.answer(() => undefined);
      await pause(500 + random() * 2500);
      receiver.cut();
    },
  };
  try {
    accept();
    for (let round = 1; round <= rounds; round++) {
      const before = total();
      await until("packets are acknowledged", () => total() > before + fleet.length);
      await pause(200 + random() * 800);
      const names = Object.keys(faults);
      const name = names[Math.floor(random() * names.length)] as string;
      await faults[name]?.();
      accept();
      collect();
      console.log(`  round ${round}: ${name} at ${total()} acknowledged, ${sizes(partners)} pushed`);
    }
    for (const device of fleet) device.stop();
    await until("the last packets are settled", () => fleet.every(({ isIdle }) => isIdle));
    receiver.answer(200);
    await withEmbedded(folder.path, (client) => settle(client, partners, collect));
    let isExact = true;
    for (const partner of partners) {
      const replayed = await replay(service.http, partner.credentials);
      isExact = (await withEmbedded(folder.path, (client) => verify(client, partner, replayed))) && isExact;
    }
    return isExact;
  } catch (error) {
    console.error(service.stderr().slice(-3000), worker.stderr().slice(-3000));
    throw error;
  } finally {
    for (const device of fleet) device.close();
    await worker.kill("SIGTERM");
    await service.kill("SIGTERM");
    await receiver.close();
    await folder.remove();
    await workerFolder.remove();
  }
}

const sizes = (partners: readonly Partner[]): string => partners.map(({ pushed }) => pushed.size).join(" and ");

async function makePartner(
  dataDir: string,
  env: Record<string, string>,
  receiverPort: number,
  path: string,
  index: number,
): Promise<Partner> {
  const { uids, slug } = await withEmbedded(dataDir, async (client) => {
    const registered = await registerFleet(client, devicesEach, 860_000_000_000_000 + index * 1_000_000);
    const { rows } = await client.query<{ slug: string }>(
      "select o.slug from organizations o join devices d on d.organization_id = o.id where d.uid = $1",
      [registered[0]],
    );
    return { uids: registered, slug: rows[0]?.slug as string };
  });
  const hook = `https://127.0.0.1:${receiverPort}${path}`;
  const options = ["--org", slug, "--name", path, "--webhook-url", hook, "--data-dir", dataDir];
  return { path, uids, credentials: await vigilJson(["integration", "create", ...options], env), pushed: new Map() };
}

async function databaseUrl(dataDir: string): Promise<string> {
  const server = await openEmbeddedServer({ dataDir, log: makeLogger("silent"), purpose: "command" });
  await server.release();
  return embeddedUrl(server.connection);
}

/** Waits until every row of the log was pushed or parked. */
async function settle(client: pg.Client, partners: readonly Partner[], collect: () => void): Promise<void> {
  for (const { credentials, pushed, path } of partners) {
    let missing: string[] = [];
    await until(`everything is pushed to ${path}`, async () => {
      collect();
      const { rows } = await client.query<{ id: string }>(
        `select id from outbound_events e where integration_id = $1 and push_epoch is not null
         and not exists (select from dead_letters d where d.integration_id = e.integration_id and d.id = e.id)`,
        [credentials.id],
      );
      missing = rows.filter(({ id }) => !pushed.has(id)).map(({ id }) => id);
      return missing.length === 0;
    });
  }
}

async function replay(http: string, credentials: Credentials): Promise<Map<string, Envelope>> {
  const authorization = `Bearer ${await fetchTokenOf(http, credentials)}`;
  const found = new Map<string, Envelope>();
  for (let since: string | null = ""; since !== null; ) {
    const query = since === "" ? "" : `&since=${since}`;
    const url = `${http}/api/v1/partner/outbound-events/?limit=500${query}`;
    const answer = await fetch(url, { headers: { authorization } });
    const page = (await answer.json()) as { data: Envelope[]; next_cursor: string | null };
    if (answer.status !== 200) throw new Error(`replay answered ${answer.status}`);
    for (const envelope of page.data) found.set(envelope.id, envelope);
    since = page.next_cursor;
  }
  return found;
}

const outboundEventTypes = Object.values(eventTypes).flatMap(({ number, outboundType }) =>
  outboundType && !webhookEventTypes[outboundType].additive ? [number] : [],
);

async function verify(client: pg.Client, partner: Partner, replayed: Map<string, Envelope>): Promise<boolean> {
  const union = new Map([...partner.pushed, ...replayed]);
  const ids = async (sql: string, ...more: unknown[]): Promise<string[]> =>
    (await client.query<{ id: string }>(sql, [partner.uids, ...more])).rows.map(({ id }) => id);
  const ofDevices = "device_id in (select id from devices where uid = any($1))";
  const sources = [
    ...(await ids(`select id from locations where ${ofDevices} and invalid_reason is null`)),
    ...(await ids(
      `select id from telemetry where ${ofDevices} and data ?| array['hr','sbp','dbp','spo2','temp','glucose']`,
    )),
    ...(await ids(`select id from events where ${ofDevices} and event_type = any($2)`, outboundEventTypes)),
  ];
  const sent = [...union.values()].map(({ data }) => data.location_id ?? data.telemetry_id ?? data.event_id ?? "?");
  const [sentSet, sourceSet] = [new Set(sent), new Set(sources)];
  const missing = sources.filter((id) => !sentSet.has(id)).length;
  const extra = sent.filter((id) => !sourceSet.has(id)).length;
  const doubled = sent.length - sentSet.size;
  const own = new Set(partner.uids);
  const foreign = [...union.values()].filter(
    ({ partner_integration_id, device }) => partner_integration_id !== partner.credentials.id || !own.has(device.uid),
  ).length;
  const unreplayed = [...partner.pushed.keys()].filter((id) => !replayed.has(id)).length;
  console.log(
    `  ${partner.path}: ${sources.length} in the tables, ${partner.pushed.size} pushed, ${replayed.size} replayed: ${missing} missing, ${extra} extra, ${doubled} doubled, ${foreign} of others, ${unreplayed} pushed but not replayed`,
  );
  return sources.length > 0 && missing + extra + doubled + foreign + unreplayed === 0;
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 120_000; !(await condition()); await pause(50)) {
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}

const postmasterPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")[0]);
