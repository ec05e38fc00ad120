import { get } from "../api/client.ts";
import type { Event, Location, Page, Segment, Telemetry } from "../api/types.ts";
import { charts, type Reading, toReading } from "./device-series.ts";
import { type Stop, stopsOf, type TrackPoint, trackOfLocations, trackOfSegments } from "./device-track.ts";
import type { TimeView } from "./time-view.ts";

const pageSize = 500;
/** More readings than a chart can show; the reader is told when there were more. */
const maxPages = 30;
const dayMs = 25 * 3_600_000;
const maxSegmentsMs = 7 * 86_400_000 + 3_600_000;

const windowQuery = ({ fromMs, toMs }: TimeView): string =>
  `ts_after=${new Date(fromMs).toISOString()}&ts_before=${new Date(toMs).toISOString()}`;

/** The newest rows of a cursor list, up to a limit. */
async function getNewest<T>(path: string): Promise<{ rows: T[]; isCut: boolean }> {
  const rows: T[] = [];
  let next: string | null = path;
  for (let count = 0; next !== null && count < maxPages; count++) {
    const page: Page<T> = await get<Page<T>>(next);
    rows.push(...page.results);
    next = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search;
  }
  return { rows, isCut: next !== null };
}

export interface Readings {
  readings: readonly Reading[];
  /** There were more than are shown. */
  isCut: boolean;
}

/** Battery and steps are in every report; what people ask for is rarer and read by itself, so that it reaches back further. */
const metricGroups = [
  charts.flatMap(({ metrics }) => metrics.filter((metric) => metric !== "bat" && metric !== "steps")),
  ["bat", "steps"],
];

export async function loadReadings(uid: string, window: TimeView): Promise<Readings> {
  const lists = await Promise.all(
    metricGroups.map((metrics) =>
      getNewest<Telemetry>(
        `/api/v1/devices/${uid}/telemetry/?page_size=${pageSize}&metric=${metrics.join(",")}&${windowQuery(window)}`,
      ),
    ),
  );
  const byId = new Map(lists.flatMap(({ rows }) => rows).map((row) => [row.id, row]));
  return { readings: [...byId.values()].map(toReading), isCut: lists.some(({ isCut }) => isCut) };
}

export interface Track {
  points: readonly TrackPoint[];
  stops: readonly Stop[];
  distanceM: number;
}

/** Null: the window is too long for a track. */
export async function loadTrack(uid: string, window: TimeView): Promise<Track | null> {
  const { fromMs, toMs } = window;
  if (toMs - fromMs > maxSegmentsMs) return null;
  // The service takes seven days at most, and the week in which the clocks go back is an hour longer.
  const bounded = { fromMs: Math.max(fromMs, toMs - 7 * 86_400_000), toMs: Math.min(toMs, Date.now()) };
  if (bounded.fromMs >= bounded.toMs) return { points: [], stops: [], distanceM: 0 };
  const base = `/api/v1/devices/${uid}/locations`;
  const [{ segments }, exact] = await Promise.all([
    get<{ segments: Segment[] }>(`${base}/segments/?${windowQuery(bounded)}`),
    toMs - fromMs <= dayMs
      ? getNewest<Location>(`${base}/?page_size=${pageSize}&${windowQuery(bounded)}`)
      : Promise.resolve({ rows: [], isCut: true }),
  ]);
  return {
    points: exact.isCut ? trackOfSegments(segments) : trackOfLocations(exact.rows),
    stops: stopsOf(segments),
    distanceM: segments.reduce((sum, { distance_m }) => sum + distance_m, 0),
  };
}

export async function loadEvents(uid: string, window: TimeView): Promise<Event[]> {
  const path = `/api/v1/events/?device_uid=${uid}&page_size=${pageSize}&${windowQuery(window)}`;
  return (await get<Page<Event>>(path)).results;
}
