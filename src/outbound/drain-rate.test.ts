import { expect, it } from "vitest";
import { type Arrivals, DrainRate } from "./drain-rate.ts";

const none: Arrivals = { durationMs: 1000, appended: 0, begunNew: 0, failed: 0 };

function rateAfter(seconds: number, arrivals: Partial<Arrivals>): number {
  const rate = new DrainRate(5);
  for (let second = 0; second < seconds; second++) rate.note({ ...none, ...arrivals });
  return rate.perSecond;
}

it("late rows may begin at 1,000 a second although none come", () => {
  expect(rateAfter(0, {})).toBe(1000);
  expect(rateAfter(60, { begunNew: 5000 })).toBe(1000);
});

it("late rows may begin at a quarter more than come, on the mean of some seconds", () => {
  expect(rateAfter(60, { appended: 1500 })).toBeCloseTo(1875);
  const rate = new DrainRate(5);
  for (let second = 0; second < 60; second++) rate.note({ ...none, appended: second % 4 === 0 ? 8000 : 0 });
  expect(rate.perSecond).toBeGreaterThan(1500);
  expect(rate.perSecond).toBeLessThan(3500);
});

it("attempts that are made again count as coming, as many as the rows of now can make", () => {
  expect(rateAfter(60, { appended: 1500, failed: 900 })).toBeCloseTo(3000);
  expect(rateAfter(60, { begunNew: 500, failed: 9000 })).toBeCloseTo(2500);
  expect(rateAfter(60, { failed: 9000 })).toBe(1000);
});
