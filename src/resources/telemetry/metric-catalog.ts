import type { MetricKey } from "../../codecs/metric-keys.ts";

export interface Metric {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly loinc: string | null;
}

/** The ten metrics with the ranges in which a value counts (section 6). A test holds them against the catalog's data. */
export const metrics: Readonly<Record<MetricKey, Metric>> = {
  bat: { unit: "%", min: 0, max: 100, loinc: null },
  hr: { unit: "bpm", min: 0, max: 350, loinc: "8867-4" },
  sbp: { unit: "mmHg", min: 0, max: 350, loinc: "8480-6" },
  dbp: { unit: "mmHg", min: 0, max: 250, loinc: "8462-4" },
  spo2: { unit: "%", min: 0, max: 100, loinc: "59408-5" },
  temp: { unit: "Cel", min: 0, max: 50, loinc: "8310-5" },
  glucose: { unit: "mg/dL", min: 0, max: 1000, loinc: "2339-0" },
  steps: { unit: "steps", min: 0, max: 1_000_000, loinc: "55423-8" },
  gsm_signal: { unit: "level", min: 0, max: 31, loinc: null },
  satellites: { unit: "count", min: 0, max: 99, loinc: null },
};

export const isMetricKey = (key: string): key is MetricKey => Object.hasOwn(metrics, key);

/** Whether a stored value is a reading of one of the ten metrics. Zero is one; null, text and further keys are not. */
export function inRange(key: string, value: unknown): value is number {
  if (!isMetricKey(key) || typeof value !== "number") return false;
  return value >= metrics[key].min && value <= metrics[key].max;
}
