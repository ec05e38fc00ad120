/**
 * Moves all rows of one database into an empty one on another server, whatever its version: the schema comes from our migrations,
 * the rows by COPY out of one snapshot. What has been moved is noted in the target with the rows themselves, so that a move that
 * was killed goes on where it was. The source must be at rest, and is only read.
 */
import type { Client } from "pg";
import { copyBetween } from "./copy-between.ts";
import { MigrationError } from "./migrate.ts";

const notes = "vigil_move";
/** What the notes call the step after the tables; no table has such a name. */
const sequences = "all sequences";
/** Of ours in every database, and made by the migrations themselves. */
const ownTables = new Set(["schema_migrations", notes]);

export interface MovedTable {
  table: string;
  rows: number;
}

export interface MoveOptions {
  source: Client;
  target: Client;
  onTable(table: string, done: number, total: number): void;
}

/** What tells the state of a database at rest: another state is not the one that a move had begun with. */
export async function readDatabaseMark(source: Client): Promise<string> {
  const { rows } = await source.query<{ mark: string }>(
    `select (select system_identifier from pg_control_system()) || '/' || pg_snapshot_xmax(pg_current_snapshot()) as mark`,
  );
  return (rows[0] as { mark: string }).mark;
}

/** True: the target holds the begin of a move from this state, and may go on. */
export async function isMoveFrom(target: Client, mark: string): Promise<boolean> {
  const { rows: found } = await target.query("select to_regclass($1) as table", [notes]);
  if (found[0].table === null) return false;
  const { rows } = await target.query(`select from ${notes} where name = $1`, [`mark ${mark}`]);
  return rows.length > 0;
}

/** The schema is that of the source now, and no row is in it. */
export async function beginMove(source: Client, target: Client, mark: string): Promise<void> {
  await requireSameTables(source, target);
  await target.query("begin");
  await makePartitions(source, target);
  const tables = await listTables(target);
  const filled = tables.filter((name) => !ownTables.has(name));
  // Migrations put rows into some tables; those of the source take their place. No trigger guards what is still empty.
  await target.query("set local session_replication_role = replica");
  await target.query(`truncate ${filled.map(quoted).join(", ")} cascade`);
  await target.query(`create table ${notes} (name text primary key, rows bigint not null)`);
  await target.query(`insert into ${notes} values ($1, 0)`, [`mark ${mark}`]);
  await target.query("commit");
}

/** Moves what has not been moved yet, one transaction per table. */
export async function moveRows({ source, target, onTable }: MoveOptions): Promise<MovedTable[]> {
  await source.query("begin isolation level repeatable read read only");
  const { rows: done } = await target.query<{ name: string; rows: string }>(`select name, rows from ${notes}`);
  const moved = new Map(done.map(({ name, rows }) => [name, Number(rows)]));
  const tables = (await listTables(source)).filter((name) => !ownTables.has(name));
  // Rows arrive as they are: neither triggers nor foreign keys have anything to add to a whole snapshot.
  await target.query("set session_replication_role = replica");
  for (const [index, table] of tables.entries()) {
    if (moved.has(table)) continue;
    onTable(table, index, tables.length);
    moved.set(table, await moveTable(source, target, table));
  }
  if (!moved.has(sequences)) await moveSequences(source, target);
  await source.query("commit");
  await target.query("reset session_replication_role");
  return tables.map((table) => ({ table, rows: moved.get(table) ?? 0 }));
}

/** From here on the target is a database like any other. */
export async function finishMove(target: Client): Promise<void> {
  await target.query("analyze");
  await target.query(`drop table ${notes}`);
}

async function moveTable(source: Client, target: Client, table: string): Promise<number> {
  const columns = (await listColumns(source, table)).map(quoted).join(", ");
  await target.query("begin");
  try {
    const what = `${quoted(table)} (${columns})`;
    const rows = await copyBetween(source, `copy ${what} to stdout`, target, `copy ${what} from stdin`);
    await target.query(`insert into ${notes} values ($1, $2)`, [table, rows]);
    await target.query("commit");
    return rows;
  } catch (error) {
    await target.query("rollback").catch(() => undefined);
    throw error;
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Those that hold rows: partitions, and not what they are partitions of. */
async function listTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  );
  return rows.map(({ name }) => name);
}

async function listColumns(client: Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [`public.${quoted(table)}`],
  );
  return rows.map(({ name }) => name);
}

interface Partition {
  name: string;
  parent: string;
  bound: string;
}

async function listPartitions(client: Client): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(
    `select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname`,
  );
  return rows;
}

async function makePartitions(source: Client, target: Client): Promise<void> {
  const present = new Set((await listPartitions(target)).map(({ name }) => name));
  for (const { name, parent, bound } of await listPartitions(source)) {
    if (present.has(name)) continue;
    await target.query(`create table ${quoted(name)} partition of ${quoted(parent)} ${bound}`);
  }
}

/** A table or a column that no migration makes would be lost without a word. */
async function requireSameTables(source: Client, target: Client): Promise<void> {
  const shapeOf = async (client: Client): Promise<Set<string>> => {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attnum > 0 and not a.attisdropped`,
    );
    return new Set(rows.map(({ name }) => name));
  };
  const known = await shapeOf(target);
  const strange = [...(await shapeOf(source))].filter((name) => !known.has(name));
  if (strange.length === 0) return;
  throw new MigrationError(
    `the database has what Vigil did not make (${strange.slice(0, 3).join(", ")}): move it elsewhere first`,
  );
}

async function moveSequences(source: Client, target: Client): Promise<void> {
  const { rows } = await source.query<{ name: string; last: string | null }>(
    "select sequencename as name, last_value::text as last from pg_sequences where schemaname = 'public'",
  );
  for (const { name, last } of rows) {
    if (last !== null) await target.query("select setval($1::regclass, $2)", [`public.${quoted(name)}`, last]);
  }
  await target.query(`insert into ${notes} values ($1, 0)`, [sequences]);
}
