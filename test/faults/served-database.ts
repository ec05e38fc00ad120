import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { type CitusCluster, openCitusCluster } from "../support/citus-cluster.ts";
import { embeddedUrl, withEmbedded } from "../support/embedded-client.ts";
import { runVigil } from "../support/vigil-process.ts";

type Environment = Record<string, string>;

/** The database that a service under faults has: the embedded one in its data folder, or a cluster of Citus. */
export interface ServedDatabase {
  /** What the service and its commands need to find it. */
  env: Environment;
  /** Its address, once the service runs. */
  url(): Promise<string>;
  with<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Kills it, or one of its nodes, with -9, and tells which. An embedded one is started by the service, a node by this. */
  kill(random: () => number): Promise<string>;
  /** All processes of all its servers. */
  pids(): number[];
  /** After the service. */
  close(): Promise<void>;
}

const shards = "8";
/** How long a killed node is away at most. */
const awayMs = 3000;

export async function openServedDatabase(dataDir: string, citusBin: string | undefined): Promise<ServedDatabase> {
  if (citusBin === undefined) return embeddedDatabase(dataDir);
  const cluster = await openCitusCluster(citusBin);
  try {
    return await distributedDatabase(cluster);
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

function embeddedDatabase(dataDir: string): ServedDatabase {
  const postmaster = (): number => postmasterPid(join(dataDir, "postgres", "cluster"));
  return {
    env: {},
    url: async () => {
      const server = await openEmbeddedServer({ dataDir, log: makeLogger("silent"), purpose: "command" });
      await server.release();
      return embeddedUrl(server.connection);
    },
    with: (work) => withEmbedded(dataDir, work),
    kill: async () => {
      process.kill(postmaster(), "SIGKILL");
      return "the database";
    },
    pids: () => withChildren(postmaster()),
    close: async () => undefined,
  };
}

async function distributedDatabase(cluster: CitusCluster): Promise<ServedDatabase> {
  const env = { DATABASE_URL: cluster.url };
  await migrateAndDistribute(env);
  return {
    env,
    url: async () => cluster.url,
    with: async (work) => {
      const client = new pg.Client({ connectionString: cluster.url });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return await work(client);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    kill: async (random) => {
      const { name } = cluster.nodes[Math.floor(random() * cluster.nodes.length)] as { name: string };
      await cluster.kill(name);
      await pause(random() * awayMs);
      await cluster.start(name);
      return `the database ${name}`;
    },
    pids: () => cluster.nodes.flatMap(({ dataDir }) => withChildren(postmasterPid(dataDir))),
    close: cluster.close,
  };
}

/** Brings the schema and distributes it, as an operator would before the first start. */
export async function migrateAndDistribute(env: Environment): Promise<void> {
  for (const args of [["migrate"], ["distribute", "--shards", shards]]) {
    const { code, stderr } = await runVigil(["db", ...args], env);
    if (code !== 0) throw new Error(stderr);
  }
}

const postmasterPid = (cluster: string): number =>
  Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0]);

const withChildren = (pid: number): number[] => [pid, ...childrenOf(pid)];

const childrenOf = (parent: number): number[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      return /^\d+$/.test(name) && Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]) === parent
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
