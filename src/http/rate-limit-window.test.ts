import { describe, expect, it } from "vitest";
import { allow, isRunning, type RateWindow, rateHeaders, refuse, samePolicies } from "./rate-limit-window.ts";

const minute = { name: "per_minute", quota: 600, windowSeconds: 60 };
const hour = { name: "per_hour", quota: 20_000, windowSeconds: 3600 };
const nowMs = Date.parse("2026-03-01T12:00:00Z");

const windowOf = (policy: typeof minute, used: number, endsInMs: number): RateWindow => ({
  policy,
  startedAtMs: nowMs + endsInMs - policy.windowSeconds * 1000,
  used,
  own: used,
});

describe("the rate headers", () => {
  it("are those of section 21", () => {
    const decision = refuse([windowOf(minute, 600, 17_000), windowOf(hour, 3688, 1_520_000)], nowMs);
    expect(decision).toMatchObject({ allowed: false, violated: ["per_minute"], waitSeconds: 17 });
    expect(rateHeaders(decision)).toEqual({
      "RateLimit-Policy": '"per_minute";q=600;w=60, "per_hour";q=20000;w=3600',
      RateLimit: '"per_minute";r=0;t=17, "per_hour";r=16312;t=1520',
      "X-RateLimit-Limit": "600",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": "17",
    });
  });

  it("show the window with the smaller remainder, and the minute when both are equal", () => {
    const shown = (minuteUsed: number, hourUsed: number) => {
      const windows = [windowOf(hour, hourUsed, 1_520_000), windowOf(minute, minuteUsed, 17_000)];
      const headers = rateHeaders(allow(windows, 0, nowMs));
      return [headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"]];
    };
    expect(shown(100, 19_600)).toEqual(["20000", "400", "1520"]);
    expect(shown(100, 19_499)).toEqual(["600", "500", "17"]);
    expect(shown(200, 19_600)).toEqual(["600", "400", "17"]);
  });

  it("carry one policy for people", () => {
    expect(rateHeaders(allow([windowOf(minute, 1, 60_000)], 0, nowMs))).toMatchObject({
      "RateLimit-Policy": '"per_minute";q=600;w=60',
      RateLimit: '"per_minute";r=599;t=60',
    });
  });
});

describe("a window", () => {
  it("names both policies and the longer wait when both are exhausted", () => {
    const decision = refuse([windowOf(minute, 600, 17_000), windowOf(hour, 20_000, 1_520_000)], nowMs);
    expect(decision).toMatchObject({ violated: ["per_minute", "per_hour"], waitSeconds: 1520 });
  });

  it("is waited for in whole seconds, never too short", () => {
    const waitOf = (endsInMs: number) => refuse([windowOf(minute, 600, endsInMs)], nowMs).waitSeconds;
    expect([waitOf(1), waitOf(1000), waitOf(1001), waitOf(60_000)]).toEqual([1, 1, 2, 60]);
  });

  it("counts leased and unspent calls as left, and never less than none", () => {
    const remaining = (used: number, unspent: number) =>
      allow([windowOf(minute, used, 1000)], unspent, nowMs).states[0]?.remaining;
    expect([remaining(50, 49), remaining(600, 3), remaining(700, 0)]).toEqual([599, 3, 0]);
  });

  it("ends after its length, and when it starts further ahead than its length", () => {
    const runs = (startsInMs: number) =>
      isRunning({ policy: minute, startedAtMs: nowMs + startsInMs, used: 1, own: 1 }, nowMs);
    expect([runs(0), runs(-59_999), runs(-60_000), runs(60_000), runs(60_001)]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it("belongs to its policies by value", () => {
    expect(samePolicies([minute, hour], [{ ...minute }, { ...hour }])).toBe(true);
    expect(samePolicies([minute, hour], [minute])).toBe(false);
    expect(samePolicies([minute], [{ ...minute, quota: 601 }])).toBe(false);
    expect(samePolicies([minute], [{ ...minute, windowSeconds: 61 }])).toBe(false);
  });
});
