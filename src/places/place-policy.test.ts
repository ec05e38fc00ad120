import { describe, expect, it } from "vitest";
import { afterFailure, allowance, atTime, type Breaker, closedBreaker } from "./place-policy.ts";

describe("the breaker", () => {
  const failing = (breaker: Breaker, times: number, nowMs: number): Breaker =>
    Array.from({ length: times }).reduce<Breaker>((state) => afterFailure(state, nowMs), breaker);

  it("opens after five failures in a row, and lets one question through when its pause is over", () => {
    const nearly = failing(closedBreaker, 4, 1000);
    expect(allowance(nearly, 8)).toBe(8);
    const open = afterFailure(nearly, 1000);
    expect(allowance(open, 8)).toBe(0);
    expect(atTime(open, 5999)).toBe(open);
    expect(allowance(atTime(open, 6000), 8)).toBe(1);
    expect(failing(open, 7, 2000)).toBe(open);
  });

  it("pauses for longer each time, up to five minutes", () => {
    const pauses: number[] = [];
    let breaker = failing(closedBreaker, 5, 0);
    let nowMs = 0;
    for (let round = 0; round < 7; round++) {
      if (breaker.kind !== "open") throw new Error("not open");
      pauses.push(breaker.untilMs - nowMs);
      nowMs = breaker.untilMs;
      breaker = afterFailure(atTime(breaker, nowMs), nowMs);
    }
    expect(pauses).toEqual([5000, 15_000, 45_000, 135_000, 300_000, 300_000, 300_000]);
  });

  it("obeys a service that asks for a pause, within the same bound", () => {
    expect(afterFailure(closedBreaker, 0, 60_000)).toEqual({ kind: "open", untilMs: 60_000, openings: 1 });
    expect(afterFailure(closedBreaker, 0, 86_400_000)).toEqual({ kind: "open", untilMs: 300_000, openings: 1 });
    expect(afterFailure(closedBreaker, 0, 0)).toEqual({ kind: "open", untilMs: 5000, openings: 1 });
  });
});
