import { expect, it } from "vitest";
import { latencyAt, latencyBoundsMs } from "./latency-buckets.ts";

it("finds the middle and the slow end of many attempts", () => {
  // 90 between 50 and 75 ms, 10 between 1 and 1.5 s.
  const counts = new Map([
    [5, 90],
    [13, 10],
  ]);
  expect(latencyAt(0.5, counts)).toBe(64);
  expect(latencyAt(0.95, counts)).toBe(1250);
});

it("says nothing without attempts, and the highest bound for what took longer", () => {
  expect(latencyAt(0.5, new Map())).toBeNull();
  expect(latencyAt(0.5, new Map([[latencyBoundsMs.length, 3]]))).toBe(60_000);
});
