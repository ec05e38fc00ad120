import type { Db } from "../../db/database.ts";

export interface PartitionSize {
  name: string;
  bytes: number;
  rows: number;
}

export interface TableSize {
  name: string;
  bytes: number;
  /** An estimate of the server: counting would read every row. */
  rows: number;
  partitions: PartitionSize[];
}

export interface DatabaseSize {
  name: string;
  version: string;
  bytes: number;
  connections: number;
  max_connections: number;
  /** The largest first. */
  tables: TableSize[];
}

const maxRelations = 2000;

/** What the database takes on its disk, by table and by partition. */
export async function measureDatabase(db: Db): Promise<DatabaseSize> {
  const about = await db.one<Omit<DatabaseSize, "tables">>`
    select current_database() as name, current_setting('server_version') as version,
      pg_database_size(current_database()) as bytes,
      (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as max_connections`;
  const relations = await db.many<PartitionSize & { parent: string | null }>`
    select c.relname as name, parent.relname as parent, pg_total_relation_size(c.oid) as bytes,
      greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)::int8 as rows
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
    where n.nspname = current_schema() and c.relkind = 'r' order by c.relname limit ${maxRelations}`;
  const tables = new Map<string, TableSize>();
  for (const { parent, ...relation } of relations) {
    const name = parent ?? relation.name;
    const table = tables.get(name) ?? { name, bytes: 0, rows: 0, partitions: [] };
    table.bytes += relation.bytes;
    table.rows += relation.rows;
    if (parent !== null) table.partitions.push(relation);
    tables.set(name, table);
  }
  return { ...about, tables: [...tables.values()].sort((a, b) => b.bytes - a.bytes) };
}
