import type { CommandContext } from "./command.ts";

/** Rows with their cells padded so that columns line up, at least as wide as `least`; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[], minWidths: readonly number[] = []): string[] {
  const widths: number[] = [...minWidths];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return columns([titles.map((title) => title.toUpperCase()), ...rows]).join("\n");
}

/** How a value is shown to people. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(showValue).join(", ");
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([key, inner]) => `${key} ${showValue(inner)}`)
      .join(", ");
  }
  return String(value);
}

/** One record, a field per line. */
export const record = (fields: Readonly<Record<string, unknown>>): string =>
  columns(Object.entries(fields).map(([key, value]) => [key, showValue(value)])).join("\n");

/** What `printPages` shows of each item, and when there is none. */
export interface PageTable<T> {
  titles: readonly string[];
  cells(item: T): readonly string[];
  /** Widths of columns, so that they line up from page to page. */
  widths: readonly number[];
  whenEmpty: string;
}

/** Prints a list of any length with one page in memory: one JSON array with --json, one table without. */
export async function printPages<T>(
  { args, io }: Pick<CommandContext, "args" | "io">,
  pages: AsyncIterable<readonly T[]>,
  { titles, cells, widths, whenEmpty }: PageTable<T>,
): Promise<void> {
  const isJson = args.has("json");
  let isFirst = true;
  for await (const page of pages) {
    const head = isFirst ? [titles.map((title) => title.toUpperCase())] : [];
    const text = isJson
      ? `${isFirst ? "[" : ","}${JSON.stringify(page).slice(1, -1)}`
      : `${columns([...head, ...page.map(cells)], widths).join("\n")}\n`;
    io.stdout(text);
    isFirst = false;
  }
  if (isJson) io.stdout(isFirst ? "[]\n" : "]\n");
  else if (isFirst) io.stdout(`${whenEmpty}\n`);
}
