import { expect, it } from "vitest";
import { CallPace } from "./call-pace.ts";

const paceOf = (...ticks: number[]): CallPace => {
  const pace = new CallPace();
  for (const tick of ticks) pace.count(tick);
  return pace;
};

it("the limiter leases call by call for a principal that calls less than once a second", () => {
  expect(paceOf(1).sliceAt(1)).toBe(0);
  expect(paceOf(1, 3, 5).sliceAt(5)).toBe(0);
});

it("the limiter leases a slice for one that calls on, and none any more after a second of silence", () => {
  const pace = paceOf(1, 2);
  expect([2, 3, 4].map((tick) => pace.sliceAt(tick))).toEqual([50, 50, 0]);
});

it("the limiter leases what is called in half a second, by the busier of two", () => {
  expect(paceOf(...new Array(80).fill(1)).sliceAt(1)).toBe(80);
  expect(paceOf(...new Array(80).fill(1), 2).sliceAt(2)).toBe(80);
  expect(paceOf(...new Array(80).fill(1), 3).sliceAt(3)).toBe(0);
});
