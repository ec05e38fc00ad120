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
  writeFileSync(file, `${JSON.stringify({ ...read(), [bench]: acceptedOf(rows) }, null, 2)}\n`);
}

export function acceptedOf(rows: readonly Row[]): Accepted[string] {
  const round = (value: number): number => Number(value.toFixed(3));
  return Object.fromEntries(
    rows.map(({ what, ratios }) => {
      const { low, high } = intervalOf(ratios);
      return [rowName(what), { low: round(low), high: round(Math.min(high, 1e6)) }];
    }),
  );
}

/** More of it is better; of everything else (times, bytes, shares) less is. */
const isRate = (unit: string): boolean => unit.endsWith("/s");

/** Rows whose whole interval is worse than that of the accepted run. One round has no interval, and says nothing. */
export function fallen(bench: string, rows: readonly Row[], accepted: Accepted = read()): string[] {
  const known = accepted[bench] ?? {};
  return rows.flatMap(({ what, ratios, unit }) => {
    const before = known[rowName(what)];
    const now: Interval = intervalOf(ratios);
    if (!before) return [];
    const isWorse = isRate(unit) ? now.high < before.low : now.low > before.high;
    return isWorse
      ? [
          `${rowName(what)}: ${now.low.toFixed(2)}–${now.high.toFixed(2)}, accepted ${before.low.toFixed(2)}–${before.high.toFixed(2)}`,
        ]
      : [];
  });
}

/** Rows of an accepted run that this one has no more, or names otherwise: nothing watches over them. */
export function missing(bench: string, rows: readonly Row[], accepted: Accepted = read()): string[] {
  const names = new Set(rows.map(({ what }) => rowName(what)));
  return Object.keys(accepted[bench] ?? {}).filter((name) => !names.has(name));
}
