const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Pauses after the first, second, third … attempt; the last one repeats. */
export const retryWaitsMs: readonly number[] = [
  10 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
];
export const giveUpAfterMs = 24 * hourMs;

/**
 * When a look-up that failed is tried again, or undefined when it is given up. That needs its age and a few attempts, so that
 * what waited for a service that was switched off is tried properly.
 */
export function nextDueAt(job: { attempts: number; createdAt: Date }, now: Date): Date | undefined {
  const { attempts, createdAt } = job;
  if (now.getTime() - createdAt.getTime() >= giveUpAfterMs && attempts >= retryWaitsMs.length) return undefined;
  const waitMs = retryWaitsMs[Math.min(attempts, retryWaitsMs.length) - 1] as number;
  return new Date(now.getTime() + waitMs);
}

/** Whether a service is asked: freely, not at all until a time, or one question at a time until one is answered. */
export type Breaker =
  | { kind: "closed"; failures: number }
  | { kind: "open"; untilMs: number; openings: number }
  | { kind: "trial"; openings: number };

export const closedBreaker: Breaker = { kind: "closed", failures: 0 };

const failuresToOpen = 5;
const firstPauseMs = 5 * secondMs;
const longestPauseMs = 5 * minuteMs;

export const atTime = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.kind === "open" && nowMs >= breaker.untilMs ? { kind: "trial", openings: breaker.openings } : breaker;

/** How many questions may be under way at once. */
export function allowance(breaker: Breaker, most: number): number {
  switch (breaker.kind) {
    case "closed":
      return most;
    case "trial":
      return 1;
    case "open":
      return 0;
  }
}

/** `pauseMs`: the service itself asked to be left alone for so long. */
export function afterFailure(breaker: Breaker, nowMs: number, pauseMs?: number): Breaker {
  // Questions from before the opening tell nothing new.
  if (breaker.kind === "open") return breaker;
  const failures = breaker.kind === "closed" ? breaker.failures + 1 : failuresToOpen;
  if (failures < failuresToOpen && pauseMs === undefined) return { kind: "closed", failures };
  const openings = breaker.kind === "trial" ? breaker.openings : 0;
  const ownPauseMs = firstPauseMs * 3 ** openings;
  const untilMs = nowMs + Math.min(Math.max(ownPauseMs, pauseMs ?? 0), longestPauseMs);
  return { kind: "open", untilMs, openings: openings + 1 };
}
