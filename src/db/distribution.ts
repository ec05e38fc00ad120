import type { Client } from "pg";
import type { Clock } from "../lib/clock.ts";
import { type Database, type Db, onClient } from "./database.ts";
import { type DistributedTable, distributedTables } from "./distributed-tables.ts";
import { findCatalogProblems } from "./distribution-catalog.ts";
import { partitionLock } from "./partitions.ts";
import { rawSql, sql } from "./sql.ts";

/** Held by the one who distributes. */
const distributionLock = 7_130_004;
const oldestCitus = 11;
const settingsKey = "distribution";

/**
 * With the defaults of Citus a statement over several shards opens a connection for each of them: the batch of a few hundred rows
 * then costs 25 times as much (measured, two cores, 16 shards).
 */
const sessionSettings = {
  "citus.max_adaptive_executor_pool_size": "1",
  "citus.multi_shard_modify_mode": "sequential",
  // A read of a device whose node hangs gives its connection back before others lack it.
  "citus.node_connection_timeout": "5s",
} as const;

export interface Distribution {
  /** Undefined: the server has no Citus. */
  citus: string | undefined;
  /** Of workers that hold shards. */
  workers: number;
  /** Names of those of our tables that are distributed. */
  distributed: string[];
  /** What must be put right before anything can be distributed. */
  reasons: string[];
  /** What an operator should know and that stands in nobody's way. */
  notes: string[];
}

/** Reads what is. Changes nothing, and works on every PostgreSQL. */
export async function readDistribution(db: Db, tables = distributedTables): Promise<Distribution> {
  const found = await db.maybeOne<{
    version: string;
  }>`select extversion as version from pg_extension where extname = 'citus'`;
  if (!found) {
    const reason =
      "this server has no Citus: install Citus 11 or newer on a coordinator and its workers, create the extension, and set DATABASE_URL to the coordinator";
    return { citus: undefined, workers: 0, distributed: [], reasons: [reason], notes: [] };
  }
  const reasons: string[] = [];
  const citus = found.version;
  if (Number.parseInt(citus, 10) < oldestCitus) reasons.push(`Citus ${citus} is too old: install Citus 11 or newer`);
  const { group } = await db.one<{ group: number }>`select groupid as "group" from pg_dist_local_group`;
  if (group !== 0) reasons.push("this server is a worker of Citus: set DATABASE_URL to the coordinator");
  const nodes = await db.many<{ name: string; active: boolean; holds: boolean }>`
    select nodename || ':' || nodeport as name, isactive as active, shouldhaveshards as holds
    from pg_dist_node where noderole = 'primary'`;
  for (const { name, active } of nodes) if (!active) reasons.push(`the node ${name} is not active`);
  if (reasons.length === 0) reasons.push(...(await findSilentNodes(db)));
  const workers = nodes.filter(({ active, holds }) => active && holds).length;
  if (workers === 0) reasons.push("no node holds shards: add workers with citus_add_node");
  reasons.push(...(await findCatalogProblems(db, tables)));
  const names = tables.map(({ table }) => table);
  const rows = await db.many<{ table: string }>`
    select c.relname as table from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relname = any(${names}::text[]) and p.partmethod = 'h'`;
  const present = new Set(rows.map(({ table }) => table));
  const distributed = names.filter((name) => present.has(name));
  return { citus, workers, distributed, reasons, notes: await findNotes(db) };
}

async function findSilentNodes(db: Db): Promise<string[]> {
  const nodes = await db.many<{ name: string; answers: boolean }>`
    select nodename || ':' || nodeport as name, citus_check_connection_to_node(nodename, nodeport) as answers
    from pg_dist_node where noderole = 'primary' and isactive`;
  return nodes.flatMap(({ name, answers }) => (answers ? [] : `the node ${name} does not answer`));
}

/** Both are needed to move shards while the service runs, and neither to distribute. */
async function findNotes(db: Db): Promise<string[]> {
  const { wal, plugins } = await db.one<{ wal: string; plugins: string | null }>`
    select current_setting('wal_level') as wal, current_setting('output_plugin_libraries', true) as plugins`;
  const notes: string[] = [];
  if (wal !== "logical")
    notes.push(`wal_level is ${wal}: set it to logical on every node to move shards while the service runs`);
  if (plugins !== null && !/\bcitus\b/.test(plugins)) {
    notes.push(
      "output_plugin_libraries does not name citus: add it on every node to move shards while the service runs",
    );
  }
  return notes;
}

/** One thing that is left to do. */
export interface DistributionStep {
  text: string;
  run(db: Db): Promise<unknown>;
}

export async function stepsToDistribute(
  db: Db,
  { distributed }: Distribution,
  shards: number,
  tables = distributedTables,
): Promise<DistributionStep[]> {
  const steps: DistributionStep[] = [];
  for (const one of tables) {
    const isDistributed = distributed.includes(one.table);
    if (!isDistributed) steps.push(distributeStep(one, shards));
    if (!isDistributed || (await hasLocalRows(db, one.table))) steps.push(cleanStep(one.table));
  }
  for (const [name, value] of Object.entries(sessionSettings)) {
    if (await isSetEverywhere(db, name, value)) continue;
    steps.push({
      text: `set ${name} to ${value} on every node`,
      run: (on) => setEverywhere(on, `set ${name} = '${value}'`, (db) => isSetEverywhere(db, name, value)),
    });
  }
  return steps;
}

