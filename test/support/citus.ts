import pg from "pg";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { readDistribution, stepsToDistribute, withDistributionLock } from "../../src/db/distribution.ts";
import { migrate } from "../../src/db/migrate.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";

/** One for each of two workers: every partition of a table is as many tables. */
const shards = 2;
/** One-off databases are made and dropped all the time: what Citus would send to the workers is done on each of them by hand. */
const quiet = "set citus.enable_ddl_propagation to off";
const settings = {
  "citus.max_adaptive_executor_pool_size": "1",
  "citus.multi_shard_modify_mode": "sequential",
  // As in the embedded server: plans are compared with those.
  random_page_cost: "1.1",
};

/** Addresses of all nodes of the cluster, the coordinator first. */
async function readNodes(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ host: string; port: number }>(
    "select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 and isactive order by nodeid",
  );
  await client.end();
  const workers = rows.map(({ host, port }) => {
    const address = new URL(url);
    address.hostname = host;
    address.port = String(port);
    return address.href;
  });
  return [url, ...workers];
}

/** The nodes that the setup has found; empty: the tests run on a plain PostgreSQL. */
export const citusNodes = (): readonly string[] => process.env.VIGIL_TEST_CITUS_NODES?.split(" ") ?? [];

async function onEach(nodes: readonly string[], ...statements: string[]): Promise<void> {
  for (const url of nodes) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      for (const statement of [quiet, ...statements]) await client.query(statement);
    } finally {
      await client.end();
    }
  }
}

const inDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

/**
 * A template that is migrated and distributed, on every node. Its clones are clusters of their own: what Citus notes of shards is
 * in the database, and workers are asked for the database of the same name.
 */
export async function prepareCitusTemplate(url: string, template: string): Promise<void> {
  const nodes = await readNodes(url);
  process.env.VIGIL_TEST_CITUS_NODES = nodes.join(" ");
  await onEach(
    nodes,
    `drop database if exists ${template} with (force)`,
    `create database ${template} template template0`,
  );
  const own = nodes.map((node) => inDatabase(node, template));
  await onEach(own, "create extension citus");
  const [coordinator, ...workers] = own.map((node) => new URL(node));
  if (!coordinator) throw new Error("the cluster has no coordinator");
  await onEach(
    [coordinator.href],
    `select citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`,
    ...workers.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  );
  const db = openDatabase({
    connection: { connectionString: coordinator.href },
    log: makeLogger("silent"),
    statementTimeoutMs: 300_000,
  });
  try {
    await migrate(db, makeClock());
    await distributeTemplate(db);
  } finally {
    await db.close();
  }
  await onEach(
    nodes,
    `alter database ${template} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${template}'`,
  );
}

async function distributeTemplate(db: Database): Promise<void> {
  await withDistributionLock(db, async (on) => {
    for (const step of await stepsToDistribute(on, await readDistribution(on), shards)) await step.run(on);
  });
}

export async function cloneOnCitus(template: string, name: string): Promise<void> {
  const [coordinator, ...workers] = citusNodes();
  const changes = Object.entries(settings).map(([key, value]) => `alter database ${name} set ${key} = '${value}'`);
  // The coordinator last: its copy is what makes the others known.
  for (const node of [...workers, coordinator as string]) {
    await onEach([node], `create database ${name} template ${template}`, ...changes);
  }
}

const isInUse = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "55006";

/** Citus looks after each database by connections of its own, and on a busy machine one may outlive the force of an attempt. */
export async function dropOnCitus(name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await onEach(citusNodes(), `drop database if exists ${name} with (force)`);
    } catch (error) {
      if (attempt === 3 || !isInUse(error)) throw error;
    }
  }
}
