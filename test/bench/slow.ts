import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl, withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { type ConnectedDevices, connectDevices } from "./load-process.ts";
import { median, type Row } from "./report.ts";
import { undisturbed } from "./undisturbed.ts";

const connections = process.argv.includes("--quick") ? 1000 : 10_000;
const rounds = 5;
const roundMs = 5000;
const fsyncMs = 5;
const oneWayMs = 1;

/** Where the database is, and how long its disk takes. */
const places = ["local", "slow disk", "far database", "both"] as const;
type Place = (typeof places)[number];
const isFar = (place: Place): boolean => place === "far database" || place === "both";
const isSlow = (place: Place): boolean => place === "slow disk" || place === "both";

const what: Record<Exclude<Place, "local">, string> = {
  "slow disk": `an fsync of ${fsyncMs} ms`,
  "far database": `a database ${2 * oneWayMs} ms away`,
  both: "both",
};

async function startProxy(socket: string): Promise<{ child: ChildProcess; port: number }> {
  const args = ["--import", "tsx", join(import.meta.dirname, "delaying-proxy.ts"), socket, String(oneWayMs)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((done) => createInterface({ input: child.stdout }).once("line", done));
  return { child, port: Number(port) };
}

/** Median time of a statement, in milliseconds. */
async function timeOf(client: pg.Client, statement: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 50; n++) {
    const startedMs = performance.now();
    await client.query(statement);
    times.push(performance.now() - startedMs);
  }
  return median(times);
}

/**
 * Durable packets with a database whose disk is slow, that is far away, or both, against the same service on the local disk. The
 * server waits at each flush of its log, as a disk would; the network is a process between.
 */
export async function benchSlow(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const { host, port, user, password, database } = server.connection;
  const proxy = await startProxy(`${host}/.s.PGSQL.${port}`);
  const farConnection = { host: "127.0.0.1", port: proxy.port, user, password: password ?? "", database };
  const services: RunningVigil[] = [];
  const start = async (url: string): Promise<RunningVigil> => {
    const service = await startVigil(["--data-dir", folder.path], {
      DATABASE_URL: url,
      VIGIL_LOG_LEVEL: "warn",
      VIGIL_GATEWAY_HOST: "127.0.0.1",
      VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
      VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
      VIGIL_INGEST_IN_FLIGHT: process.env.VIGIL_INGEST_IN_FLIGHT,
    });
    services.push(service);
    return service;
  };
  try {
    const near = await start(embeddedUrl(server.connection));
    const far = await start(
      `postgresql://${user}:${encodeURIComponent(password ?? "")}@127.0.0.1:${proxy.port}/${database}`,
    );
    return await withEmbedded(folder.path, async (client) => {
      await registerFleet(client, 2 * connections);
      const setDisk = async (isSlowDisk: boolean): Promise<void> => {
        for (const [name, value] of [
          ["commit_delay", isSlowDisk ? fsyncMs * 1000 : 0],
          ["commit_siblings", isSlowDisk ? 0 : 5],
        ] as const) {
          await client.query(`alter system set ${name} = ${value}`);
        }
        await client.query("select pg_reload_conf()");
        // The other processes have read it when a new connection shows it.
        await new Promise((done) => setTimeout(done, 200));
      };
      await printDelays(client, farConnection, setDisk);
      const portOf = ({ gateway }: RunningVigil): number => Number(gateway.split(":").at(-1));
      const devices: Record<"near" | "far", ConnectedDevices> = {
        near: await connectDevices(portOf(near), connections),
        far: await connectDevices(portOf(far), connections, [860_000_000_000_000 + connections]),
      };
      const measure = async (place: Place): Promise<number> => {
        await setDisk(isSlow(place));
        const side = devices[isFar(place) ? "far" : "near"];
        return (await undisturbed(() => side.run(roundMs, 0))).perSecond;
      };
      for (const place of ["local", "far database"] as const) await measure(place);
      const results: Record<Place, number[]> = { local: [], "slow disk": [], "far database": [], both: [] };
      for (let round = 0; round < rounds; round++) {
        for (const place of places) results[place].push(await measure(place));
      }
      for (const connected of Object.values(devices)) await connected.close();
      return (["slow disk", "far database", "both"] as const).map((place) => ({
        what: `${what[place]}, ${connections} connections, against the local disk`,
        ours: median(results[place]),
        bare: median(results.local),
        unit: "packets/s",
        ratios: results[place].map((value, index) => value / (results.local[index] as number)),
        goal: 0.8,
      }));
    });
  } finally {
    for (const service of services) await service.kill("SIGTERM");
    proxy.child.kill();
    await server.release();
    await folder.remove();
  }
}

/** Shows that disk and network are as slow as they are said to be. */
async function printDelays(
  near: pg.Client,
  farConnection: pg.ClientConfig,
  setDisk: (isSlowDisk: boolean) => Promise<void>,
): Promise<void> {
  const far = new pg.Client(farConnection);
  await far.connect();
  try {
    await near.query("create table if not exists bench_commits (n int)");
    const commit = "insert into bench_commits values (1)";
    const ms = (value: number): string => `${value.toFixed(1)} ms`;
    const local = [await timeOf(near, "select 1"), await timeOf(near, commit)] as const;
    await setDisk(true);
    const slow = await timeOf(near, commit);
    const both = await timeOf(far, commit);
    await setDisk(false);
    const away = await timeOf(far, "select 1");
    console.log(
      `a statement and a commit: local ${ms(local[0])}, ${ms(local[1])}; slow disk: commit ${ms(slow)}; far: statement ${ms(away)}; both: commit ${ms(both)}`,
    );
  } finally {
    await far.end();
  }
}
