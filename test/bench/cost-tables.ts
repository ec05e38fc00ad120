import type pg from "pg";
import { cpuByRoom } from "./cpu-by-room.ts";

interface StatementCost {
  statement: string;
  calls: number;
  ms: number;
  wal: number;
}

interface TableCost {
  name: string;
  bytes: number;
  index_bytes: number;
  updated: number;
  in_page: number;
}

/** Returns where the WAL stands. */
export async function resetCounts(client: pg.Client): Promise<string> {
  await client.query("select pg_stat_statements_reset()");
  const { rows } = await client.query<{ lsn: string }>("select pg_current_wal_insert_lsn()::text as lsn");
  return rows[0]?.lsn as string;
}

export async function printStatements(client: pg.Client, packets: number, lsn: string): Promise<void> {
  const { rows } = await client.query<StatementCost>(
    `select regexp_replace(query, '\\s+', ' ', 'g') as statement, calls::int, total_exec_time as ms, wal_bytes::float8 as wal
     from pg_stat_statements where total_exec_time > 0 order by total_exec_time desc limit 12`,
  );
  const { rows: sums } = await client.query<{ wal: number; images: number }>(
    `select (pg_current_wal_insert_lsn() - $1::pg_lsn)::float8 as wal, sum(wal_fpi)::float8 as images from pg_stat_statements`,
    [lsn],
  );
  const { wal = 0, images = 0 } = sums[0] ?? {};
  console.log(`  WAL: ${(wal / packets).toFixed(0)} bytes and ${(images / packets).toFixed(2)} page images a packet`);
  console.log("  statements, us and WAL bytes a packet, packets a call:");
  for (const { statement, calls, ms, wal: bytes } of rows) {
    const figures = [(ms * 1000) / packets, bytes / packets, packets / calls].map((value) =>
      value.toFixed(1).padStart(7),
    );
    console.log(`    ${figures.join("")}  ${statement.slice(0, 90)}`);
  }
}

export async function bytesOf(client: pg.Client): Promise<Map<string, TableCost>> {
  const { rows } = await client.query<TableCost>(
    `select regexp_replace(c.relname, '_[pm]\\d{8}$', '') as name, sum(pg_table_size(c.oid))::float8 as bytes,
       sum(pg_indexes_size(c.oid))::float8 as index_bytes, sum(t.n_tup_upd)::float8 as updated,
       sum(t.n_tup_hot_upd)::float8 as in_page
     from pg_class c join pg_stat_user_tables t on t.relid = c.oid
     where c.relnamespace in ('public'::regnamespace, to_regnamespace('bare')) and c.relkind = 'r' group by 1`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

export function printTables(
  before: ReadonlyMap<string, TableCost>,
  after: ReadonlyMap<string, TableCost>,
  packets: number,
): void {
  console.log("  tables that grew, bytes of rows and of indexes a packet; updates, and how many stayed in their page:");
  for (const [name, now] of after) {
    const old = before.get(name) ?? { bytes: 0, index_bytes: 0, updated: 0, in_page: 0 };
    const [rows, indexes] = [(now.bytes - old.bytes) / packets, (now.index_bytes - old.index_bytes) / packets];
    const updated = (now.updated - old.updated) / packets;
    if (rows + indexes < 1 && updated < 0.1) continue;
    const inPage = (100 * (now.in_page - old.in_page)) / Math.max(1, now.updated - old.updated);
    const updates = updated < 0.1 ? "" : `; ${updated.toFixed(2)} updates, ${inPage.toFixed(0)} %`;
    console.log(`    ${rows.toFixed(0).padStart(5)}${indexes.toFixed(0).padStart(6)}  ${name}${updates}`);
  }
}

export function printRooms(file: string, span: { fromUs: number; toUs: number }): void {
  console.log("  CPU of the program by room, in percent of what is not idle:");
  for (const [room, share] of cpuByRoom(file, span).slice(0, 20)) {
    console.log(`    ${(share * 100).toFixed(1).padStart(5)}  ${room}`);
  }
}
