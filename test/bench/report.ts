import { loadavg } from "node:os";
import { intervalOf } from "./interval.ts";
import { disturbances } from "./undisturbed.ts";

export interface Row {
  what: string;
  ours: number;
  bare: number;
  unit: string;
  /** Ours to bare, per round. */
  ratios: number[];
  goal?: number;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

/** Only ratios mean something: both figures of a row come from interleaved rounds of the same run. */
export function printReport(name: string, rows: readonly Row[]): void {
  console.log(`\nbench ${name} (load average ${loadavg()[0]?.toFixed(2)})`);
  for (const { what, ours, bare, unit, ratios, goal } of rows) {
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    const { low, high } = intervalOf(ratios);
    const interval = ratios.length < 2 ? "" : `, 95 % ${low.toFixed(2)}–${high.toFixed(2)}`;
    const wanted = goal === undefined ? "" : `, goal ${goal}`;
    console.log(
      `  ${what}: ${Math.round(ours)} ${unit}, bare ${Math.round(bare)} ${unit}, ratio ${median(ratios).toFixed(2)} (${spread}${interval}${wanted})`,
    );
  }
  const disturbed = disturbances();
  if (disturbed) console.log(`  ${disturbed}`);
}
