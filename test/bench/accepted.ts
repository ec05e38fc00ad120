import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Interval, intervalOf } from "./interval.ts";
import type { Row } from "./report.ts";

/** The ratios of the last accepted run, by bench and row. `npm run bench -- NAME --accept` writes them. */
const file = join(import.meta.dirname, "accepted-ratios.json");

type Accepted = Record<string, Record<string, { low: number; high: number }>>;

const read = (): Accepted => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Accepted;
  } catch {
    return {};
  }
};

/** Names of rows without what differs from run to run: rates, sizes. */
export const rowName = (what: string): string =>
  what
    .replace(/ \(\d+ bytes\)/, "")
    .replace(/at \d+ packets\/s/, "at half load")
    .trim();

export function accept(bench: string, rows: readonly Row[]): void {
  const accepted = read();
  const round = (value: number): number => Number(value.toFixed(3));
  accepted[bench] = Object.fromEntries(
    rows.map(({ what, ratios }) => {
      const { low, high } = intervalOf(ratios);
      return [rowName(what), { low: round(low), high: round(Math.min(high, 1e6)) }];
    }),
  );
  writeFileSync(file, `${JSON.stringify(accepted, null, 2)}\n`);
}

/** Rows whose whole interval lies below that of the accepted run; a row without a goal is a time, which falls when it grows. */
export function fallen(bench: string, rows: readonly Row[]): string[] {
  const known = read()[bench] ?? {};
  return rows.flatMap(({ what, ratios, goal }) => {
    const before = known[rowName(what)];
    const now: Interval = intervalOf(ratios);
    if (!before) return [];
    const isWorse = goal === undefined ? now.low > before.high : now.high < before.low;
    return isWorse
      ? [
          `${rowName(what)}: ${now.low.toFixed(2)}–${now.high.toFixed(2)}, accepted ${before.low.toFixed(2)}–${before.high.toFixed(2)}`,
        ]
      : [];
  });
}
