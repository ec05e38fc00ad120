import { type Database, type Db, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { RateLimiter } from "../../src/http/rate-limit.ts";
import type { RateDecision } from "../../src/http/rate-limit-window.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { createTestDatabase } from "./database.ts";

export const noon = new Date("2026-03-01T12:00:00Z");
export const perMinute = (quota: number) => [{ name: "per_minute", quota, windowSeconds: 60 }];
export const perMinuteAndHour = (minute: number, hour: number) => [
  ...perMinute(minute),
  { name: "per_hour", quota: hour, windowSeconds: 3600 },
];
export const allowedOf = (decisions: readonly RateDecision[]) => decisions.filter(({ allowed }) => allowed).length;

interface LimiterProcess {
  limiter: RateLimiter;
  listener: Listener;
  /** Statements sent so far. */
  sent(): number;
  fail(error: Error | undefined): void;
}

/** Limiters that share one database. */
export interface RateLimitWorld {
  db: Database;
  url: string;
  /** A process of the service as far as the limiter is concerned: its own connections, listener and memory. */
  openProcess(clock: Clock, options?: { isListening?: boolean }): Promise<LimiterProcess>;
  usedIn(principalId: string, policy?: string): Promise<number | undefined>;
  /** Closes what a test has opened. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openRateLimitWorld(): Promise<RateLimitWorld> {
  const log = makeLogger("silent");
  const { url, drop } = await createTestDatabase();
  const db = openDatabase({ connection: { connectionString: url }, log });
  const opened: { close(): Promise<void> }[] = [];

  return {
    db,
    url,
    openProcess: async (clock, { isListening = true } = {}) => {
      const own = openDatabase({ connection: { connectionString: url }, log, poolSize: 3 });
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
    },
    usedIn: async (principalId, policy = "per_minute") =>
      (
        await db.maybeOne<{ used: number }>`
          select used from rate_windows where principal_id = ${principalId} and policy = ${policy}`
      )?.used,
    reset: async () => {
      for (const part of opened.splice(0).reverse()) await part.close();
    },
    close: async () => {
      await db.close();
      await drop();
    },
  };
}

export async function takeInTurn(
  { limiter }: LimiterProcess,
  principalId: string,
  policies: ReturnType<typeof perMinute>,
  calls: number,
): Promise<RateDecision[]> {
  const decisions: RateDecision[] = [];
  for (let call = 0; call < calls; call++) decisions.push(await limiter.take(principalId, policies));
  return decisions;
}
