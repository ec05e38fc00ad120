import type { Db } from "./database.ts";
import type { DistributedTable } from "./distributed-tables.ts";

interface CatalogRow {
  table: string;
  problem: string;
}

/**
 * What of a table Citus would refuse, read from the catalog of any PostgreSQL: a key without the distribution column, triggers,
 * row security, exclusion constraints, sequences, and foreign keys.
 */
export async function findCatalogProblems(db: Db, tables: readonly DistributedTable[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { table, column } of tables) {
    const rows = await db.many<CatalogRow>`
      with hot as (
        select c.oid, a.attnum from pg_class c
        left join pg_attribute a on a.attrelid = c.oid and a.attname = ${column} and not a.attisdropped
        where c.oid = to_regclass(${table}))
      select 'has no column ' || ${column}::text as problem from hot where attnum is null
      union all
      select 'has no primary key' from hot
      where not exists (select from pg_index i where i.indrelid = hot.oid and i.indisprimary)
      union all
      select 'its unique index ' || i.indexrelid::regclass || ' does not contain ' || ${column}::text from hot
      join pg_index i on i.indrelid = hot.oid and i.indisunique and hot.attnum <> all(i.indkey::int2[])
      union all
      select 'has the trigger ' || t.tgname from hot join pg_trigger t on t.tgrelid = hot.oid and not t.tgisinternal
      union all
      select 'has row security' from hot join pg_class c on c.oid = hot.oid where c.relrowsecurity
      union all
      select 'has the constraint ' || n.conname from hot
      join pg_constraint n on n.conrelid = hot.oid and n.contype in ('x', 'f')
      union all
      select 'is referred to by the constraint ' || n.conname from hot
      join pg_constraint n on n.confrelid = hot.oid and n.contype = 'f'
      union all
      select 'its column ' || a.attname || ' takes numbers from a sequence' from hot
      join pg_attribute a on a.attrelid = hot.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = hot.oid and d.adnum = a.attnum
      where a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%'
      order by problem`;
    const { oid } = await db.one<{ oid: string | null }>`select to_regclass(${table})::text as oid`;
    if (oid === null) problems.push(`${table}: there is no such table`);
    for (const { problem } of rows) problems.push(`${table}: ${problem}`);
  }
  return problems;
}
