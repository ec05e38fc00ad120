import type { CustomTypesConfig, QueryResultRow } from "pg";

export interface Column {
  name: string;
  dataTypeID: number;
}

/** What a statement answers with: the columns of the first answer hold for as long as its connection. */
export interface RowShape {
  make(fields: readonly (string | null)[]): QueryResultRow;
}

/** Types whose text is their value: text, uuid, varchar, char(n), name. */
const verbatimTypes: ReadonlySet<number> = new Set([25, 2950, 1043, 1042, 19]);

/**
 * A function of the columns instead of a loop over them, which makes the rows of a statement objects of one shape: 20 devices took
 * 26 us, and with the loop of the driver and its timestamps 53 to 74 (Node 20, beside other work).
 */
export function rowShape(columns: readonly Column[], types: CustomTypesConfig): RowShape {
  const readers = columns.map(readerOf);
  // Of a name that comes twice the last one counts, as with the driver.
  const fields = new Map(columns.map(({ name }, at) => [name, readers[at]]));
  const entries = [...fields].map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return compiled(columns, types, `({${entries.join(",")}})`);
}

/** The same for rows that are lists. */
export const listShape = (columns: readonly Column[], types: CustomTypesConfig): RowShape =>
  compiled(columns, types, `[${columns.map(readerOf).join(",")}]`);

const readerOf = ({ dataTypeID }: Column, at: number): string =>
  verbatimTypes.has(dataTypeID) ? `f[${at}]` : `f[${at}]===null?null:p[${at}](f[${at}])`;

function compiled(columns: readonly Column[], types: CustomTypesConfig, row: string): RowShape {
  const parsers = columns.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, "text") as unknown);
  const make = new Function("p", `return f=>${row}`) as (given: unknown) => RowShape["make"];
  return { make: make(parsers) };
}

/** `SELECT 20`, `INSERT 0 1`, or a word alone. */
export function rowCountOf(tag: string): number | null {
  const count = Number(tag.slice(tag.lastIndexOf(" ") + 1));
  return Number.isNaN(count) ? null : count;
}
