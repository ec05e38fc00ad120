import { moved } from "./ground.ts";
import type { Person } from "./itinerary.ts";
import type { Moment } from "./life.ts";
import { bell, between, hash, uniform, wandering } from "./random.ts";

export interface SeenCell {
  lac: number;
  cid: number;
  /** dBm. */
  signalDbm: number;
}

export interface SeenAccessPoint {
  ssid: string;
  /** Lower case with colons. */
  mac: string;
  signalDbm: number;
}

/** What the watch's receivers make of a moment. */
export interface Sighting {
  /** Null: no fix, as mostly indoors. */
  gps: {
    lat: number;
    lng: number;
    altitudeM: number;
    speedKmh: number;
    heading: number;
    satellites: number;
    accuracyM: number;
  } | null;
  gsmPercent: number;
  mcc: number;
  mnc: number;
  cells: readonly SeenCell[];
  accessPoints: readonly SeenAccessPoint[];
}

const minuteMs = 60_000;
const indoorFixShare = 0.25;

/** Without noise every fix is the true place; whether there is a fix at all stays the same. */
export function sightingAt(person: Person, timeMs: number, moment: Moment, hasNoise: boolean): Sighting {
  const { seed, city } = person;
  const isNearWindow = uniform(seed, "window", Math.floor(timeMs / (5 * minuteMs))) < indoorFixShare;
  const hasFix = !moment.isIndoor || isNearWindow;
  const spreadM = moment.isIndoor ? 14 : 5;
  const drift = (axis: string): number => (hasNoise ? spreadM * wandering(timeMs, minuteMs, seed, "gps", axis) : 0);
  const place = moved(moment, drift("east"), drift("north"));
  const gps = {
    lat: place.lat,
    lng: place.lng,
    altitudeM: Math.round(20 + 6 * wandering(timeMs, 10 * minuteMs, seed, "altitude")),
    speedKmh: Math.round(moment.speedKmh * 10) / 10,
    heading: Math.round(moment.heading) % 360,
    satellites: moment.isIndoor ? 4 : Math.round(between(7, 12, seed, "satellites", Math.floor(timeMs / minuteMs))),
    accuracyM: moment.isIndoor ? 30 : 10,
  };
  return {
    gps: hasFix ? gps : null,
    gsmPercent: Math.min(100, Math.max(15, Math.round(68 + 12 * wandering(timeMs, 3 * minuteMs, seed, "gsm")))),
    mcc: city.mcc,
    mnc: city.mnc,
    cells: cellsAround(moment, timeMs),
    accessPoints: accessPointsAround(moment, timeMs),
  };
}

/** Cells belong to the ground, not to the person: all who stand in one square of some 700 m see the same. */
function cellsAround({ lat, lng }: Moment, timeMs: number): SeenCell[] {
  const [row, column] = [Math.floor(lat * 160), Math.floor(lng * 120)];
  const lac = 1 + (hash("lac", Math.floor(row / 8), Math.floor(column / 8)) % 60_000);
  return [0, 1].map((neighbour) => ({
    lac,
    cid: 1 + (hash("cell", row, column + neighbour) % 65_000),
    signalDbm: Math.round(-70 - neighbour * 14 + 3 * bell("signal", row, column, Math.floor(timeMs / minuteMs))),
  }));
}

/** Four in a building, one in some streets. */
function accessPointsAround(moment: Moment, timeMs: number): SeenAccessPoint[] {
  const [row, column] = [Math.floor(moment.lat * 2000), Math.floor(moment.lng * 1500)];
  const count = moment.isIndoor ? 4 : hash("street", row, column) % 2;
  return Array.from({ length: count }, (_, index) => {
    const low = hash("mac", row, column, index).toString(16).padStart(8, "0");
    const mac = `9c3d${low}`.replace(/..(?=.)/g, "$&:");
    const signalDbm = Math.round(-48 - index * 9 + 2 * bell("wifi", row, column, index, Math.floor(timeMs / minuteMs)));
    return { ssid: `net${low.slice(0, 4)}`, mac, signalDbm };
  });
}
