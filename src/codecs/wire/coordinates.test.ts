import { expect, it } from "vitest";
import { fromMinutes, fromParts, isOnEarth, readHeading } from "./coordinates.ts";

it("a coordinate reader turns minutes into decimals of a degree", () => {
  expect(fromMinutes(45, 54.3, false)).toBe(45.905);
  expect(fromMinutes(12, 27.6, true)).toBe(-12.46);
  expect(fromMinutes(0, 0, true)).toBe(0);
});

it("a coordinate reader turns parts of a degree into degrees", () => {
  expect(fromParts(41_902_782, 1e6)).toBe(41.902782);
  expect(fromParts(-124_963_660, 1e7)).toBe(-12.496366);
  expect(fromParts(40_582_690, 1_800_000)).toBe(22.5459389);
  expect(Object.is(fromParts(-0, 1e6), 0)).toBe(true);
});

it("a coordinate reader knows the edges of the earth", () => {
  expect(isOnEarth(90, -180)).toBe(true);
  expect(isOnEarth(90.1, 0)).toBe(false);
  expect(isOnEarth(0, 180.1)).toBe(false);
  expect(isOnEarth(Number.NaN, 0)).toBe(false);
});

it("a coordinate reader rounds a course and takes 360 for north", () => {
  expect([117.8, 0, 359.6, 360, -1, 361, null].map(readHeading)).toEqual([118, 0, 0, 0, null, null, null]);
});
