import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { Client } from "pg";
import type { Browser, Page } from "playwright-core";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { browserPath, drawsApart, openBrowser } from "../support/browser.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { iwLogin, iwSos } from "../support/fleet.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { type RunningVigil, runVigil, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { watchPage } from "./page-watch.ts";
import type { Row } from "./report.ts";

const deviceCount = 20_000;
const changesPerSecond = 1000;
const batchesPerSecond = 10;
const isQuick = process.argv.includes("--quick");
const measuredMs = isQuick ? 8000 : 20_000;
const streamCount = isQuick ? 200 : 1000;
/** As many as one person may open. */
const streamsPerPerson = 20;
const email = "admin@example.org";
const password = "correct horse battery";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processor time and memory of a process, from its own table. */
function usageOf({ process: child }: RunningVigil): { cpuMs: number; memoryMb: number } {
  const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, memoryMb: Number(rss) / 1024 };
}

/** Processor time per second while something happens, in per cent of one core. */
async function cpuWhile(service: RunningVigil, ms = measuredMs): Promise<number> {
  const [before, started] = [usageOf(service).cpuMs, performance.now()];
  await sleep(ms);
  return ((usageOf(service).cpuMs - before) / (performance.now() - started)) * 100;
}

/** Moves devices as their packets would: place, time and values, so many a second, until it is stopped. */
function drive(db: Client, organizationId: string, perSecond: number): () => Promise<void> {
  let isOn = true;
  const run = async (): Promise<void> => {
    const perBatch = Math.max(1, Math.round(perSecond / batchesPerSecond));
    for (let batch = 0; isOn; batch++) {
      const started = performance.now();
      await db.query(
        `update device_state s set last_seen_at = now(), is_online = true,
           located_at = now(), last_location = json_build_object('lat', 38 + random() * 8, 'lng', 8 + random() * 9, 'accuracy_m', 12,
             'source', 'gps', 'ts', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
           last_status = (s.last_status::jsonb || jsonb_build_object('hr', jsonb_build_object('value', 60 + floor(random() * 50), 'ts',
             to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))::json
         from (select id from devices where organization_id = $1 order by uid offset $2 limit $3) d
         where s.device_id = d.id and s.organization_id = $1`,
        [organizationId, (batch * perBatch) % deviceCount, perBatch],
      );
      await sleep(Math.max(0, 1000 / batchesPerSecond - (performance.now() - started)));
    }
  };
  const running = run();
  return async () => {
    isOn = false;
    await running;
  };
}

/** From the moment a watch calls for help until the page shows it. */
async function timeOfHelp(page: Page, service: RunningVigil, uid: string): Promise<number> {
  const shown = page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector("article")) return false;
      resolve(Date.now());
      return true;
    };
    if (!look()) new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document.body, { childList: true, subtree: true });
  })`);
  const socket = createConnection(Number(service.gateway.split(":").at(-1)), "127.0.0.1");
  socket.write(iwLogin(uid));
  await once(socket, "data");
  const sentAt = Date.now();
  socket.write(iwSos(sentAt));
  const ms = (await shown) - sentAt;
  socket.destroy();
  return ms;
}

async function cookieOf(http: string, address: string): Promise<string> {
  const answer = await fetch(`${http}/console/api/session/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: address, password }),
  });
  if (answer.status !== 204) throw new Error(`no session for ${address}: ${answer.status} ${await answer.text()}`);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;
}

