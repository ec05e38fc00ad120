/** Rows with their cells padded so that columns line up; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
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
