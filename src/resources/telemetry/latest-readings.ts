import type { MetricKey } from "../../codecs/metric-keys.ts";
import { inRange, isMetricKey } from "./metric-catalog.ts";

export interface Reading {
  value: number;
  ts: string;
}
export type Readings = Partial<Record<MetricKey, Reading>>;

/** The newest usable value of each metric. Rows come newest first; a null or impossible value does not hide an older one. */
export function latestReadings(rows: readonly { ts: Date; data: Readonly<Record<string, unknown>> }[]): Readings {
  const readings: Readings = {};
  for (const { ts, data } of rows) {
    for (const [key, value] of Object.entries(data)) {
      if (isMetricKey(key) && !(key in readings) && inRange(key, value))
        readings[key] = { value, ts: ts.toISOString() };
    }
  }
  return readings;
}
