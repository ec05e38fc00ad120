import { uuidV7Floor } from "../lib/ids.ts";
import type { Database, Db, Tx } from "./database.ts";
import { rawSql, sql } from "./sql.ts";

/**
 * Time partitions, made ahead and dropped by retention. A table is partitioned by a timestamp, by a date, or by its UUIDv7 id,
 * whose first bits are a time: then the key needs no further column. Rows outside every partition would be refused, so there is
 * always a partition for what may arrive: `pastSpans` for late data, `futureSpans` for a worker that is away for a while.
 */
export interface PartitionedTable {
  table: string;
  by: "time" | "date" | "uuid7";
  spanDays: number;
  /**
   * Spans of an earlier version, of which this span is a multiple: a span that has some of them gets the rest of them, because
   * partitions cannot overlap.
   */
  formerSpanDays?: number;
  pastSpans: number;
  futureSpans: number;
  /** Partitions whose end is older than this are dropped; undefined keeps everything. */
  retentionDays?: number;
  /**
   * The table has a default partition for times beyond all others. Its rows are pruned by this column after the retention, and
   * moved out when a partition is made for their time.
   */
  defaultPrunedBy?: string;
}

export interface Span {
  name: string;
  fromMs: number;
  toMs: number;
}

const dayMs = 86_400_000;
export const partitionLock = 7_130_002;

/** Spans lie on a fixed grid since 1970, so that every process computes the same ones. */
export function spansAround(table: PartitionedTable, nowMs: number): Span[] {
  const current = Math.floor(nowMs / (table.spanDays * dayMs));
  const spans: Span[] = [];
  for (let index = current - table.pastSpans; index <= current + table.futureSpans; index++) {
    spans.push(spanOf(table, index, table.spanDays));
  }
  return spans;
}

/** Spans of four weeks have names of their own: they may begin on the day of a former one. */
function spanOf({ table }: PartitionedTable, index: number, days: number): Span {
  const fromMs = index * days * dayMs;
  const day = new Date(fromMs).toISOString().slice(0, 10).replaceAll("-", "");
  return { name: `${table}_${days > 7 ? "m" : "p"}${day}`, fromMs, toMs: fromMs + days * dayMs };
}

/** What is missing of a span: itself, or the rest of the former ones in it. */
function missingOf(table: PartitionedTable, span: Span, present: ReadonlySet<string>): Span[] {
  if (present.has(span.name)) return [];
  const { formerSpanDays } = table;
  if (formerSpanDays === undefined) return [span];
  const formerMs = formerSpanDays * dayMs;
  const former: Span[] = [];
  for (let fromMs = span.fromMs; fromMs < span.toMs; fromMs += formerMs) {
    former.push(spanOf(table, fromMs / formerMs, formerSpanDays));
  }
  const missing = former.filter(({ name }) => !present.has(name));
  return missing.length === former.length ? [span] : missing;
}

function boundOf(table: PartitionedTable, timeMs: number): string {
  if (table.by === "uuid7") return `'${uuidV7Floor(timeMs)}'`;
  const time = new Date(timeMs).toISOString();
  return `'${table.by === "date" ? time.slice(0, 10) : time}'`;
}

async function existing(tx: Db, table: string): Promise<Set<string>> {
  const rows = await tx.many<{ name: string }>`
    select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${table})`;
  return new Set(rows.map((row) => row.name));
}

export interface PartitionChanges {
  created: string[];
  dropped: string[];
  /** Those that have expired and were not dropped. */
  kept: string[];
}

/** What may be dropped at once. */
export interface DropLimits {
  isClockRight: boolean;
  maxPerTable: number;
}

const noLimits: DropLimits = { isClockRight: true, maxPerTable: Number.POSITIVE_INFINITY };

/**
 * Brings the partitions of all tables to what they should be now. Any number of workers may call it. A table that cannot be
 * changed, as while a node that has a part of it is away, does not keep the others from it.
 */
