import type { Db } from "./database.ts";
import { joinSql, rawSql, type Sql, sql } from "./sql.ts";

/** Rows of one table in the order of a key that tells them apart, for work on more of them than one statement should touch. */
export interface KeyedRows {
  table: string;
  /** Column and type, in the order of an index that begins with what `where` fixes. */
  key: readonly (readonly [column: string, type: string])[];
  where: Sql;
}

/** Keys travel as text: a Date has fewer digits than a time of the database. */
type Key = readonly string[];

const columnsOf = ({ key }: KeyedRows): Sql => rawSql(key.map(([column]) => column).join(", "));
const keyTexts = ({ key }: KeyedRows): Sql =>
  rawSql(key.map(([column], index) => `${column}::text as key_${index}`).join(", "));

function compared(rows: KeyedRows, operator: ">" | "<=", key: Key): Sql {
  const values = rows.key.map(([, type], index) => sql`${key[index]}::text::${rawSql(type)}`);
  const [first] = rows.key;
  // The first column alone too: by it the planner leaves out partitions.
  const coarse = sql`${rawSql(first?.[0] ?? "")} ${rawSql(operator === ">" ? ">=" : "<=")} ${values[0]}`;
  return sql`${coarse} and (${columnsOf(rows)}) ${rawSql(operator)} (${joinSql(values, ", ")})`;
}

const after = (rows: KeyedRows, key: Key | undefined): Sql =>
  key === undefined ? sql`true` : compared(rows, ">", key);

const keyOf = (rows: KeyedRows, row: Record<string, unknown>): string[] =>
  rows.key.map((_, index) => row[`key_${index}`] as string);

/** Pages of what is selected, with `key_0` and so on beside it. */
export async function* readKeyedRows<T extends Record<string, unknown>>(
  db: Db,
  rows: KeyedRows,
  { select, pageRows }: { select: Sql; pageRows: number },
): AsyncGenerator<T[]> {
  for (let last: Key | undefined; ; ) {
    const page = await db.many<T>(sql`
      select ${select}, ${keyTexts(rows)} from ${rawSql(rows.table)}
      where ${rows.where} and ${after(rows, last)} order by ${columnsOf(rows)} limit ${pageRows}`);
    if (page.length > 0) yield page;
    const end = page.at(-1);
    if (end === undefined || page.length < pageRows) return;
    last = keyOf(rows, end);
  }
}

/**
 * Deletes them in statements of at most `batchRows`, each a transaction of its own. It goes on from the key of the last one: a
 * search from the start would pass over what was just deleted, again and again, until a vacuum has come.
 */
export async function deleteKeyedRows(
  db: Db,
  rows: KeyedRows,
  batchRows: number,
  onBatch: (deleted: number) => void = () => undefined,
): Promise<number> {
  for (let [total, last]: [number, Key | undefined] = [0, undefined]; ; ) {
    const bound: Record<string, unknown> | undefined = await db.maybeOne(sql`
      select ${keyTexts(rows)} from ${rawSql(rows.table)}
      where ${rows.where} and ${after(rows, last)} order by ${columnsOf(rows)} offset ${batchRows - 1} limit 1`);
    const end: Key | undefined = bound && keyOf(rows, bound);
    const deleted = await db.run(sql`
      delete from ${rawSql(rows.table)}
      where ${rows.where} and ${after(rows, last)} and ${end ? compared(rows, "<=", end) : sql`true`}`);
    total += deleted;
    onBatch(deleted);
    if (!end) return total;
    last = end;
  }
}
