const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** When something that failed is tried again, and when it is given up. */
export interface RetryPolicy {
  /** The wait after the first, second, third … attempt; the last one repeats. */
  waitsMs: readonly number[];
  /** It is given up only after this many attempts … */
  minAttempts: number;
  /** … and only at this age. */
  minAgeMs: number;
}

/**
 * For work that waits for an outside service: about a day. Giving up needs both the age and the attempts: a service that was
 * switched off for two days still tries properly, and one that dies in every attempt does not burn the attempts.
 */
export const retryForADay = (minAttempts: number): RetryPolicy => ({
  waitsMs: [10 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs],
  minAttempts,
  minAgeMs: 24 * hourMs,
});

/** For work whose age does not matter. */
export const retryTimes = (attempts: number, waitsMs: readonly number[]): RetryPolicy => ({
  waitsMs,
  minAttempts: attempts,
  minAgeMs: 0,
});

/** The wait after an attempt, or undefined when there is no further one. */
export function retryDelayMs(policy: RetryPolicy, attempts: number, ageMs = 0): number | undefined {
  const { waitsMs, minAttempts, minAgeMs } = policy;
  if (attempts >= minAttempts && ageMs >= minAgeMs) return undefined;
  return waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 0;
}

/** When work that failed `now` is tried again, or undefined when it is given up. */
export function nextAttemptAt(
  policy: RetryPolicy,
  { attempts, createdAt }: { attempts: number; createdAt: Date },
  now: Date,
): Date | undefined {
  const delayMs = retryDelayMs(policy, attempts, now.getTime() - createdAt.getTime());
  return delayMs === undefined ? undefined : new Date(now.getTime() + delayMs);
}
