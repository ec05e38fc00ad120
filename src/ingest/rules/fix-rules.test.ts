import { expect, test } from "vitest";
import type { GpsPosition } from "../../codecs/tracker-message.ts";
import type { RecentFix } from "../device-memory.ts";
import { invalidReason, isJump, isMoving } from "./fix-rules.ts";

const gps = (fields: Partial<GpsPosition> = {}): GpsPosition => ({
  lat: 41.9,
  lng: 12.4,
  altitudeM: null,
  speedKmh: null,
  heading: null,
  accuracyM: null,
  satellites: null,
  ...fields,
});
const fix = (minute: number, lat: number, accuracyM: number | null = null): RecentFix => ({
  id: Buffer.alloc(16),
  tsMs: minute * 60_000,
  lat,
  lng: 12.4,
  accuracyM,
});

test.each([
  [{}, null],
  [{ lat: 0, lng: 0 }, "zero_coordinates"],
  [{ lat: 0, lng: 0.1 }, null],
  [{ lat: 90.1 }, "out_of_range"],
  [{ lng: -180.1 }, "out_of_range"],
  [{ lat: -90, lng: 180 }, null],
  [{ accuracyM: 10_000 }, null],
  [{ accuracyM: 10_001 }, "low_accuracy"],
] as const)("the ingest judges a fix by itself: %o", (fields, reason) =>
  expect(invalidReason(gps(fields))).toBe(reason),
);

test("the ingest calls a jump only a single point that is reached and left too fast", () => {
  expect(isJump(fix(0, 41.9), fix(1, 45), fix(2, 41.9))).toBe(true);
  // A flight: the points around do not fit together either.
  expect(isJump(fix(0, 41.9), fix(1, 45), fix(2, 48))).toBe(false);
  // 4 degrees in an hour and a half are 296 km/h.
  expect(isJump(fix(0, 41.9), fix(90, 45.9), fix(180, 41.9))).toBe(false);
  // Two fixes of one second count as a second apart.
  expect(isJump(fix(0, 41.9), fix(0, 41.9004), fix(0, 41.9))).toBe(false);
});

test("the ingest detects movement by speed, else by distance, else not at all", () => {
  expect(isMoving(gps({ speedKmh: 2 }), fix(1, 41.9), undefined)).toBe(true);
  expect(isMoving(gps({ speedKmh: 1.9 }), fix(1, 45), fix(0, 41.9))).toBe(false);
  expect(isMoving(gps(), fix(1, 41.9), undefined)).toBeNull();
  expect(isMoving(gps(), fix(1, 41.901), fix(0, 41.9))).toBe(true);
  expect(isMoving(gps(), fix(1, 41.9003), fix(0, 41.9))).toBe(false);
  expect(isMoving(gps(), fix(1, 41.901, 100), fix(0, 41.9, 50))).toBe(false);
  expect(isMoving(gps(), fix(11, 42), fix(0, 41.9))).toBeNull();
});
