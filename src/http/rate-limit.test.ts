import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import { type Database, type Db, openDatabase } from "../db/database.ts";
import { Listener } from "../db/listener.ts";
import { type Clock, makeManualClock } from "../lib/clock.ts";
import { newUuid } from "../lib/ids.ts";
import { makeLogger } from "../lib/logger.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { RateDecision } from "./rate-limit-window.ts";

const log = makeLogger("silent");
const noon = new Date("2026-03-01T12:00:00Z");
const perMinute = (quota: number) => [{ name: "per_minute", quota, windowSeconds: 60 }];
const perMinuteAndHour = (minute: number, hour: number) => [
  ...perMinute(minute),
  { name: "per_hour", quota: hour, windowSeconds: 3600 },
];
const allowedOf = (decisions: readonly RateDecision[]) => decisions.filter(({ allowed }) => allowed).length;

let test: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  test = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: test.url }, log });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const part of opened.splice(0).reverse()) await part.close();
});
afterAll(async () => {
  await db.close();
  await test.drop();
});

interface Process {
  limiter: RateLimiter;
  listener: Listener;
  /** Statements sent so far. */
  sent(): number;
  fail(error: Error | undefined): void;
}

/** A process of the service as far as the limiter is concerned: its own connections, listener and memory. */
async function openProcess(clock: Clock, { isListening = true } = {}): Promise<Process> {
  const own = openDatabase({ connection: { connectionString: test.url }, log, poolSize: 3 });
  opened.push(own);
  let sent = 0;
  let failure: Error | undefined;
  const watch =
    <K extends keyof Db>(method: K) =>
    (...statement: Parameters<Db[K]>) => {
      sent += 1;
      if (failure) return Promise.reject(failure);
      return (own[method] as (...values: unknown[]) => Promise<never>)(...statement);
    };
  const watched = { ...own, many: watch("many"), run: watch("run") } as Database;
  const listener = new Listener(own, log);
  const limiter = new RateLimiter({ db: watched, clock, listener, log });
  if (isListening) await listener.start();
  opened.push(listener, limiter);
  return {
    limiter,
    listener,
    sent: () => sent,
    fail: (error) => {
      failure = error;
    },
  };
}

const usedIn = async (principalId: string, policy = "per_minute") =>
  (
    await db.maybeOne<{ used: number }>`
      select used from rate_windows where principal_id = ${principalId} and policy = ${policy}`
  )?.used;

async function takeInTurn(
  { limiter }: Process,
  principalId: string,
  policies: ReturnType<typeof perMinute>,
  calls: number,
) {
  const decisions: RateDecision[] = [];
  for (let call = 0; call < calls; call++) decisions.push(await limiter.take(principalId, policies));
  return decisions;
}

describe("one process", () => {
  it("counts down one by one, and a throttled call counts nowhere", async () => {
    const process = await openProcess(makeManualClock(noon));
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
    expect(await usedIn(principalId)).toBe(600);
    expect(await usedIn(principalId, "per_hour")).toBe(600);
  });

  it("asks the database rarely, and not at all for most calls", async () => {
    const process = await openProcess(makeManualClock(noon));
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
    const process = await openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinute(5), 6);
    const before = process.sent();
    const decisions = await takeInTurn(process, principalId, perMinute(5), 1000);
    expect(allowedOf(decisions)).toBe(0);
    expect(process.sent() - before).toBeLessThan(5);
  });

  it("allows exactly the quota of 1,000 parallel calls, the first ones, with few statements", async () => {
    const process = await openProcess(makeManualClock(noon));
    const principalId = newUuid();
    const decisions = await Promise.all(
      Array.from({ length: 1000 }, () => process.limiter.take(principalId, perMinute(300))),
    );
    expect(decisions.map(({ allowed }) => allowed)).toEqual(decisions.map((_, index) => index < 300));
    expect(process.sent()).toBeLessThan(10);
  });

  it("takes a call of a quiet principal with one statement and holds nothing", async () => {
    const process = await openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await process.limiter.take(principalId, perMinute(600));
    expect(await usedIn(principalId)).toBe(1);
  });

  it("gives unspent calls back after about a second of silence, and at the end", async () => {
    const process = await openProcess(makeManualClock(noon));
    const quiet = newUuid();
    await takeInTurn(process, quiet, perMinute(600), 5);
    expect(await usedIn(quiet)).toBeGreaterThan(5);
    await vi.waitFor(async () => expect(await usedIn(quiet)).toBe(5), { timeout: 3000 });

    const last = newUuid();
    await takeInTurn(process, last, perMinuteAndHour(600, 20_000), 7);
    await process.limiter.close();
    expect([await usedIn(last), await usedIn(last, "per_hour")]).toEqual([7, 7]);
    await process.limiter.take(last, perMinuteAndHour(600, 20_000));
    expect(await usedIn(last)).toBe(8);
  });

  it("holds nothing while it could not hear a recall", async () => {
    const process = await openProcess(makeManualClock(noon), { isListening: false });
    const principalId = newUuid();
    for (let call = 1; call <= 5; call++) {
      const decision = await process.limiter.take(principalId, perMinute(600));
      expect(decision.states[0]!.remaining).toBe(600 - call);
      expect(await usedIn(principalId)).toBe(call);
    }
  });

  it("gives everything back when the notification connection is lost", async () => {
    // Without ticks no silence is noticed, which would give back as well.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const process = await openProcess(makeManualClock(noon));
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinute(600), 5);
    await db.many`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`;
    await expect.poll(() => usedIn(principalId), { timeout: 5000 }).toBe(5);
  });
});

