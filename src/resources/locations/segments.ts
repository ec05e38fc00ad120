import { distanceM, lngNear, type Point } from "../../lib/geo.ts";
import { encodePolyline } from "./polyline.ts";

/**
 * Cuts a track into stops and travel (section 5.1). Pure; the points are valid ones in time order.
 *
 * A stop is a time of at least `minStopSeconds` within 200 m of one place; what lies between stops is travel. Neighbours share
 * the point at which one ends and the other begins. A track that is interrupted for over an hour is cut there, and a piece of
 * it that neither stays long enough nor gets 200 m away makes no segment.
 */

export interface TrackPoint extends Point {
  tsMs: number;
  accuracyM: number | null;
  speedKmh: number | null;
  address: string | null;
}

/** From inclusive, to exclusive. */
export interface Window {
  fromMs: number;
  toMs: number;
}

interface SegmentTimes {
  start_ts: string;
  end_ts: string | null;
  duration_seconds: number;
  ongoing: boolean;
  distance_m: number;
  point_count: number;
}

interface Place extends Point {
  address: string | null;
}

export interface MovingSegment extends SegmentTimes {
  type: "moving";
  avg_speed_kmh: number;
  max_speed_kmh: number;
  start: Place;
  end: Place;
  polyline: string;
}

export interface StoppedSegment extends SegmentTimes {
  type: "stopped";
  center: Point;
  radius_m: number;
  address: string | null;
}

export type Segment = MovingSegment | StoppedSegment;

const stayRadiusM = 200;
const maxGapMs = 3_600_000;
const freshToMs = 60_000;
/** Slower than anyone walks: who crosses the radius faster than this has not stopped in it. */
const passageMetersPerSecond = 0.5;

/** Part of a track: indexes of its first and last point. */
interface Span {
  first: number;
  last: number;
}

interface Piece extends Span {
  type: Segment["type"];
}

export function segmentTrack(
  points: readonly TrackPoint[],
  window: Window,
  minStopSeconds: number,
  nowMs: number,
): Segment[] {
  const pieces = unbrokenSpans(points).flatMap((span) => piecesOf(points, span, minStopSeconds * 1000));
  return pieces.map((piece, index) => {
    const part = points.slice(piece.first, piece.last + 1);
    const isLast = index === pieces.length - 1;
    const times = timesOf(part, isLast ? ongoingUntil(part, window, nowMs) : undefined);
    return piece.type === "moving" ? moving(part, times) : stopped(part, times);
  });
}

function unbrokenSpans(points: readonly TrackPoint[]): Span[] {
  const spans: Span[] = [];
  for (const [index, { tsMs }] of points.entries()) {
    const span = spans.at(-1);
    if (span && tsMs - at(points, span.last).tsMs <= maxGapMs) span.last = index;
    else spans.push({ first: index, last: index });
  }
  return spans;
}

function piecesOf(points: readonly TrackPoint[], span: Span, minStopMs: number): Piece[] {
  const stops = stopsIn(points, span, minStopMs);
  if (stops.length === 0) {
    const hasMoved = lastWithin(points, at(points, span.first), span.first, span.last) < span.last;
    return hasMoved ? [{ type: "moving", ...span }] : [];
  }
  const pieces: Piece[] = [];
  let reached = span.first;
  for (const stop of stops) {
    if (stop.first > reached) pieces.push({ type: "moving", first: reached, last: stop.first });
    pieces.push({ type: "stopped", ...stop });
    reached = stop.last;
  }
  if (reached < span.last) pieces.push({ type: "moving", first: reached, last: span.last });
  return pieces;
}

function stopsIn(points: readonly TrackPoint[], span: Span, minStopMs: number): Span[] {
  const stops: Span[] = [];
  const lasts = (first: number, last: number): number => at(points, last).tsMs - at(points, first).tsMs;
  let first = span.first;
  // The point that ended the last look. It ends most of the following ones as well, which then need no look at all: else a week
  // of noise a second apart with min_stop_seconds of a day would take 13 s instead of 0.1 s.
  let end = span.first;
  while (first < span.last && lasts(first, span.last) >= minStopMs) {
    const isEnded = end > first && lasts(first, end - 1) < minStopMs && !isNear(at(points, first), at(points, end));
    const last = isEnded ? end - 1 : lastWithin(points, at(points, first), first, span.last);
    const stay = { first, last };
    if (last < span.last) end = last + 1;
    const isWhole = first === span.first && last === span.last;
    if (lasts(first, last) < minStopMs) {
      first++;
    } else if (!isWhole && isPassage(points, stay)) {
      first = nextStart(points, stay);
    } else {
      // The first point may lie at the edge of the place; what stays near its middle belongs to it as well.
      const reach = lastWithin(points, centerOf(points.slice(first, last + 1)), last, span.last);
      stops.push({ first, last: reach });
      first = reach + 1;
    }
  }
  return stops;
}

const at = (points: readonly TrackPoint[], index: number): TrackPoint => points[index] as TrackPoint;

type Vague = Point & { accuracyM?: number | null };

/** Within the radius, widened by the worse accuracy of the two. */
const isNear = (a: Vague, b: Vague): boolean =>
  distanceM(a, b) <= stayRadiusM + Math.max(a.accuracyM ?? 0, b.accuracyM ?? 0);