const distributeStep = ({ table, column, colocateWith }: DistributedTable, shards: number): DistributionStep => ({
  text:
    colocateWith === undefined
      ? `distribute ${table} by ${column} over ${shards} shards`
      : `distribute ${table} by ${column} beside ${colocateWith}`,
  run: (db) =>
    colocateWith === undefined
      ? db.many`select create_distributed_table(${table}, ${column}, colocate_with := 'none', shard_count := ${shards})`
      : db.many`select create_distributed_table(${table}, ${column}, colocate_with := ${colocateWith})`,
});

const cleanStep = (table: string): DistributionStep => ({
  text: `remove what is left of ${table} on the coordinator`,
  run: (db) => db.many`select truncate_local_data_after_distributing_table(${table}::regclass)`,
});

/** Rows that were copied to the shards and are still on the coordinator, where nobody reads them. */
async function hasLocalRows(db: Db, table: string): Promise<boolean> {
  const { bytes } = await db.one<{ bytes: number }>`
    select coalesce(sum(pg_relation_size(relid)), 0) as bytes from pg_partition_tree(${table}::regclass)`;
  return bytes > 0;
}

async function isSetEverywhere(db: Db, name: string, value: string): Promise<boolean> {
  return (await readSettingOfNodes(db, name, value)).every((isSet) => isSet);
}

async function isSetAnywhere(db: Db, name: string, value: string): Promise<boolean> {
  return (await readSettingOfNodes(db, name, value)).some((isSet) => isSet);
}

/** Of the coordinator and every worker: whether the database has this setting. */
async function readSettingOfNodes(db: Db, name: string, value: string): Promise<boolean[]> {
  const look = `select coalesce(bool_or(line = '${name}=${value}'), false) from pg_db_role_setting s, unnest(s.setconfig) as line
    where s.setrole = 0 and s.setdatabase = (select oid from pg_database where datname = current_database())`;
  const here = await db.one<{ coalesce: boolean }>(rawSql(look));
  const nodes = await db.many<{ result: string }>`select result from run_command_on_workers(${look})`;
  return [here.coalesce, ...nodes.map(({ result }) => result === "t")];
}

/** Citus 13 sends a setting of the database to the workers, which refuse it from anyone else; earlier ones leave that to us. */
async function setEverywhere(db: Db, change: string, isDone: (db: Db) => Promise<boolean>): Promise<void> {
  const { name } = await db.one<{ name: string }>`select quote_ident(current_database()) as name`;
  const statement = `alter database ${name} ${change}`;
  await db.run(rawSql(statement));
  if (await isDone(db)) return;
  const nodes = await db.many<{ name: string; success: boolean; result: string }>`
    select nodename || ':' || nodeport as name, success, result from run_command_on_workers(${statement})`;
  const failed = nodes.find(({ success }) => !success);
  if (failed) throw new Error(`${statement}: ${failed.name} answered ${failed.result}`);
}

export const stepsToUndo = ({ distributed }: Distribution): DistributionStep[] => [
  ...distributed.toReversed().map((table) => ({
    text: `bring ${table} back to the coordinator`,
    run: (db: Db) => db.many`select undistribute_table(${table}::regclass)`,
  })),
];

/** Back to what the server's own configuration says. */
export async function resetSessionSettings(db: Db): Promise<void> {
  for (const [name, value] of Object.entries(sessionSettings)) {
    await setEverywhere(db, `reset ${name}`, async (on) => !(await isSetAnywhere(on, name, value)));
  }
}

/** Runs the work on a connection that no one else's distribution or partition maintenance can disturb. Undefined: another one is at it. */
export async function withDistributionLock<T>(db: Database, work: (on: Db) => Promise<T>): Promise<T | undefined> {
  const client: Client = await db.connect();
  try {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [distributionLock]);
    if (rows[0]?.taken !== true) return undefined;
    await client.query("select pg_advisory_lock($1)", [partitionLock]);
    for (const [name, value] of Object.entries(sessionSettings)) await client.query(`set ${name} = '${value}'`);
    return await work(onClient(client));
  } finally {
    await client.end();
  }
}

/** What was done last, so that a look at the database alone tells how it is meant to be. */
export const noteDistribution = (db: Db, tables: readonly string[], clock: Clock): Promise<number> =>
  tables.length === 0
    ? db.run`delete from settings where key = ${settingsKey}`
    : db.run(sql`
        insert into settings (key, value, updated_at) values (${settingsKey}, ${JSON.stringify({ tables })}, ${clock.now()})
        on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`);

/** Names of tables that are meant to be distributed. */
export async function findNotedDistribution(db: Db): Promise<string[]> {
  const row = await db.maybeOne<{ value: { tables: string[] } }>`select value from settings where key = ${settingsKey}`;
  return row?.value.tables ?? [];
}
