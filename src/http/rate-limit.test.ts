import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  allowedOf,
  noon,
  openRateLimitWorld,
  perMinute,
  perMinuteAndHour,
  type RateLimitWorld,
  takeInTurn,
} from "../../test/support/rate-limit-world.ts";
import { makeManualClock } from "../lib/clock.ts";
import { newUuid } from "../lib/ids.ts";

let world: RateLimitWorld;
beforeAll(async () => {
  world = await openRateLimitWorld();
});
afterEach(async () => {
  vi.useRealTimers();
  await world.reset();
});
afterAll(() => world.close());

describe("one process", () => {
  it("counts down one by one, and a throttled call counts nowhere", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    const decisions = await takeInTurn(process, principalId, perMinuteAndHour(600, 20_000), 620);
    expect(decisions.map(({ states }) => states[0]!.remaining)).toEqual(
      decisions.map((_, index) => Math.max(0, 599 - index)),
    );
    expect(decisions.map(({ states }) => states[1]!.remaining)).toEqual(
      decisions.map((_, index) => Math.max(19_400, 19_999 - index)),
    );
    expect(allowedOf(decisions)).toBe(600);
    expect(decisions.at(-1)).toMatchObject({ violated: ["per_minute"], waitSeconds: 60 });
    expect(await world.usedIn(principalId)).toBe(600);
    expect(await world.usedIn(principalId, "per_hour")).toBe(600);
  });

  it("asks the database rarely, and not at all for most calls", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    const policies = perMinuteAndHour(600, 20_000);
    await takeInTurn(process, principalId, policies, 2);
    const before = process.sent();
    await takeInTurn(process, principalId, policies, 23);
    expect(process.sent()).toBe(before);
    await takeInTurn(process, principalId, policies, 375);
    expect(process.sent() - before).toBeLessThan(20);
  });

  it("refuses from memory, without waiting for others, what it exhausted alone", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinute(5), 6);
    const before = process.sent();
    const decisions = await takeInTurn(process, principalId, perMinute(5), 1000);
    expect(allowedOf(decisions)).toBe(0);
    expect(process.sent() - before).toBeLessThan(5);
  });

  it("allows exactly the quota of 1,000 parallel calls, the first ones, with few statements", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    const decisions = await Promise.all(
      Array.from({ length: 1000 }, () => process.limiter.take(principalId, perMinute(300))),
    );
    expect(decisions.map(({ allowed }) => allowed)).toEqual(decisions.map((_, index) => index < 300));
    expect(process.sent()).toBeLessThan(10);
  });

  it("takes a call of a quiet principal with one statement and holds nothing", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await process.limiter.take(principalId, perMinute(600));
    expect(await world.usedIn(principalId)).toBe(1);
  });

  it("gives unspent calls back after about a second of silence, and at the end", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const quiet = newUuid();
    await takeInTurn(process, quiet, perMinute(600), 5);
    expect(await world.usedIn(quiet)).toBeGreaterThan(5);
    await vi.waitFor(async () => expect(await world.usedIn(quiet)).toBe(5), { timeout: 3000 });

    const last = newUuid();
    await takeInTurn(process, last, perMinuteAndHour(600, 20_000), 7);
    await process.limiter.close();
    expect([await world.usedIn(last), await world.usedIn(last, "per_hour")]).toEqual([7, 7]);
    await process.limiter.take(last, perMinuteAndHour(600, 20_000));
    expect(await world.usedIn(last)).toBe(8);
  });

  it("holds nothing while it could not hear a recall", async () => {
    const process = await world.openProcess(makeManualClock(noon), { isListening: false });
    const principalId = newUuid();
    for (let call = 1; call <= 5; call++) {
      const decision = await process.limiter.take(principalId, perMinute(600));
      expect(decision.states[0]!.remaining).toBe(600 - call);
      expect(await world.usedIn(principalId)).toBe(call);
    }
  });

  it("gives everything back when the notification connection is lost", async () => {
    // Without ticks no silence is noticed, which would give back as well.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinute(600), 5);
    await world.db.many`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`;
    await expect.poll(() => world.usedIn(principalId), { timeout: 5000 }).toBe(5);
  });
});

