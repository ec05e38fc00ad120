import { describe, expect, it } from "vitest";
import { changeOf, intervalOf } from "./interval.ts";

describe("the interval of measured ratios", () => {
  it("holds the geometric mean, and is as far from it upwards as downwards", () => {
    const { middle, low, high } = intervalOf([0.25, 1, 0.5]);
    expect(middle).toBeCloseTo(0.5, 10);
    expect(high / middle).toBeCloseTo(middle / low, 10);
    expect(low).toBeLessThan(0.25);
  });

  it("is a point when all rounds agree", () => {
    const { low, high } = intervalOf([0.4, 0.4, 0.4]);
    expect(low).toBeCloseTo(0.4, 10);
    expect(high).toBeCloseTo(0.4, 10);
  });

  it("says nothing after one round", () => {
    expect(intervalOf([0.4])).toEqual({ middle: 0.4, low: 0, high: Number.POSITIVE_INFINITY });
  });

  it("compares two trees round by round, so that a slow minute of the machine counts for both", () => {
    const { middle, low, high } = changeOf([0.44, 0.22, 0.33], [0.4, 0.2, 0.3]);
    for (const value of [middle, low, high]) expect(value).toBeCloseTo(1.1, 10);
  });
});
