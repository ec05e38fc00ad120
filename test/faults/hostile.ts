import { setMaxListeners } from "node:events";
import type pg from "pg";
import { type Attack, dripBytes, floodVoice, guessImeis, openSocket } from "../support/attackers.ts";
import { withEmbedded } from "../support/embedded-client.ts";
import { iwLogin, registerFleet } from "../support/fleet.ts";
import { quantile, SosWatch } from "../support/sos-watch.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";
import { type Heard, startCallers } from "./hostile-callers.ts";
import { makeRandom } from "./random.ts";

const honestDevices = 300;
const floodingDevices = 20;
const contestedDevices = 5;
const searchedRows = 150_000;
const maxP99Ms = 1000;
const maxMemoryMb = 1500;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/**
 * All attacks at once, from many addresses, beside 300 honest watches of another organization that call for help now and then:
 * connections that drip bytes, guessed ids, floods of recordings, takeovers, and callers with and without a token. Every call for
 * help must be answered, and the service must neither grow nor end.
 */
export async function hostileFaults({ seed, minutes = 10, only }: FaultOptions): Promise<boolean> {
  const random = makeRandom(seed);
  const folder = await tempFolder();
  const service = await startVigil(["--data-dir", folder.path], {
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
  });
  const port = Number(service.gateway.split(":").at(-1));
  const [honest, hostile] = await withEmbedded(folder.path, async (client) => [
    await registerFleet(client, honestDevices),
    await registerFleet(client, floodingDevices + contestedDevices, 870_000_000_000_000),
  ]);
  await withEmbedded(folder.path, (client) => fillHistory(client, hostile[0] as string));
  const token = await fetchTokenOf(service.http, await partnerOf(folder.path, hostile[0] as string));
  const watches = honest.map((imei, index) => new SosWatch(port, `127.1.${index % 200}.1`, imei));
  const attacks: Attack[] = [];
  const callers = new AbortController();
  setMaxListeners(0, callers.signal);
  try {
    await Promise.all(watches.map((watch) => watch.loggedIn()));
    const { pid } = service.process;
    let peakMb = await residentMb(service);
    console.log(`  ${honestDevices} watches are in, ${peakMb} MB`);
    attacks.push(...startAttacks(port, hostile, only));
    const heard: Heard = new Map();
    const uid = hostile[0] as string;
    const calling = startCallers({ http: service.http, token, uid, signal: callers.signal }, heard, only);
    const endMs = Date.now() + minutes * 60_000;
    while (Date.now() < endMs) {
      for (const watch of watches) if (random() < 0.01) watch.callForHelp();
      peakMb = Math.max(peakMb, await residentMb(service));
      await pause(200);
    }
    await waitForAnswers(watches);
    callers.abort();
    await calling;
    const times = watches.flatMap((watch) => watch.times);
    const unanswered = watches.filter(({ waitingMs }) => waitingMs > 0).length;
    const p99 = quantile(times, 0.99);
    const isSame = service.process.pid === pid && service.process.exitCode === null;
    console.log(
      `  ${times.length} calls for help answered, ${unanswered} not; p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, slowest ${Math.max(0, ...times).toFixed(0)} ms`,
    );
    console.log(`  answers to hostile callers: ${[...heard].map(([what, count]) => `${what}: ${count}`).join(", ")}`);
    console.log(`  peak memory ${peakMb} MB; ${isSame ? "no restart" : "RESTARTED OR ENDED"}`);
    console.log(`  ${(await metricLines(service)).join("\n  ")}`);
    return unanswered === 0 && times.length > 0 && p99 < maxP99Ms && peakMb < maxMemoryMb && isSame;
  } catch (error) {
    console.error(service.stderr().slice(-4000));
    throw error;
  } finally {
    callers.abort();
    for (const one of [...attacks, ...watches]) one.close();
    await service.kill("SIGTERM");
    await folder.remove();
  }
}

/** History that a hostile partner may search: his own. */
async function fillHistory(client: pg.Client, uid: string): Promise<void> {
  await client.query(
    `insert into telemetry (device_id, ts, id, organization_id, received_at, data)
     select d.id, now() - make_interval(secs => n * 5), gen_random_uuid(), d.organization_id, now(),
       jsonb_build_object('steps', n, 'note', repeat(md5(n::text), 4))
     from devices d, generate_series(1, $2::int) n where d.uid = $1`,
    [uid, searchedRows],
  );
}

/** An integration of the organization that a device belongs to. */
async function partnerOf(dataDir: string, uid: string): Promise<Credentials> {
  const slug = await withEmbedded(dataDir, async (client) => {
    const { rows } = await client.query<{ slug: string }>(
      "select o.slug from organizations o join devices d on d.organization_id = o.id where d.uid = $1",
      [uid],
    );
    return rows[0]?.slug as string;
  });
  return vigilJson(["integration", "create", "--org", slug, "--name", "Hostile", "--data-dir", dataDir]);
}

function startAttacks(port: number, hostile: readonly string[], only?: string): Attack[] {
  const addresses = Array.from({ length: 50 }, (_, index) => `127.2.0.${index + 1}`);
  const attacks: Record<string, () => Attack[]> = {
    drip: () => [dripBytes(port, addresses, 4000, 1000)],
    guess: () =>
      addresses.slice(0, 10).map((from, index) => guessImeis(port, from, 20, 350_000_000_000_000 + index * 1e9)),
    voice: () => hostile.slice(0, floodingDevices).map((imei, index) => floodVoice(port, `127.3.0.${index + 1}`, imei)),
    takeover: () => hostile.slice(floodingDevices).map((imei) => contest(port, imei)),
  };
  const started = Object.entries(attacks).filter(([name]) => only === undefined || only === name);
  return started.flatMap(([, start]) => start());
}

/** Two addresses that take a device from each other. */
function contest(port: number, imei: string): Attack {
  let opened = 0;
  let socket = openSocket(port, "127.4.0.1");
  const timer = setInterval(() => {
    socket = openSocket(port, `127.4.0.${1 + (opened++ % 2)}`);
    socket.resume();
    socket.on("connect", () => socket.write(iwLogin(imei)));
  }, 500);
  const close = (): void => {
    clearInterval(timer);
    socket.destroy();
  };
  return { openCount: 1, opened, close };
}

async function waitForAnswers(watches: readonly SosWatch[]): Promise<void> {
  for (const limitMs = Date.now() + 30_000; Date.now() < limitMs; await pause(50)) {
    if (watches.every(({ waitingMs }) => waitingMs === 0)) return;
  }
}

async function residentMb(service: RunningVigil): Promise<number> {
  const text = await (await fetch(`${service.ops}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6);
}

async function metricLines(service: RunningVigil): Promise<string[]> {
  const text = await (await fetch(`${service.ops}/metrics`)).text();
  const shown = /^vigil_gateway_(unlogged|slowed|waiting|takeovers|paused|refused|connections_closed)/;
  return text.split("\n").filter((line) => shown.test(line));
}
