import { spawn } from "node:child_process";
import { once } from "node:events";
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
afterEach(() => world.reset());
afterAll(() => world.close());

describe("several processes", () => {
  it("allow exactly the quota of 500 parallel calls, round after round", async () => {
    const clock = makeManualClock(noon);
    const processes = await Promise.all([world.openProcess(clock), world.openProcess(clock), world.openProcess(clock)]);
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
    const processes = await Promise.all([world.openProcess(clock), world.openProcess(clock), world.openProcess(clock)]);
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
    const [a, b] = await Promise.all([world.openProcess(clock), world.openProcess(clock)]);
    const principalId = newUuid();
    await takeInTurn(a, principalId, perMinute(100), 10);
    expect(await world.usedIn(principalId)).toBeGreaterThan(10);
    expect(allowedOf(await takeInTurn(b, principalId, perMinute(100), 100))).toBe(90);
    expect(await a.limiter.take(principalId, perMinute(100))).toMatchObject({ allowed: false });
  });

  it("look again when calls were given back after a refusal", async () => {
    const clock = makeManualClock(noon);
    const process = await world.openProcess(clock);
    const principalId = newUuid();
    await world.db.run`insert into rate_windows values (${principalId}, 'per_minute', ${noon}, 3)`;
    expect(await process.limiter.take(principalId, perMinute(3))).toMatchObject({ allowed: false });
    await world.db.run`update rate_windows set used = 2 where principal_id = ${principalId} and policy = 'per_minute'`;
    await world.db.run`select pg_notify('vigil_rate_returned', ${principalId})`;
    await vi.waitFor(
      async () => expect(await process.limiter.take(principalId, perMinute(3))).toMatchObject({ allowed: true }),
      { timeout: 400, interval: 10 },
    );
  });

  it("never give more than the quota after one was abandoned with calls in hand", async () => {
    const clock = makeManualClock(noon);
    const abandoned = await world.openProcess(clock);
    const principalId = newUuid();
    let allowed = allowedOf(await takeInTurn(abandoned, principalId, perMinute(200), 30));
    await abandoned.listener.close();
    abandoned.fail(new Error("killed"));
    const next = await world.openProcess(clock);
    allowed += allowedOf(await takeInTurn(next, principalId, perMinute(200), 200));
    expect(allowed).toBeLessThanOrEqual(200);
    expect(allowed).toBeGreaterThanOrEqual(200 - 75);
    clock.advanceMs(60_000);
    expect(allowedOf(await takeInTurn(next, principalId, perMinute(200), 201))).toBe(200);
  });

  it("stay within the quota as real processes, one of them killed", { timeout: 60_000 }, async () => {
    const principalId = newUuid();
    const run = (calls: number, ending: "close" | "kill") => runProcess(world.url, principalId, 300, calls, ending);
    const killed = await run(40, "kill");
    const together = await Promise.all([run(200, "close"), run(200, "close")]);
    const allowed = killed + together[0] + together[1];
    expect(killed).toBe(40);
    expect(allowed).toBeLessThanOrEqual(300);
    expect(allowed).toBeGreaterThanOrEqual(300 - 75);

    const fresh = newUuid();
    const both = await Promise.all([
      runProcess(world.url, fresh, 300, 250, "close"),
      runProcess(world.url, fresh, 300, 250, "close"),
    ]);
    expect(both[0] + both[1]).toBe(300);
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
