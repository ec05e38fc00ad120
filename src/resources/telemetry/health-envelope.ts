import type { MetricKey } from "../../codecs/metric-keys.ts";
import type { IsoTime } from "../../lib/iso-time.ts";
import { inRange, metrics } from "./metric-catalog.ts";

const keys = Object.keys(metrics) as MetricKey[];
const vitalKeys = ["hr", "sbp", "dbp", "spo2", "temp", "glucose"] as const satisfies readonly MetricKey[];

export interface EnvelopedReadings {
  receivedAtMs: number;
  deviceTimeMs: number | null;
  data: Readonly<Record<string, unknown>>;
}

/** Whether a row of telemetry becomes an outbound event: it has a vital sign with a value in range. */
export const isHealthSnapshot = (data: Readonly<Record<string, unknown>>): boolean =>
  vitalKeys.some((key) => inRange(key, data[key]));

/** `data` of `health.snapshot` (section 19.3) as JSON text: all metrics of the row with a value in range. */
export function healthSnapshotJson(row: EnvelopedReadings, id: string, iso: IsoTime): string {
  const readings: string[] = [];
  for (const key of keys) {
    const value = row.data[key];
    if (inRange(key, value)) readings.push(`"${key}":{"value":${value},"unit":"${metrics[key].unit}"}`);
  }
  const deviceTs = row.deviceTimeMs === null ? "null" : `"${iso(row.deviceTimeMs)}"`;
  const times = `"ts":"${iso(row.receivedAtMs)}","device_ts":${deviceTs}`;
  return `{"telemetry_id":"${id}",${times},"metrics":{${readings.join(",")}}}`;
}
