import type { GpsPosition } from "../../codecs/tracker-message.ts";
import { distanceM } from "../../lib/geo.ts";
import type { RecentFix } from "../device-memory.ts";

export type InvalidReason = "zero_coordinates" | "out_of_range" | "low_accuracy" | "implausible_jump";

const maxAccuracyM = 10_000;
const fastestKmh = 300;

/** Null: nothing speaks against the fix by itself. */
export function invalidReason({ lat, lng, accuracyM }: GpsPosition): InvalidReason | null {
  if (lat === 0 && lng === 0) return "zero_coordinates";
  if (Math.abs(lat) > 90 || Math.abs(lng) > 180) return "out_of_range";
  if (accuracyM !== null && accuracyM > maxAccuracyM) return "low_accuracy";
  return null;
}

/** Clocks have seconds, so two fixes of one second count as a second apart. */
const speedKmh = (from: RecentFix, to: RecentFix): number =>
  distanceM(from, to) / 1000 / (Math.max(1000, to.tsMs - from.tsMs) / 3_600_000);

/** True when `middle` is a single outlier: reached and left too fast, while the points around it fit together. */
export const isJump = (before: RecentFix, middle: RecentFix, after: RecentFix): boolean =>
  speedKmh(before, middle) > fastestKmh &&
  speedKmh(middle, after) > fastestKmh &&
  speedKmh(before, after) <= fastestKmh;

const movingKmh = 2;
const movedM = 50;
const comparableMs = 10 * 60_000;

/**
 * By the speed the device reports: below 2 km/h GPS noise cannot be distinguished from a step. Without a speed, by the distance from a
 * fix of the last ten minutes: more than 50 m, or than what the two accuracies allow. Null: there is nothing to judge by.
 */
export function isMoving(gps: GpsPosition, fix: RecentFix, previous: RecentFix | undefined): boolean | null {
  if (gps.speedKmh !== null) return gps.speedKmh >= movingKmh;
  if (!previous || fix.tsMs < previous.tsMs || fix.tsMs - previous.tsMs > comparableMs) return null;
  const noiseM = (fix.accuracyM ?? 0) + (previous.accuracyM ?? 0);
  return distanceM(previous, fix) > Math.max(movedM, noiseM);
}
