import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { noon, perMinute } from "../../test/support/rate-limit-world.ts";
import type { Database } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import { type Clock, makeManualClock } from "../lib/clock.ts";
import { newUuid } from "../lib/ids.ts";
import { makeLogger } from "../lib/logger.ts";
import { RateLimiter } from "./rate-limit.ts";

const log = makeLogger("silent");

describe("the memory of the limiter", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Grants the first lease of a principal with one call and the others with a slice; notes who gives calls back. */
  function openInMemory(clock: Clock) {
    const known = new Set<unknown>();
    const returns: unknown[] = [];
    const many = async (statement: TemplateStringsArray, ...values: unknown[]) => {
      const principalId = values[3];
      if (statement.join("").includes("given_back")) returns.push(principalId);
      const calls = known.has(principalId) ? 50 : 1;
      known.add(principalId);
      return [{ policy: "per_minute", started_at: noon, used: 100, calls }];
    };
    const listener = { on: () => undefined, onReset: () => undefined, isConnected: true };
    const limiter = new RateLimiter({
      db: { many } as unknown as Database,
      clock,
      listener: listener as unknown as Listener,
      log,
    });
    return { limiter, returns };
  }

  it("holds 10,000 principals and gives back the calls of the one that leaves", async () => {
    const { limiter, returns } = openInMemory(makeManualClock(noon));
    const principals = Array.from({ length: 10_000 }, newUuid);
    for (const principalId of principals) {
      await limiter.take(principalId, perMinute(600));
      await limiter.take(principalId, perMinute(600));
    }
    expect(returns).toEqual([]);
    await limiter.take(newUuid(), perMinute(600));
    await expect.poll(() => returns).toEqual([principals[0]]);
    await limiter.close();
    expect(returns).toHaveLength(10_000);
  });

  it("forgets a principal a minute after its window", async () => {
    const clock = makeManualClock(noon);
    const { limiter } = openInMemory(clock);
    await limiter.take(newUuid(), perMinute(600));
    clock.advanceMs(120_000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(vi.getTimerCount()).toBe(1);
    clock.advanceMs(1);
    await vi.advanceTimersByTimeAsync(500);
    expect(vi.getTimerCount()).toBe(0);
    await limiter.close();
  });
});