describe("windows", () => {
  it("start with the first call and start again with the first call after their end", async () => {
    const clock = makeManualClock(noon);
    const process = await world.openProcess(clock);
    const principalId = newUuid();
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(10), 12))).toBe(10);
    clock.advanceMs(59_001);
    expect(await process.limiter.take(principalId, perMinute(10))).toMatchObject({ allowed: false, waitSeconds: 1 });
    clock.advanceMs(998);
    expect(await process.limiter.take(principalId, perMinute(10))).toMatchObject({ allowed: false, waitSeconds: 1 });
    clock.advanceMs(30_001);
    const decision = await process.limiter.take(principalId, perMinute(10));
    expect(decision).toMatchObject({ allowed: true, states: [{ remaining: 9, resetSeconds: 60 }] });
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(10), 12))).toBe(9);
  });

  it("keep the hour exact when a slice outlives its minute", async () => {
    const clock = makeManualClock(noon);
    const process = await world.openProcess(clock);
    const principalId = newUuid();
    const policies = perMinuteAndHour(100, 230);
    const perRound: number[] = [];
    for (let round = 0; round < 4; round++) {
      perRound.push(allowedOf(await takeInTurn(process, principalId, policies, round === 0 ? 40 : 120)));
      clock.advanceMs(60_000);
    }
    expect(perRound).toEqual([40, 100, 90, 0]);
    const decision = await process.limiter.take(principalId, policies);
    expect(decision).toMatchObject({ violated: ["per_hour"], waitSeconds: 3600 - 240 });
  });

  it("do not spend the minute, nor start it, when the hour has no room", async () => {
    const clock = makeManualClock(noon);
    const process = await world.openProcess(clock);
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinuteAndHour(10, 5), 8);
    expect(await world.usedIn(principalId)).toBe(5);
    clock.advanceMs(61_000);
    const decision = await process.limiter.take(principalId, perMinuteAndHour(10, 5));
    expect(decision).toMatchObject({
      allowed: false,
      violated: ["per_hour"],
      waitSeconds: 3539,
      states: [{ remaining: 10, resetSeconds: 60 }, { remaining: 0 }],
    });
    const row = await world.db.one<{ started_at: Date }>`
      select started_at from rate_windows where principal_id = ${principalId} and policy = 'per_minute'`;
    expect(row.started_at).toEqual(noon);
  });

  it("are both named with the longer wait when both are exhausted", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const decisions = await takeInTurn(process, newUuid(), perMinuteAndHour(5, 5), 6);
    expect(decisions.at(-1)).toMatchObject({ violated: ["per_minute", "per_hour"], waitSeconds: 3600 });
  });

  it("follow a changed quota at once", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinute(600), 20);
    const lowered = await process.limiter.take(principalId, perMinute(20));
    expect(lowered).toMatchObject({ allowed: false, states: [{ quota: 20, remaining: 0 }] });
    const further = await process.limiter.take(principalId, perMinute(10));
    expect(further).toMatchObject({ allowed: false, states: [{ quota: 10, remaining: 0 }] });
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(25), 10))).toBe(5);
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(0), 2))).toBe(0);
  });

  it("do not lock a principal out after a clock was far ahead", async () => {
    const principalId = newUuid();
    const ahead = await world.openProcess(makeManualClock(new Date("2027-03-01T12:00:00Z")));
    await takeInTurn(ahead, principalId, perMinute(5), 6);
    const clock = makeManualClock(noon);
    const process = await world.openProcess(clock);
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(5);
    clock.set(new Date("2025-03-01T12:00:00Z"));
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(5);
    clock.advanceMs(-1000);
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(0);
  });
});

describe("a failing database", () => {
  it("rejects the call and gives nothing for free afterwards", async () => {
    const process = await world.openProcess(makeManualClock(noon));
    const principalId = newUuid();
    let allowed = allowedOf(await takeInTurn(process, principalId, perMinute(100), 3));
    const failure = new Error("the database is gone");
    process.fail(failure);
    await expect(
      (async () => {
        for (let call = 0; call < 100; call++) {
          await process.limiter.take(principalId, perMinute(100));
          allowed += 1;
        }
      })(),
    ).rejects.toBe(failure);
    const parallel = await Promise.allSettled([1, 2, 3].map(() => process.limiter.take(principalId, perMinute(100))));
    expect(parallel.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    process.fail(undefined);
    allowed += allowedOf(await takeInTurn(process, principalId, perMinute(100), 120));
    expect(allowed).toBe(100);
  });
});
