import type { Device, Telemetry } from "../api/types.ts";

/** One chart: readings of one or two metrics that are drawn together. */
export const charts = [
  { id: "hr", metrics: ["hr"] },
  { id: "pressure", metrics: ["sbp", "dbp"] },
  { id: "spo2", metrics: ["spo2"] },
  { id: "temp", metrics: ["temp"] },
  { id: "glucose", metrics: ["glucose"] },
  { id: "steps", metrics: ["steps"] },
  { id: "bat", metrics: ["bat"] },
] as const;
export type Chart = (typeof charts)[number];
export type ChartMetric = Chart["metrics"][number];

/** A row of readings as charts need it. */
export interface Reading {
  tsMs: number;
  data: Readonly<Record<string, unknown>>;
}

/** Times in milliseconds and, for each metric, a value or null at each of them. */
export interface Series {
  timesMs: number[];
  values: (number | null)[][];
}

const minGapMs = 15 * 60_000;
/** A device that reports every ten minutes may miss two reports before the line breaks. */
const missedReports = 3.5;

export const toReading = ({ ts, data }: Pick<Telemetry, "ts" | "data">): Reading => ({ tsMs: Date.parse(ts), data });

const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
}

/** The longest silence that is drawn as a line: a few times the interval at which the device reports. */
export function maxLineMs(timesMs: readonly number[]): number {
  const waits = timesMs.slice(1).map((time, index) => time - (timesMs[index] as number));
  return Math.max(minGapMs, median(waits) * missedReports);
}

/**
 * The readings of a chart in time order. Where the device was silent for long a point without a value is put in, so that a gap is
 * seen as a gap and nobody takes a straight line for a night's sleep.
 */
export function seriesOf(readings: readonly Reading[], metrics: readonly string[]): Series {
  const rows = readings
    .map(({ tsMs, data }) => ({ tsMs, values: metrics.map((metric) => numberOf(data[metric])) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .toSorted((a, b) => a.tsMs - b.tsMs);
  const maxMs = maxLineMs(rows.map(({ tsMs }) => tsMs));
  const series: Series = { timesMs: [], values: metrics.map(() => []) };
  const add = (tsMs: number, values: readonly (number | null)[]): void => {
    series.timesMs.push(tsMs);
    for (const [index, value] of values.entries()) series.values[index]?.push(value);
  };
  const nothing = metrics.map(() => null);
  for (const [index, { tsMs, values }] of rows.entries()) {
    const before = rows[index - 1]?.tsMs;
    // Two reports of one moment, as after a reconnection: the line needs each time once.
    if (before === tsMs) continue;
    if (before !== undefined && tsMs - before > maxMs) add(before + 1, nothing);
    add(tsMs, values);
  }
  return series;
}

/** Which metrics of a series have any value at all in a view. */
export interface Summary {
  latest: number;
  latestMs: number;
  low: number;
  high: number;
  count: number;
}

export function summaryOf(
  { timesMs, values }: Series,
  metric: number,
  fromMs: number,
  toMs: number,
): Summary | undefined {
  let summary: Summary | undefined;
  for (const [index, tsMs] of timesMs.entries()) {
    const value = values[metric]?.[index] ?? null;
    if (value === null || tsMs < fromMs || tsMs > toMs) continue;
    summary = {
      latest: value,
      latestMs: tsMs,
      low: Math.min(summary?.low ?? value, value),
      high: Math.max(summary?.high ?? value, value),
      count: (summary?.count ?? 0) + 1,
    };
  }
  return summary;
}

/** The value that counted at a time: the last one before it, unless the device was silent since. */
export function valueAt({ timesMs, values }: Series, metric: number, timeMs: number): number | undefined {
  const index = timesMs.findLastIndex((tsMs) => tsMs <= timeMs);
  const row = values[metric] ?? [];
  // The other metric of a pair may stand in the newest row.
  for (let place = index; place >= 0 && place > index - 3; place--) {
    const isGap = values.every((one) => one[place] === null);
    if (isGap && timeMs - (timesMs[place] as number) > minGapMs) return undefined;
    const value = row[place] ?? null;
    if (value !== null) return value;
  }
  return undefined;
}

/** Adds what the live stream says of a device to the readings that were loaded; the same array when there is nothing new. */
export function withLive(readings: readonly Reading[], status: Device["last_status"]): readonly Reading[] {
  const newestMs = readings.reduce((newest, { tsMs }) => Math.max(newest, tsMs), 0);
  const added = new Map<number, Record<string, number>>();
  for (const [metric, entry] of Object.entries(status)) {
    const tsMs = entry?.ts ? Date.parse(entry.ts) : 0;
    if (entry && tsMs > newestMs) added.set(tsMs, { ...added.get(tsMs), [metric]: entry.value });
  }
  return added.size === 0 ? readings : [...readings, ...[...added].map(([tsMs, data]) => ({ tsMs, data }))];
}
