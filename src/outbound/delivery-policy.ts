import { retryDelayMs, retryTimes } from "../lib/retry.ts";

/** What came of an attempt. The error is one line for operators and holds nothing of the answer's body. */
export type Outcome = { kind: "answered"; status: number } | { kind: "failed"; error: string; isTimeout?: true };

export type Next = { kind: "delivered" } | { kind: "retry"; dueAt: Date } | { kind: "dead_letter" };

/** Section 19.5: five, or as many as the list of waits is long. */
export const maxAttempts = (waitsMs: readonly number[]): number => Math.max(5, waitsMs.length);

/**
 * What follows an attempt that ended `now` (section 19.5). Wait n is the one after attempt n; a list that is too short repeats
 * its last. `retryAfter` is the header of the answer, which may move the next attempt later, at most to twice the wait.
 */
export function nextState(
  attempt: number,
  outcome: Outcome,
  now: Date,
  waitsMs: readonly number[],
  retryAfter?: string,
): Next {
  const status = outcome.kind === "answered" ? outcome.status : undefined;
  if (status !== undefined && status >= 200 && status <= 299) return { kind: "delivered" };
  const waitMs = status === 410 ? undefined : retryDelayMs(retryTimes(maxAttempts(waitsMs), waitsMs), attempt);
  if (waitMs === undefined) return { kind: "dead_letter" };
  const askedMs = status === 429 || status === 503 ? retryAfterMs(retryAfter, now) : 0;
  return { kind: "retry", dueAt: new Date(now.getTime() + Math.min(Math.max(waitMs, askedMs), 2 * waitMs)) };
}

/** Seconds or an HTTP date; anything else says nothing. */
function retryAfterMs(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? 0 : dateMs - now.getTime();
}

/** One line for the dead-letter list and the attempt record. Null: delivered. */
export function errorText(outcome: Outcome): string | null {
  if (outcome.kind === "failed") return outcome.error;
  const { status } = outcome;
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399 ? `HTTP ${status} (redirects are not followed)` : `HTTP ${status}`;
}
