import type { MetricKey } from "../catalog/capability.ts";
import { inRange, metrics } from "./metric-catalog.ts";

const keys = Object.keys(metrics) as MetricKey[];
const vitalKeys = ["hr", "sbp", "dbp", "spo2", "temp", "glucose"] as const satisfies readonly MetricKey[];

export interface EnvelopedReadings {
  receivedAtMs: number;
  deviceTimeMs: number | null;
  data: Readonly<Record<string, unknown>>;
}

/** Whether a row of telemetry is told to partners: it has a vital sign with a value in range. */
export const isHealthSnapshot = (data: Readonly<Record<string, unknown>>): boolean =>
  vitalKeys.some((key) => inRange(key, data[key]));

/** `data` of `health.snapshot` (section 19.3) as JSON text: all metrics of the row with a value in range. */
export function healthSnapshotJson({ receivedAtMs, deviceTimeMs, data }: EnvelopedReadings, id: string): string {
  const readings: string[] = [];
  for (const key of keys) {
    const value = data[key];
    if (inRange(key, value)) readings.push(`"${key}":{"value":${value},"unit":"${metrics[key].unit}"}`);
  }
  const deviceTs = deviceTimeMs === null ? "null" : `"${new Date(deviceTimeMs).toISOString()}"`;
  return `{"telemetry_id":"${id}","ts":"${new Date(receivedAtMs).toISOString()}","device_ts":${deviceTs},"metrics":{${readings.join(",")}}}`;
}