describe("windows", () => {
  it("start with the first call and start again with the first call after their end", async () => {
    const clock = makeManualClock(noon);
    const process = await openProcess(clock);
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
    const process = await openProcess(clock);
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
    const process = await openProcess(clock);
    const principalId = newUuid();
    await takeInTurn(process, principalId, perMinuteAndHour(10, 5), 8);
    expect(await usedIn(principalId)).toBe(5);
    clock.advanceMs(61_000);
    const decision = await process.limiter.take(principalId, perMinuteAndHour(10, 5));
    expect(decision).toMatchObject({
      allowed: false,
      violated: ["per_hour"],
      waitSeconds: 3539,
      states: [{ remaining: 10, resetSeconds: 60 }, { remaining: 0 }],
    });
    const row = await db.one<{ started_at: Date }>`
      select started_at from rate_windows where principal_id = ${principalId} and policy = 'per_minute'`;
    expect(row.started_at).toEqual(noon);
  });

  it("are both named with the longer wait when both are exhausted", async () => {
    const process = await openProcess(makeManualClock(noon));
    const decisions = await takeInTurn(process, newUuid(), perMinuteAndHour(5, 5), 6);
    expect(decisions.at(-1)).toMatchObject({ violated: ["per_minute", "per_hour"], waitSeconds: 3600 });
  });

  it("follow a changed quota at once", async () => {
    const process = await openProcess(makeManualClock(noon));
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
    const ahead = await openProcess(makeManualClock(new Date("2027-03-01T12:00:00Z")));
    await takeInTurn(ahead, principalId, perMinute(5), 6);
    const clock = makeManualClock(noon);
    const process = await openProcess(clock);
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(5);
    clock.set(new Date("2025-03-01T12:00:00Z"));
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(5);
    clock.advanceMs(-1000);
    expect(allowedOf(await takeInTurn(process, principalId, perMinute(5), 6))).toBe(0);
  });
});

