import { expect, test } from "vitest";
import { simulateDay } from "../support/simulated-day.ts";

test("on a day of simulated people, fences report where the people were", async () => {
  const { wanted, misses, falseAlarms } = await simulateDay({
    people: 12,
    seed: 7,
    from: 8,
    to: 13,
    reportSeconds: 120,
  });
  expect(misses).toEqual([]);
  expect(falseAlarms).toEqual([]);
  expect(Math.min(wanted.enter, wanted.exit, wanted.dwell)).toBeGreaterThan(2);
}, 60_000);
