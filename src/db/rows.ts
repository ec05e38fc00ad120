import { joinSql, rawSql, Sql, sql } from "./sql.ts";

/**
 * Statements from values under their column names. The type of a row is the list of its columns: one that an insert forgets,
 * or that the table does not have, does not compile. The driver stores an object as JSON and an array as an array.
 */
export interface Table<Row> {
  /** `insert into … (…) values (…)`. Each column of the row must be given. */
  insert<Given extends Values<Row>>(values: Exactly<Row, Given>): Sql;
  /** `a = …, b = …` for an update. */
  assign<Given extends Partial<Values<Row>>>(values: Exactly<Row, Given>): Sql;
}

/** A value may also be a piece of SQL, such as `revision + 1`. Undefined is stored as null. */
type Values<Row> = { readonly [Column in keyof Row]: Value<Row[Column]> };
type Value<T> = T | Sql | (null extends T ? undefined : never);

/** An object that was spread may carry more than its type is asked for; this refuses it. */
type Exactly<Row, Given> = Given & { readonly [Column in Exclude<keyof Given, keyof Row>]: never };

/** With an alias, by which the columns of a `returning` can be named. */
export function table<Row extends object>(name: string, alias?: string): Table<Row> {
  const target = rawSql(alias === undefined ? name : `${name} as ${alias}`);
  return {
    insert: (values) => sql`insert into ${target} (${names(values)}) values (${list(values)})`,
    assign: (values) =>
      joinSql(
        Object.entries(values).map(([column, value]) => sql`${nameOf(column)} = ${value}`),
        ", ",
      ),
  };
}

/** The named columns of the table with this alias, for a `select`. */
export const columnsOf = (alias: string, columns: readonly string[]): Sql =>
  joinSql(
    columns.map((column) => sql`${rawSql(alias)}.${nameOf(column)}`),
    ", ",
  );

const names = (values: object): Sql => joinSql(Object.keys(values).map(nameOf), ", ");
const list = (values: object): Sql =>
  new Sql(
    [
      "",
      ...Object.keys(values)
        .slice(1)
        .map(() => ", "),
      "",
    ],
    Object.values(values),
  );

/** The keys of an object are no input as long as every object is written here; this holds should one ever not be. */
function nameOf(column: string): Sql {
  if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`"${column}" is no name of a column`);
  return rawSql(column);
}
