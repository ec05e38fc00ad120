const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Pauses after the first, second, third … attempt; together a little more than a day. */
export const retryWaitsMs: readonly number[] = [
  10 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  ...Array.from({ length: 24 }, () => hourMs),
];

export const giveUpAfterMs = 24 * hourMs;

/**
 * When a mail is tried again, or undefined when it is given up. That needs both its age and its number of attempts: a service
 * that was switched off for two days still tries properly, and one that dies in every attempt does not burn the attempts.
 */
export function nextAttemptAt(mail: { attempts: number; createdAt: Date }, now: Date): Date | undefined {
  const { attempts, createdAt } = mail;
  const isOld = now.getTime() - createdAt.getTime() >= giveUpAfterMs;
  if (isOld && attempts > retryWaitsMs.length) return undefined;
  const waitMs = retryWaitsMs[Math.min(attempts, retryWaitsMs.length) - 1] as number;
  return new Date(now.getTime() + waitMs);
}
