import { expect, it } from "vitest";
import { nextOffsetChange, zoneOffsetMinutes } from "./zone-offset.ts";

it.each([
  ["UTC", "2026-01-15", 0],
  ["Europe/Rome", "2026-01-15", 60],
  ["Europe/Rome", "2026-07-15", 120],
  ["Asia/Kathmandu", "2026-01-15", 345],
  ["America/St_Johns", "2026-01-15", -210],
])("%s is at %s %i minutes from UTC", (zone, day, minutes) => {
  expect(zoneOffsetMinutes(zone, Date.parse(day))).toBe(minutes);
});

it("the zone offset refuses a zone that does not exist", () => {
  expect(() => zoneOffsetMinutes("Mars/Base", 0)).toThrow(RangeError);
});

it.each([
  ["Europe/Rome", "2026-01-15T00:00:00Z", "2026-03-29T01:00:00Z"],
  ["Europe/Rome", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"],
  ["Europe/Rome", "2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00Z"],
  ["America/New_York", "2026-10-31T12:34:56.789Z", "2026-11-01T06:00:00Z"],
])("%s after %s changes at %s", (zone, after, change) => {
  expect(nextOffsetChange(zone, Date.parse(after))).toBe(Date.parse(change));
});

it("the zone offset knows zones that never change", () => {
  expect(nextOffsetChange("Asia/Kathmandu", Date.parse("2026-01-15"))).toBeUndefined();
});