describe("several processes", () => {
  it("allow exactly the quota of 500 parallel calls, round after round", async () => {
    const clock = makeManualClock(noon);
    const processes = await Promise.all([openProcess(clock), openProcess(clock), openProcess(clock)]);
    for (let round = 0; round < 10; round++) {
      const principalId = newUuid();
      const decisions = await Promise.all(
        Array.from({ length: 500 }, (_, index) => processes[index % 3]!.limiter.take(principalId, perMinute(100))),
      );
      expect(allowedOf(decisions)).toBe(100);
    }
  });

  it("allow exactly the quota of streams that run side by side", async () => {
    const clock = makeManualClock(noon);
    const processes = await Promise.all([openProcess(clock), openProcess(clock), openProcess(clock)]);
    const principalId = newUuid();
    const streams = processes.flatMap((process) => [process, process, process]);
    const decisions = await Promise.all(
      streams.map((process) => takeInTurn(process, principalId, perMinuteAndHour(600, 700), 200)),
    );
    expect(allowedOf(decisions.flat())).toBe(600);
    clock.advanceMs(60_000);
    const later = await Promise.all(
      streams.map((process) => takeInTurn(process, principalId, perMinuteAndHour(600, 700), 50)),
    );
    expect(allowedOf(later.flat())).toBe(100);
  });

  it("hand over at once what another one holds unspent", async () => {
    const clock = makeManualClock(noon);
    const [a, b] = await Promise.all([openProcess(clock), openProcess(clock)]);
    const principalId = newUuid();
    await takeInTurn(a, principalId, perMinute(100), 10);
    expect(await usedIn(principalId)).toBeGreaterThan(10);
    expect(allowedOf(await takeInTurn(b, principalId, perMinute(100), 100))).toBe(90);
    expect(await a.limiter.take(principalId, perMinute(100))).toMatchObject({ allowed: false });
  });

  it("look again when calls were given back after a refusal", async () => {
    const clock = makeManualClock(noon);
    const process = await openProcess(clock);
    const principalId = newUuid();
    await db.run`insert into rate_windows values (${principalId}, 'per_minute', ${noon}, 3)`;
    expect(await process.limiter.take(principalId, perMinute(3))).toMatchObject({ allowed: false });
    await db.run`update rate_windows set used = 2 where principal_id = ${principalId} and policy = 'per_minute'`;
    await db.run`select pg_notify('vigil_rate_returned', ${principalId})`;
    await vi.waitFor(
      async () => expect(await process.limiter.take(principalId, perMinute(3))).toMatchObject({ allowed: true }),
      { timeout: 400, interval: 10 },
    );
  });

  it("never give more than the quota after one was abandoned with calls in hand", async () => {
    const clock = makeManualClock(noon);
    const abandoned = await openProcess(clock);
    const principalId = newUuid();
    let allowed = allowedOf(await takeInTurn(abandoned, principalId, perMinute(200), 30));
    await abandoned.listener.close();
    abandoned.fail(new Error("killed"));
    const next = await openProcess(clock);
    allowed += allowedOf(await takeInTurn(next, principalId, perMinute(200), 200));
    expect(allowed).toBeLessThanOrEqual(200);
    expect(allowed).toBeGreaterThanOrEqual(200 - 75);
    clock.advanceMs(60_000);
    expect(allowedOf(await takeInTurn(next, principalId, perMinute(200), 201))).toBe(200);
  });

  it("stay within the quota as real processes, one of them killed", { timeout: 60_000 }, async () => {
    const principalId = newUuid();
    const run = (calls: number, ending: "close" | "kill") => runProcess(test.url, principalId, 300, calls, ending);
    const killed = await run(40, "kill");
    const together = await Promise.all([run(200, "close"), run(200, "close")]);
    const allowed = killed + together[0] + together[1];
    expect(killed).toBe(40);
    expect(allowed).toBeLessThanOrEqual(300);
    expect(allowed).toBeGreaterThanOrEqual(300 - 75);

    const fresh = newUuid();
    const both = await Promise.all([
      runProcess(test.url, fresh, 300, 250, "close"),
      runProcess(test.url, fresh, 300, 250, "close"),
    ]);
    expect(both[0] + both[1]).toBe(300);
  });
});

describe("a failing database", () => {
  it("rejects the call and gives nothing for free afterwards", async () => {
    const process = await openProcess(makeManualClock(noon));
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

/** A limiter in a process of its own that makes calls one after the other; the number that was allowed. */
async function runProcess(url: string, principalId: string, quota: number, calls: number, ending: "close" | "kill") {
  const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { openDatabase } from ${at("../db/database.ts")};
    import { Listener } from ${at("../db/listener.ts")};
    import { makeClock } from ${at("../lib/clock.ts")};
    import { makeLogger } from ${at("../lib/logger.ts")};
    import { RateLimiter } from ${at("./rate-limit.ts")};
    const log = makeLogger("silent");
    const db = openDatabase({ connection: { connectionString: ${JSON.stringify(url)} }, log });
    const listener = new Listener(db, log);
    const limiter = new RateLimiter({ db, clock: makeClock(), listener, log });
    await listener.start();
    let allowed = 0;
    for (let call = 0; call < ${calls}; call++) {
      const decision = await limiter.take(${JSON.stringify(principalId)}, ${JSON.stringify(perMinute(quota))});
      if (decision.allowed) allowed += 1;
    }
    process.stdout.write(String(allowed) + "\\n");
    if (${JSON.stringify(ending)} === "kill") process.kill(process.pid, "SIGKILL");
    await limiter.close();
    await listener.close();
    await db.close();`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  await once(child, "close");
  return Number(output.trim());
}
