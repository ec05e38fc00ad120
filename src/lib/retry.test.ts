import { describe, expect, it } from "vitest";
import { nextAttemptAt, retryDelayMs, retryForADay, retryTimes } from "./retry.ts";

const createdAt = new Date("2026-03-01T08:00:00Z");
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const later = (ms: number): Date => new Date(createdAt.getTime() + ms);

describe("retries for a day", () => {
  const policy = retryForADay(30);

  it("wait longer after each attempt and end after about a day", () => {
    let now = createdAt;
    const waits: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const next = nextAttemptAt(policy, { attempts, createdAt }, now);
      if (!next) break;
      waits.push(next.getTime() - now.getTime());
      now = next;
    }
    expect(waits).toHaveLength(29);
    expect(waits.slice(0, 7)).toEqual([10_000, 30_000, 120_000, 600_000, 1_800_000, hourMs, hourMs]);
    expect(now.getTime() - createdAt.getTime()).toBeGreaterThanOrEqual(dayMs);
    expect(now.getTime() - createdAt.getTime()).toBeLessThan(dayMs + hourMs);
  });

  it("begin properly for work that nobody took for days", () => {
    const now = later(3 * dayMs);
    expect(nextAttemptAt(policy, { attempts: 1, createdAt }, now)).toEqual(new Date(now.getTime() + 10_000));
  });

  it("do not end within the day, however often a worker died", () => {
    const now = later(dayMs / 2);
    expect(nextAttemptAt(policy, { attempts: 500, createdAt }, now)).toEqual(new Date(now.getTime() + hourMs));
    expect(nextAttemptAt(policy, { attempts: 500, createdAt }, later(dayMs))).toBeUndefined();
  });
});

describe("a number of attempts", () => {
  it("ends with the last one, at any age", () => {
    const policy = retryTimes(3, [5000, 20_000]);
    expect([1, 2, 3, 4].map((attempts) => retryDelayMs(policy, attempts))).toEqual([
      5000,
      20_000,
      undefined,
      undefined,
    ]);
  });

  it("repeats the last wait of a short list", () => {
    expect([1, 2, 3, 4].map((attempts) => retryDelayMs(retryTimes(5, [10, 20]), attempts))).toEqual([10, 20, 20, 20]);
  });

  it("waits for nothing without a list", () => {
    expect(retryDelayMs(retryTimes(2, []), 1)).toBe(0);
  });
});
