import type { Location, Segment } from "../api/types.ts";

/** A place at a time. */
export interface TrackPoint {
  tsMs: number;
  lat: number;
  lng: number;
}

/** A stay at one place. */
export interface Stop {
  fromMs: number;
  toMs: number;
  lat: number;
  lng: number;
  radiusM: number;
  address: string | null;
  isOngoing: boolean;
}

const unit = 1e5;
/** A track that is interrupted for longer is not drawn through: nobody knows where the person was. */
export const maxTrackGapMs = 3_600_000;

/** The places of an encoded polyline with precision 5. */
export function decodePolyline(text: string): { lat: number; lng: number }[] {
  const places: { lat: number; lng: number }[] = [];
  let [index, lat, lng] = [0, 0, 0];
  const next = (): number => {
    let [value, shift] = [0, 0];
    for (let more = true; more && index < text.length; shift += 5) {
      const bits = text.charCodeAt(index++) - 63;
      value |= (bits & 0x1f) << shift;
      more = bits >= 0x20;
    }
    return value & 1 ? ~(value >> 1) : value >> 1;
  };
  while (index < text.length) {
    lat += next();
    lng += next();
    places.push({ lat: lat / unit, lng: lng / unit });
  }
  return places;
}

const endOf = (segment: Segment): number =>
  segment.end_ts === null ? Date.parse(segment.start_ts) + segment.duration_seconds * 1000 : Date.parse(segment.end_ts);

/** The points of segments; within one they are taken to be equally far apart in time, as reports usually are. */
export function trackOfSegments(segments: readonly Segment[]): TrackPoint[] {
  return segments.flatMap((segment) => {
    const fromMs = Date.parse(segment.start_ts);
    const toMs = endOf(segment);
    if (segment.type === "stopped") {
      return [fromMs, toMs].map((tsMs) => ({ tsMs, ...segment.center }));
    }
    const places = decodePolyline(segment.polyline);
    const stepMs = (toMs - fromMs) / Math.max(1, places.length - 1);
    return places.map((place, index) => ({ tsMs: fromMs + index * stepMs, ...place }));
  });
}

export const trackOfLocations = (rows: readonly Location[]): TrackPoint[] =>
  rows.map(({ ts, lat, lng }) => ({ tsMs: Date.parse(ts), lat, lng })).toSorted((a, b) => a.tsMs - b.tsMs);

export const stopsOf = (segments: readonly Segment[]): Stop[] =>
  segments.flatMap((segment) =>
    segment.type === "stopped"
      ? [
          {
            fromMs: Date.parse(segment.start_ts),
            toMs: endOf(segment),
            lat: segment.center.lat,
            lng: segment.center.lng,
            radiusM: segment.radius_m,
            address: segment.address,
            isOngoing: segment.ongoing,
          },
        ]
      : [],
  );

/** The lines to draw: pieces without a long silence in them. */
export function piecesOf(track: readonly TrackPoint[]): TrackPoint[][] {
  const pieces: TrackPoint[][] = [];
  for (const point of track) {
    const piece = pieces.at(-1);
    const last = piece?.at(-1);
    if (piece && last && point.tsMs - last.tsMs <= maxTrackGapMs) piece.push(point);
    else pieces.push([point]);
  }
  return pieces;
}

/** Where the device was at a time, on the straight line between two points; within a long silence the last known place. */
export function placeAt(track: readonly TrackPoint[], timeMs: number): (TrackPoint & { isOld: boolean }) | undefined {
  const index = track.findLastIndex(({ tsMs }) => tsMs <= timeMs);
  const before = track[index];
  if (!before) return undefined;
  const after = track[index + 1];
  if (!after || after.tsMs - before.tsMs > maxTrackGapMs) {
    return { ...before, isOld: timeMs - before.tsMs > maxTrackGapMs };
  }
  const share = after.tsMs > before.tsMs ? (timeMs - before.tsMs) / (after.tsMs - before.tsMs) : 0;
  return {
    tsMs: timeMs,
    lat: before.lat + (after.lat - before.lat) * share,
    lng: before.lng + (after.lng - before.lng) * share,
    isOld: false,
  };
}
