import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl, withEmbedded } from "../support/embedded-client.ts";
import { addIntegrations, registerFleet } from "../support/fleet.ts";
import { startVigil, tempFolder } from "../support/vigil-process.ts";
import { bytesOf, printRooms, printStatements, printTables, resetCounts } from "./cost-tables.ts";
import { startBare } from "./ingest.ts";
import { load } from "./load-process.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import type { Row } from "./report.ts";

const loadMs = 10_000;
const { values: options } = parseArgs({
  options: {
    /** Devices that are connected. */
    connections: { type: "string", default: "1000" },
    /**
     * Packets a second; 0 is as many as there can be. At a fixed rate the size of batches, and so the cost of a packet, does not
     * follow the machine.
     */
    rate: { type: "string", default: "2000" },
    integrations: { type: "string", multiple: true, default: ["0", "1"] },
    /** Keeps the profile of the last run in this folder. */
    profiles: { type: "string" },
  },
  strict: false,
});
const [connections, rate] = [Number(options.connections), Number(options.rate)];

/**
 * Where the time and the bytes of a packet go, on both sides of the database socket: CPU of the program by room and of the server,
 * time and WAL by statement, bytes by table; beside it what the bare gateway costs. Prints tables for
 * docs/developers/performance.md; compares nothing.
 */
export async function benchCosts(): Promise<Row[]> {
  for (const partners of options.integrations as string[]) await measure(Number(partners));
  return [];
}

async function measure(partners: number): Promise<void> {
  const folder = await tempFolder();
  const profiles = (options.profiles as string | undefined) ?? join(folder.path, "profiles");
  mkdirSync(profiles, { recursive: true });
  const settings = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "all" };
  const server = await openEmbeddedServer({
    dataDir: folder.path,
    log: makeLogger("silent"),
    purpose: "command",
    settings,
  });
  const env = {
    DATABASE_URL: embeddedUrl(server.connection),
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
  };
  const known = new Set(readdirSync(profiles));
  const service = await startVigil(["--data-dir", folder.path], env, "start", [
    "--cpu-prof",
    `--cpu-prof-dir=${profiles}`,
  ]);
  const bare = await startBare(server.connection);
  try {
    const ours = { port: Number(service.gateway.split(":").at(-1)), pid: service.process.pid as number };
    const speed = rate === 0 ? "as fast as it goes" : `${rate} packets/s`;
    console.log(`\n${partners} integrations that are told everything, ${connections} devices, ${speed}`);
    const span = await withEmbedded(folder.path, async (client) => {
      await registerFleet(client, connections);
      await addIntegrations(client, partners);
      await client.query("create extension pg_stat_statements");
      await load(ours, connections, 3000, rate);
      await load(bare.target, connections, 1000, rate);
      await printCosts("the bare gateway", client, folder.path, bare.target);
      return printCosts("the program", client, folder.path, ours);
    });
    await service.kill("SIGTERM");
    const profile = readdirSync(profiles).find((name) => name.endsWith(".cpuprofile") && !known.has(name));
    if (profile) printRooms(join(profiles, profile), span);
  } finally {
    bare.child.kill();
    await service.kill("SIGKILL");
    await server.release();
    await folder.remove();
  }
}

interface Span {
  fromUs: number;
  toUs: number;
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

/** From when all devices are connected until the last answer; returns when that was. */
async function printCosts(
  what: string,
  client: pg.Client,
  dataDir: string,
  target: { port: number; pid: number },
): Promise<Span> {
  let before = await bytesOf(client);
  let [own, database, fromUs, lsn] = [0, 0, 0, "0/0"];
  const { perSecond, cpuMs: devicesMs } = await load(target, connections, loadMs, rate, async () => {
    await client.query("checkpoint");
    lsn = await resetCounts(client);
    before = await bytesOf(client);
    [own, database, fromUs] = [cpuMs(target.pid), databaseCpuMs(dataDir), nowUs()];
  });
  const toUs = nowUs();
  const costs = { own: cpuMs(target.pid) - own, database: databaseCpuMs(dataDir) - database, devices: devicesMs };
  const packets = (perSecond * loadMs) / 1000;
  const perPacket = (ms: number): string => ((ms * 1000) / packets).toFixed(1);
  console.log(`  ${what}: ${perSecond.toFixed(0)} packets/s`);
  console.log(
    `  CPU of the program ${perPacket(costs.own)}, of the database ${perPacket(costs.database)}, of the devices ${perPacket(costs.devices)} us a packet`,
  );
  await printStatements(client, packets, lsn);
  printTables(before, await bytesOf(client), packets);
  return { fromUs, toUs };
}
