import { describe, expect, it } from "vitest";
import { maxAttempts, nextState, type Outcome } from "./delivery-policy.ts";

const now = new Date("2026-03-01T08:15:30.000Z");
const waits = [1000, 5000, 30_000, 120_000, 600_000];
const failed: Outcome = { kind: "failed", error: "no answer" };
const answered = (status: number): Outcome => ({ kind: "answered", status });

/** Milliseconds until the next attempt, or what else follows. */
function follow(attempt: number, outcome: Outcome, waitsMs = waits, retryAfter?: string): number | string {
  const next = nextState(attempt, outcome, now, waitsMs, retryAfter);
  return next.kind === "retry" ? next.dueAt.getTime() - now.getTime() : next.kind;
}

describe("the schedule", () => {
  it("waits 1 s, 5 s, 30 s and 2 min, and parks after the fifth attempt", () => {
    expect([1, 2, 3, 4, 5].map((attempt) => follow(attempt, failed))).toEqual([
      1000,
      5000,
      30_000,
      120_000,
      "dead_letter",
    ]);
  });

  it("makes more attempts only when the list is longer than five", () => {
    const seven = [10, 20, 30, 40, 50, 60, 70];
    expect(maxAttempts(seven)).toBe(7);
    expect([5, 6, 7].map((attempt) => follow(attempt, failed, seven))).toEqual([50, 60, "dead_letter"]);
  });

  it("repeats the last wait of a short list, and makes five attempts all the same", () => {
    expect([1, 2, 3, 4, 5].map((attempt) => follow(attempt, failed, [10, 20]))).toEqual([
      10,
      20,
      20,
      20,
      "dead_letter",
    ]);
  });
});

describe("the answer", () => {
  it("is a success from 200 to 299, at any attempt", () => {
    for (const status of [200, 201, 204, 299]) expect(follow(5, answered(status))).toBe("delivered");
  });

  it("is a failure otherwise, redirects included", () => {
    for (const status of [300, 301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503, 599]) {
      expect(follow(1, answered(status))).toBe(1000);
    }
  });

  it("parks at once with 410", () => {
    expect(follow(1, answered(410))).toBe("dead_letter");
  });
});

describe("Retry-After", () => {
  it("moves the next attempt later, at most to twice the wait", () => {
    expect(follow(2, answered(503), waits, "7")).toBe(7000);
    expect(follow(2, answered(429), waits, "10")).toBe(10_000);
    expect(follow(2, answered(429), waits, "3600")).toBe(10_000);
  });

  it("never moves it earlier", () => {
    for (const text of ["0", "1", "-5", "", "soon", "1.5", "Sun, 01 Mar 2026 08:00:00 GMT"]) {
      expect(follow(2, answered(503), waits, text)).toBe(5000);
    }
  });

  it("takes a date", () => {
    expect(follow(3, answered(503), waits, "Sun, 01 Mar 2026 08:16:15 GMT")).toBe(45_000);
  });

  it("counts only with 429 and 503", () => {
    for (const status of [500, 502, 504, 400, 302]) expect(follow(2, answered(status), waits, "9")).toBe(5000);
  });
});
