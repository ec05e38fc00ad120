const secondMs = 1000;
const minuteMs = 60 * secondMs;

/** Whether a service is asked: freely, not at all until a time, or one question at a time until one is answered. */
export type Breaker =
  | { kind: "closed"; failures: number }
  | { kind: "open"; untilMs: number; openings: number }
  | { kind: "trial"; openings: number };

export const closedBreaker: Breaker = { kind: "closed", failures: 0 };

const failuresToOpen = 5;
const firstPauseMs = 5 * secondMs;
const maxPauseMs = 5 * minuteMs;

export const atTime = (breaker: Breaker, nowMs: number): Breaker =>
  breaker.kind === "open" && nowMs >= breaker.untilMs ? { kind: "trial", openings: breaker.openings } : breaker;

/** How many questions may be in progress at once. */
export function allowance(breaker: Breaker, max: number): number {
  switch (breaker.kind) {
    case "closed":
      return max;
    case "trial":
      return 1;
    case "open":
      return 0;
  }
}

/** `pauseMs`: the service itself asked for a pause of this length. */
export function afterFailure(breaker: Breaker, nowMs: number, pauseMs?: number): Breaker {
  // Questions from before the opening tell nothing new.
  if (breaker.kind === "open") return breaker;
  const failures = breaker.kind === "closed" ? breaker.failures + 1 : failuresToOpen;
  if (failures < failuresToOpen && pauseMs === undefined) return { kind: "closed", failures };
  const openings = breaker.kind === "trial" ? breaker.openings : 0;
  const ownPauseMs = firstPauseMs * 3 ** openings;
  const untilMs = nowMs + Math.min(Math.max(ownPauseMs, pauseMs ?? 0), maxPauseMs);
  return { kind: "open", untilMs, openings: openings + 1 };
}
