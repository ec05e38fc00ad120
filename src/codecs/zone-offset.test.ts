import { expect, it } from "vitest";
import { zoneOffsetMinutes } from "./zone-offset.ts";

it.each([
  ["UTC", "2026-01-15", 0],
  ["Europe/Rome", "2026-01-15", 60],
  ["Europe/Rome", "2026-07-15", 120],
  ["Asia/Kathmandu", "2026-01-15", 345],
  ["America/St_Johns", "2026-01-15", -210],
])("%s is at %s %i minutes from UTC", (zone, day, minutes) => {
  expect(zoneOffsetMinutes(zone, Date.parse(day))).toBe(minutes);
});

it("refuses a zone that does not exist", () => {
  expect(() => zoneOffsetMinutes("Mars/Base", 0)).toThrow(RangeError);
});
