import type { Metrics } from "../../src/lib/metrics.ts";

/** The value of a metric, by the beginning of its line; 0 while it has none. */
export function metricOf(metrics: Metrics, name: string): number {
  const line = metrics
    .render()
    .split("\n")
    .find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}