export async function maintainPartitions(
  db: Database,
  tables: readonly PartitionedTable[],
  nowMs: number,
  limits: DropLimits = noLimits,
): Promise<PartitionChanges> {
  const all: PartitionChanges = { created: [], dropped: [], kept: [] };
  const failures: unknown[] = [];
  for (const table of tables) {
    try {
      const { created, dropped, kept } = await db.transaction((tx) => maintainTable(tx, table, nowMs, limits));
      all.created.push(...created);
      all.dropped.push(...dropped);
      all.kept.push(...kept);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return all;
}

async function maintainTable(
  tx: Tx,
  table: PartitionedTable,
  nowMs: number,
  { isClockRight, maxPerTable }: DropLimits,
): Promise<PartitionChanges> {
  await tx.run`select pg_advisory_xact_lock(${partitionLock})`;
  const changes: PartitionChanges = { created: [], dropped: [], kept: [] };
  const present = await existing(tx, table.table);
  for (const span of spansAround(table, nowMs).flatMap((one) => missingOf(table, one, present))) {
    await createPartition(tx, table, span);
    changes.created.push(span.name);
  }
  const ended = expired(table, present, nowMs);
  if (!isClockRight || ended.length > maxPerTable) return { ...changes, kept: ended };
  for (const name of ended) {
    await tx.run(rawSql(`drop table ${name}`));
    changes.dropped.push(name);
  }
  return changes;
}

async function createPartition(tx: Tx, table: PartitionedTable, span: Span): Promise<void> {
  const [from, to] = [boundOf(table, span.fromMs), boundOf(table, span.toMs)];
  const create = rawSql(`create table ${span.name} partition of ${table.table} for values from (${from}) to (${to})`);
  if (table.defaultPrunedBy === undefined) {
    await tx.run(create);
    return;
  }
  // The default partition may hold rows of the new span: a partition cannot be made over them, so they go around.
  const key = await tx.one<{ name: string }>`
    select a.attname as name from pg_partitioned_table p
    join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
    where p.partrelid = to_regclass(${table.table})`;
  const isWithin = `${key.name} >= ${from} and ${key.name} < ${to}`;
  await tx.run(
    rawSql(`create temp table moved on commit drop as select * from ${table.table}_default where ${isWithin}`),
  );
  await tx.run(rawSql(`delete from ${table.table}_default where ${isWithin}`));
  await tx.run(create);
  await tx.run(rawSql(`insert into ${table.table} select * from moved`));
  await tx.run(rawSql("drop table moved"));
}

/** Rows of default partitions that are older than the retention. */
export async function pruneDefaults(db: Database, tables: readonly PartitionedTable[], nowMs: number): Promise<void> {
  for (const { table, by, retentionDays, defaultPrunedBy } of tables) {
    if (defaultPrunedBy === undefined || retentionDays === undefined) continue;
    const beforeMs = nowMs - retentionDays * dayMs;
    const before = by === "uuid7" ? uuidV7Floor(beforeMs) : new Date(beforeMs);
    await db.run(sql`delete from ${rawSql(`${table}_default`)} where ${rawSql(defaultPrunedBy)} < ${before}`);
  }
}

/** Partitions whose retention has ended. */
export async function listExpired(db: Db, tables: readonly PartitionedTable[], nowMs: number): Promise<string[][]> {
  const names: string[][] = [];
  for (const table of tables) names.push(expired(table, await existing(db, table.table), nowMs));
  return names;
}

function expired(table: PartitionedTable, present: ReadonlySet<string>, nowMs: number): string[] {
  if (table.retentionDays === undefined) return [];
  const oldestKeptMs = nowMs - table.retentionDays * dayMs;
  return [...present].filter((name) => {
    const day = /_p(\d{4})(\d{2})(\d{2})$/.exec(name);
    if (!day) return false;
    const endMs = Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])) + table.spanDays * dayMs;
    return endMs <= oldestKeptMs;
  });
}