/** The last of the unbroken row of points after `from` that are near a place. */
function lastWithin(points: readonly TrackPoint[], place: Vague, from: number, to: number): number {
  for (let index = from + 1; index <= to; index++) {
    if (!isNear(place, at(points, index))) return index - 1;
  }
  return to;
}

/**
 * Whether a stay is only the part of a walk that fits into the radius: at 3 km/h that takes four minutes. The middle half of
 * the time decides, so that coming and leaving do not.
 */
function isPassage(points: readonly TrackPoint[], stay: Span): boolean {
  const startMs = at(points, stay.first).tsMs;
  const quarterMs = (at(points, stay.last).tsMs - startMs) / 4;
  const early = placeAt(points, stay, startMs + quarterMs);
  const late = placeAt(points, stay, startMs + 3 * quarterMs);
  const movedM = distanceM(early, late) - Math.max(early.accuracyM ?? 0, late.accuracyM ?? 0);
  return movedM > (passageMetersPerSecond * 2 * quarterMs) / 1000;
}

/** Where the track was at a time, on the straight line between two points. */
function placeAt(points: readonly TrackPoint[], span: Span, timeMs: number): Vague {
  let index = span.first;
  while (index < span.last && at(points, index + 1).tsMs <= timeMs) index++;
  const before = at(points, index);
  const after = at(points, Math.min(index + 1, span.last));
  const share = after.tsMs > before.tsMs ? (timeMs - before.tsMs) / (after.tsMs - before.tsMs) : 0;
  return {
    lat: before.lat + (after.lat - before.lat) * share,
    lng: before.lng + (lngNear(after.lng, before.lng) - before.lng) * share,
    accuracyM: before.accuracyM,
  };
}

/** Where to look for a stop after a passage: a quarter of the radius on, since from the points before it looks the same. */
function nextStart(points: readonly TrackPoint[], stay: Span): number {
  const start = at(points, stay.first);
  for (let index = stay.first + 1; index <= stay.last; index++) {
    if (distanceM(start, at(points, index)) > stayRadiusM / 4) return index;
  }
  return stay.last + 1;
}

/** The time to which the last segment goes on (section 26.1), or undefined. A window may end in the future; a segment may not. */
function ongoingUntil(part: readonly TrackPoint[], { toMs }: Window, nowMs: number): number | undefined {
  const untilMs = Math.min(toMs, nowMs);
  const isFresh = nowMs - toMs < freshToMs && untilMs - at(part, part.length - 1).tsMs < maxGapMs;
  return isFresh ? untilMs : undefined;
}

function timesOf(part: readonly TrackPoint[], ongoingToMs: number | undefined): Omit<SegmentTimes, "distance_m"> {
  const startMs = at(part, 0).tsMs;
  const endMs = at(part, part.length - 1).tsMs;
  return {
    start_ts: new Date(startMs).toISOString(),
    end_ts: ongoingToMs === undefined ? new Date(endMs).toISOString() : null,
    duration_seconds: Math.round((Math.max(ongoingToMs ?? endMs, endMs) - startMs) / 1000),
    ongoing: ongoingToMs !== undefined,
    point_count: part.length,
  };
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
const placeOf = ({ lat, lng, address }: TrackPoint): Place => ({ lat, lng, address });

function moving(part: readonly TrackPoint[], times: Omit<SegmentTimes, "distance_m">): MovingSegment {
  let lengthM = 0;
  let fastestKmh = 0;
  for (const [index, point] of part.entries()) {
    const before = part[index - 1];
    if (!before) continue;
    const legM = distanceM(before, point);
    const legSeconds = (point.tsMs - before.tsMs) / 1000;
    lengthM += legM;
    // What the device measured is better than what two uncertain positions suggest.
    const legKmh = legSeconds > 0 ? (legM / legSeconds) * 3.6 : 0;
    fastestKmh = Math.max(fastestKmh, point.speedKmh ?? legKmh);
  }
  const [start, end] = [at(part, 0), at(part, part.length - 1)];
  const seconds = (end.tsMs - start.tsMs) / 1000;
  const averageKmh = seconds > 0 ? (lengthM / seconds) * 3.6 : 0;
  return {
    type: "moving",
    ...times,
    distance_m: Math.round(lengthM),
    avg_speed_kmh: rounded(averageKmh, 1),
    max_speed_kmh: rounded(Math.max(fastestKmh, averageKmh), 1),
    start: placeOf(start),
    end: placeOf(end),
    polyline: encodePolyline(part),
  };
}

function stopped(part: readonly TrackPoint[], times: Omit<SegmentTimes, "distance_m">): StoppedSegment {
  const center = centerOf(part);
  return {
    type: "stopped",
    ...times,
    distance_m: 0,
    center: { lat: rounded(center.lat, 6), lng: rounded(lngNear(center.lng, 0), 6) },
    radius_m: Math.round(part.reduce((radiusM, point) => Math.max(radiusM, distanceM(center, point)), 0)),
    address: part.findLast(({ address }) => address !== null)?.address ?? null,
  };
}

function centerOf(part: readonly TrackPoint[]): Point {
  const origin = at(part, 0);
  const sum = part.reduce(
    (total, { lat, lng }) => ({ lat: total.lat + lat, lng: total.lng + lngNear(lng, origin.lng) }),
    { lat: 0, lng: 0 },
  );
  return { lat: sum.lat / part.length, lng: sum.lng / part.length };
}