/** An open stream on a socket of its own; what comes is counted and forgotten. */
function openStream(http: string, cookie: string, count: (bytes: number) => void): Promise<Socket> {
  const { hostname, port, host } = new URL(http);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`GET /console/api/stream/ HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(new Error("the stream was closed")));
    socket.on("data", (chunk) => {
      const [head = ""] = chunk.toString("latin1").split("\r\n", 1);
      if (head.startsWith("HTTP/1.1 ") && !head.startsWith("HTTP/1.1 200")) reject(new Error(`no stream: ${head}`));
      count(chunk.length);
      resolve(socket);
    });
  });
}

/** Copies of one member, so that nobody waits for a thousand passwords to be hashed. */
async function addPeople(db: Client, organizationId: string, count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, index) => `watcher-${index}@example.org`);
  const columns = "password_hash, password_changed_at, created_at, updated_at";
  await db.query(
    `with people as (
       insert into users (id, email, ${columns})
       select gen_random_uuid(), e, ${columns} from users, unnest($1::text[]) e where users.email = $2
       returning id, email)
     insert into memberships (id, organization_id, user_id, email, role, first_name, last_name, phone_number, search,
       joined_at, created_at, updated_at)
     select gen_random_uuid(), $3, id, email, 30, '', '', '', email, date_trunc('milliseconds', now()), now(), now() from people`,
    [emails, email, organizationId],
  );
  return emails;
}

async function benchBrowser(browser: Browser, service: RunningVigil, db: Client, id: string): Promise<Row[]> {
  const cpuAlone = await (async () => {
    const stop = drive(db, id, changesPerSecond);
    const cpu = await cpuWhile(service);
    await stop();
    return cpu;
  })();
  const page = await browser.newPage({ locale: "en-GB", viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(120_000);
  await page.goto(`${service.http}/console/`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  const started = performance.now();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText(/^20.?000 devices$/).waitFor();
  const loadMs = performance.now() - started;
  await page.locator(".map canvas").waitFor();
  await sleep(10_000);
  const idle = await watchPage(page, measuredMs);
  const stop = drive(db, id, changesPerSecond);
  await sleep(3000);
  const [busy, cpuOpen] = await Promise.all([watchPage(page, measuredMs), cpuWhile(service)]);
  const helpMs = await timeOfHelp(page, service, "350000000000001");
  let bytes = 0;
  const counted = await openStream(service.http, await cookieOf(service.http, email), (more) => {
    bytes += more;
  });
  await sleep(measuredMs);
  counted.removeAllListeners("close").destroy();
  await stop();
  await page.close();
  console.log(`  fleet of ${deviceCount} shown after ${Math.round(loadMs)} ms`);
  console.log(`  main thread, nothing changes: ${JSON.stringify(idle)}`);
  console.log(`  main thread, ${changesPerSecond} changes a second: ${JSON.stringify(busy)}`);
  console.log(`  a call for help of a watch is shown after ${helpMs} ms meanwhile`);
  console.log(`  a stream carries ${Math.round(bytes / (measuredMs / 1000) / 1000)} kB a second`);
  const row = (what: string, ours: number, bare: number, unit: string): Row => ({
    what,
    ours,
    bare,
    unit,
    ratios: [ours / Math.max(bare, 1)],
  });
  return [
    row("frames per second, changing against idle", busy.framesPerSecond, idle.framesPerSecond, "fps"),
    row("longest task, changing against idle", busy.longestTaskMs, idle.longestTaskMs, "ms"),
    row("scripts on the main thread, changing against idle", busy.scripts, idle.scripts, "% of the time"),
    row("server, one console against none", cpuOpen, cpuAlone, "% of a core"),
  ];
}

async function benchStreams(service: RunningVigil, db: Client, id: string): Promise<Row[]> {
  const people = await addPeople(db, id, Math.ceil(streamCount / streamsPerPerson));
  const cookies: string[] = [];
  for (const one of people) cookies.push(await cookieOf(service.http, one));
  // Passwords take memory while they are hashed, and a stream before those that count takes what all share.
  const first = await openStream(service.http, cookies[0] as string, () => undefined);
  await sleep(3000);
  first.removeAllListeners("close").destroy();
  const before = usageOf(service).memoryMb;
  const sockets: Socket[] = [];
  let bytes = 0;
  for (const cookie of cookies) {
    const opened = Array.from({ length: streamsPerPerson }, () =>
      openStream(service.http, cookie, (more) => {
        bytes += more;
      }),
    );
    sockets.push(...(await Promise.all(opened)));
  }
  await sleep(3000);
  const quietCpu = await cpuWhile(service);
  const memory = usageOf(service).memoryMb - before;
  bytes = 0;
  const stop = drive(db, id, batchesPerSecond);
  const busyCpu = await cpuWhile(service);
  await stop();
  const perStream = bytes / sockets.length / (measuredMs / 1000);
  for (const socket of sockets) socket.removeAllListeners("close").destroy();
  const [kbEach, totalMb] = [Math.round((memory * 1024) / sockets.length), Math.round(before + memory)];
  console.log(
    `  ${sockets.length} streams: ${Math.round(memory)} MB more (${kbEach} kB each, ${totalMb} MB in all), ${Math.round(perStream)} bytes a second each`,
  );
  return [
    {
      what: `${sockets.length} open streams, ${batchesPerSecond} changes a second against none`,
      ours: busyCpu,
      bare: quietCpu,
      unit: "% of a core",
      ratios: [busyCpu / Math.max(quietCpu, 1)],
    },
  ];
}

/** A console that watches 20,000 devices of which 1,000 change every second, and 1,000 open streams on one process. */
export async function benchConsole(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const env = { DATABASE_URL: embeddedUrl(server.connection) };
  const service = await startVigil([], env);
  const db = new Client({ connectionString: env.DATABASE_URL });
  await db.connect();
  let browser: Browser | undefined;
  try {
    const slug = "care-co";
    const { id } = await vigilJson<{ id: string }>(["org", "create", "--name", "Care Co", "--slug", slug], env);
    const member = ["user", "create", "--org", slug, "--email", email, "--role", "ADMIN", "--password-stdin"];
    const { code, stderr } = await runVigil(member, env, `${password}\n`);
    if (code !== 0) throw new Error(stderr);
    await fillOrganization(db, id, deviceCount, 0);
    const fill = drive(db, id, deviceCount);
    await sleep(5000);
    await fill();
    await db.query("vacuum analyze");
    // First, while the process has done nothing else: memory that was taken once is not given back.
    const rows = await benchStreams(service, db, id);
    if (!browserPath) {
      console.log("  no Chromium is installed: the page is not measured");
      return rows;
    }
    browser = await openBrowser(drawsApart);
    return [...rows, ...(await benchBrowser(browser, service, db, id))];
  } finally {
    await browser?.close();
    await db.end();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}
