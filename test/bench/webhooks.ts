import { join } from "node:path";
import type pg from "pg";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { fillLog } from "../support/log-rows.ts";
import { startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { load } from "./load-process.ts";
import { makeCertificates, openReceiverProcess, type ReceiverProcess, runBare } from "./receiver-process.ts";
import { median, type Row } from "./report.ts";
import type { ReceiverStats } from "./webhook-receiver.ts";

const rounds = 3;
const perRound = 20_000;
const inFlight = 32;
const packetRate = 1000;
/** `--waiting 1000000` for the full size. */
const waitingAt = process.argv.indexOf("--waiting");
const waiting = waitingAt < 0 ? 100_000 : Number(process.argv[waitingAt + 1]);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Deliveries of the whole way (log, lane, attempt records) against a bare client that posts ready bytes to the same receiver. */
export async function benchWebhooks(): Promise<Row[]> {
  const folder = await tempFolder();
  await makeCertificates(folder.path);
  const receiver = await openReceiverProcess(folder.path);
  // One of its own, or it would wait for the other one's receiver and not for us.
  const quietReceiver = await openReceiverProcess(folder.path);
  const env = {
    VIGIL_LOG_LEVEL: "warn",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
  };
  const where = ["--data-dir", folder.path];
  const service = await startVigil(where, env);
  const { url } = receiver;
  const hook = async (slug: string, to: string): Promise<string> => {
    await vigilJson(["org", "create", "--name", slug, "--slug", slug, ...where], env);
    const options = ["--org", slug, "--name", slug, "--webhook-url", to];
    return (await vigilJson<{ id: string }>(["integration", "create", ...options, ...where], env)).id;
  };
  const arrived = async (at: ReceiverProcess, path: string, count: number): Promise<ReceiverStats> => {
    for (;;) {
      const stats = await at.stats(path);
      if (stats.count >= count) return stats;
      await pause(50);
    }
  };
  try {
    const [ours, quiet, busy, dead] = [
      await hook("ours", url("/ours")),
      await hook("quiet", quietReceiver.url("/quiet")),
      await hook("busy", url("/busy")),
      await hook("dead", url("/hang")),
    ];
    return await withEmbedded(folder.path, async (client) => {
      const speed = await measureSpeed(client, ours);
      const packets = await measurePackets(client);
      const alone = await measureDelays(client, quiet);
      const besideBare = await besideBareClient(() => measureDelays(client, quiet));
      await fillLog(client, dead, waiting);
      const besideDead = await measureDelays(client, quiet);
      await fillLog(client, busy, waiting);
      const besideBusy = await measureDelays(client, quiet);
      if ((await receiver.stats("/busy")).count >= waiting) throw new Error("the backlog ended before the measurement");
      const row = (what: string, mine: number, bare: number): Row => ({
        what,
        ours: mine,
        bare,
        unit: "ms",
        ratios: [mine / Math.max(1, bare)],
      });
      const beside = (what: string, part: "p50" | "p99", mine: ReceiverStats[]): Row => ({
        what: `${part} of row to request beside ${what}, against alone`,
        ours: median(mine.map((stats) => stats[part])),
        bare: median(alone.map((stats) => stats[part])),
        unit: "ms",
        ratios: mine.map((stats, round) => stats[part] / Math.max(1, alone[round]?.[part] ?? 1)),
      });
      return [
        speed,
        row(`p50 of packet to request at ${packetRate} packets/s, against the answer to the device`, ...packets.p50),
        row(`p99 of packet to request at ${packetRate} packets/s, against the answer to the device`, ...packets.p99),
        ...(["p50", "p99"] as const).flatMap((part) => [
          beside(`${waiting} rows for a receiver that hangs`, part, besideDead),
          beside(`${waiting} rows for a receiver that answers`, part, besideBusy),
          // No row waits here: what the machine alone takes from us when somebody else is at work on it.
          beside("a bare client and its receiver", part, besideBare),
        ]),
      ];
    });
  } finally {
    await service.kill("SIGTERM");
    receiver.child.kill();
    quietReceiver.child.kill();
    await folder.remove();
  }

  async function besideBareClient<T>(work: () => Promise<T>): Promise<T> {
    let isDone = false;
    const hammering = (async () => {
      while (!isDone) await runBare(url("/bare"), join(folder.path, "ca.pem"), perRound, inFlight);
    })();
    try {
      return await work();
    } finally {
      isDone = true;
      await hammering;
    }
  }

  async function measureSpeed(client: pg.Client, integrationId: string): Promise<Row> {
    const all = { ours: [] as number[], bare: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      receiver.reset();
      await fillLog(client, integrationId, perRound);
      const startedMs = Date.now();
      const { lastMs } = await arrived(receiver, "/ours", perRound);
      const perSecond = perRound / ((lastMs - startedMs) / 1000);
      const bare = await runBare(url("/bare"), join(folder.path, "ca.pem"), perRound, inFlight);
      // The first round warms both up.
      if (round < 0) continue;
      all.ours.push(perSecond);
      all.bare.push(bare);
    }
    return {
      what: `deliveries of one integration, ${inFlight} in flight`,
      ours: median(all.ours),
      bare: median(all.bare),
      unit: "requests/s",
      ratios: all.ours.map((value, index) => value / (all.bare[index] as number)),
      goal: 0.5,
    };
  }

  /** From the reception of a packet to the request that tells of it, beside the time of the device's own answer. */
  async function measurePackets(client: pg.Client): Promise<Record<"p50" | "p99", [number, number]>> {
    const devices = 500;
    await registerFleet(client, devices);
    const { rows: found } = await client.query("select slug from organizations where slug like 'fleet-%'");
    const options = ["--org", found[0].slug, "--name", "packets", "--webhook-url", url("/packets")];
    await vigilJson(["integration", "create", ...options, ...where], env);
    const port = Number(service.gateway.split(":").at(-1));
    const firstUid = 860_000_000_000_000;
    const run = (durationMs: number) =>
      load({ port }, devices, durationMs, packetRate, undefined, [firstUid, Date.now() - 3_600_000]);
    await run(3000);
    await pause(1000);
    receiver.reset();
    const answers = await run(10_000);
    await pause(1000);
    const counts = await receiver.stats("/packets");
    return { p50: [counts.p50, answers.p50], p99: [counts.p99, answers.p99] };
  }

  async function measureDelays(client: pg.Client, integrationId: string): Promise<ReceiverStats[]> {
    // What the filling has left to do for the database is not what is asked.
    await client.query("checkpoint");
    const all: ReceiverStats[] = [];
    for (let round = 0; round < rounds; round++) all.push(await measureDelay(client, integrationId));
    return all;
  }

  /** A row every 20 ms. */
  async function measureDelay(client: pg.Client, integrationId: string): Promise<ReceiverStats> {
    await fillLog(client, integrationId, 1);
    await pause(500);
    quietReceiver.reset();
    for (let n = 0; n < 250; n++) {
      await fillLog(client, integrationId, 1);
      await pause(20);
    }
    return arrived(quietReceiver, "/quiet", 250);
  }
}
