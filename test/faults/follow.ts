import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, makeReceiver, type VigilClient } from "../../client/src/vigil-client.ts";
import { type BreakingProxy, openBreakingProxy } from "../support/breaking-proxy.ts";
import { makeAuthority } from "../support/certificates.ts";
import { withEmbedded } from "../support/embedded-client.ts";
import { freeLowPort } from "../support/free-port.ts";
import { openReceiver } from "../support/receiver.ts";
import { type Credentials, type RunningVigil, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";
import { type FollowerOptions, readPages } from "./follower-process.ts";
import { iwMember, startNumbered } from "./numbered-fleet.ts";
import { makeRandom } from "./random.ts";

const watches = 30;
const maxStarts = 5;
const script = fileURLToPath(new URL("follower-process.ts", import.meta.url));
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/**
 * Two partners follow one log while the service is killed with -9 in every round, and before it the database, a connection, a
 * token or one of the partners. One is a program of its own that stores events and cursor together; the other one is woken by
 * webhooks. In the end each has met every row of the log once, in the order of the log.
 */
export async function followFaults({ rounds, seed }: FaultOptions): Promise<boolean> {
  const [random, chance] = [makeRandom(seed), makeRandom(seed + 1)];
  const folder = await tempFolder();
  const authority = makeAuthority();
  await writeFile(join(folder.path, "ca.pem"), authority.ca);
  const receiver = await openReceiver(authority);
  const env = {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_TOKEN_TTL_SECONDS: "8",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
    VIGIL_WEBHOOK_BACKOFF: "0.2,0.5,1",
  };
  const where = ["--data-dir", folder.path];
  const [port, httpPort] = [await freeLowPort(), await freeLowPort()];
  const again = (): Promise<RunningVigil> =>
    supervised(() => startVigil([...where, "--gateway-port", port, "--port", httpPort], env));
  let service = await again();
  const partner = await makePartner(where, env, receiver.port);
  await withEmbedded(folder.path, (db) =>
    db.query("update organizations set per_minute = 1000000, per_hour = 10000000"),
  );
  const proxy = await openBreakingProxy(Number(httpPort), chance);
  const options = { baseUrl: proxy.url, clientId: partner.client_id, clientSecret: partner.client_secret };
  const client = createClient(options);
  const uids = await register(client);
  const pushed = followHere(client, partner.webhook_secret, receiver);
  const stored = followElsewhere({ ...options, file: join(folder.path, "pages") });
  const baseMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
  const fleet = startNumbered(uids.map(iwMember), "tcp", true, { port: Number(port), baseMs, random: chance });
  const faults: Record<string, () => Promise<void>> = {
    "the database": async () => void process.kill(postmasterPid(folder.path), "SIGKILL"),
    "the connections": async () => proxy.cut(),
    "some answers": () => breakSome(proxy, random),
    "the program": () => stored.restart(),
    "the tokens": () => withEmbedded(folder.path, async (db) => void (await db.query("delete from access_tokens"))),
    nothing: async () => undefined,
  };
  try {
    for (let round = 1; round <= rounds; round++) {
      const [here, there] = [pushed.ids.length, stored.ids().length];
      await until(
        "both have read on",
        () => pushed.ids.length > here + watches && stored.ids().length > there + watches,
      );
      const names = Object.keys(faults);
      const name = names[(round - 1) % names.length] as string;
      await faults[name]?.();
      await pause(random() * 1500);
      await service.kill("SIGKILL");
      await pause(random() * 1000);
      service = await again();
      console.log(
        `  round ${round}: broke ${name}, killed the service at ${pushed.ids.length} and ${stored.ids().length}`,
      );
    }
    for (const device of fleet) device.stop();
    await until("the last packets are settled", () => fleet.every(({ isIdle }) => isIdle));
    const readLog = (): Promise<string[]> =>
      withEmbedded(folder.path, async (db) => {
        const { rows } = await db.query<{ id: string }>("select id from outbound_events order by id");
        return rows.map(({ id }) => id);
      });
    let log = await readLog();
    await until("both are at the end", async () => {
      log = await readLog();
      return pushed.ids.length >= log.length && stored.ids().length >= log.length;
    });
    console.log(`  ${pushed.verified()} events pushed and verified, ${pushed.retries()} times the service was away`);
    return [compare("woken by webhooks", log, pushed.ids), compare("a program of its own", log, stored.ids())].every(
      Boolean,
    );
  } catch (error) {
    console.error(service.stderr().slice(-3000), stored.stderr().slice(-3000));
    throw error;
  } finally {
    for (const device of fleet) device.close();
    await pushed.stop();
    stored.stop();
    await proxy.close();
    await service.kill("SIGTERM");
    await receiver.close();
    await folder.remove();
  }
}

/** As an operator's supervisor does: a start that fails on a busy machine is tried again. */
async function supervised(start: () => Promise<RunningVigil>): Promise<RunningVigil> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === maxStarts) throw error;
      await pause(1000);
    }
  }
}

function compare(name: string, log: readonly string[], ids: readonly string[]): boolean {
  const seen = new Set(ids);
  const missing = log.filter((id) => !seen.has(id)).length;
  const isSame = log.length === ids.length && log.every((id, index) => id === ids[index]);
  const order = isSame ? "in order" : "NOT THE SAME";
  console.log(`  ${name}: ${log.length} rows, ${missing} missed, ${ids.length - seen.size} doubled, ${order}`);
  return isSame && log.length > 0;
}

/** In this process, with an event at a time; a webhook wakes it. */
function followHere(client: VigilClient, secret: string, receiver: Awaited<ReturnType<typeof openReceiver>>) {
  const ids: string[] = [];
  let cursor: string | undefined;
  let [retries, verified] = [0, 0];
  const follower = client.follow({
    pollMs: 1000,
    loadCursor: () => cursor,
    handle: ({ id }) => ids.push(id),
    saveCursor: (id) => {
      cursor = id;
    },
    onRetry: () => retries++,
  });
  const receive = makeReceiver({
    secrets: secret,
    handle: (event) => {
      verified++;
      follower.push(event);
    },
  });
  receiver.answer((call, response) => {
    receive(call.raw, call.headers).then(({ status, body }) => response.writeHead(status).end(body));
    return undefined;
  });
  return { ids, retries: () => retries, verified: () => verified, stop: () => follower.stop() };
}

/** In a process that can be killed. */
function followElsewhere(options: FollowerOptions) {
  let stderr = "";
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(options)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    return child;
  };
  let child = start();
  return {
    ids: () => readPages(options.file).flatMap(({ ids }) => ids),
    stderr: () => stderr,
    restart: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
      child = start();
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

async function breakSome(proxy: BreakingProxy, random: () => number): Promise<void> {
  proxy.breakAnswers(0.3);
  await pause(1000 + random() * 1000);
  proxy.breakAnswers(0);
}

async function makePartner(where: readonly string[], env: Record<string, string>, receiverPort: number) {
  await vigilJson(["org", "create", "--name", "Care Co", "--slug", "care-co", ...where], env);
  const hook = ["--webhook-url", `https://127.0.0.1:${receiverPort}/hook`];
  const create = ["integration", "create", "--org", "care-co", "--name", "App", ...hook, ...where];
  return vigilJson<Credentials & { webhook_secret: string }>(create, env);
}

async function register(client: VigilClient): Promise<string[]> {
  const uids = Array.from({ length: watches }, (_, index) => String(860_000_000_000_000 + index));
  for (const uid of uids) await client.devices.create({ uid, device_model_slug: "iw-h10" });
  return uids;
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 120_000; !(await condition()); await pause(50)) {
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}

const postmasterPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")[0]);
