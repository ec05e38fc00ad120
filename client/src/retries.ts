import { ApiError, ConnectionError, TimeoutError } from "./errors.ts";

export interface RetryPolicy {
  /** Attempts after the first one. */
  maxRetries: number;
  /** A Retry-After that is longer is not waited for: the error is thrown. */
  maxWaitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { maxRetries: 4, maxWaitMs: 60_000 };

const baseDelayMs = 250;
const maxBackoffMs = 10_000;

/** Nobody knows whether the service has done the call. */
export const isAmbiguous = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  (error instanceof ApiError && error.status >= 500);

/** The service has certainly not done the call, and says when to come back. */
const isPostponed = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === "throttled" ||
    error.code === "idempotency_in_progress" ||
    error.code === "service_unavailable" ||
    error.code === "too_busy" ||
    error.code === "temporarily_unavailable");

export const isTemporary = (error: unknown): boolean => isAmbiguous(error) || isPostponed(error);

/** Grows from a quarter of a second; between half and all of it, so that many clients do not come back at once. */
export const backoffMs = (attempt: number, random: number): number =>
  Math.min(maxBackoffMs, baseDelayMs * 2 ** (attempt - 1)) * (0.5 + random / 2);

/** Milliseconds to wait before the next attempt, or undefined: give up. `isRepeatable`: doing it twice does no harm. */
export function retryDelayMs(
  error: unknown,
  attempt: number,
  isRepeatable: boolean,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (attempt > policy.maxRetries) return undefined;
  if (!isPostponed(error) && !(isRepeatable && isAmbiguous(error))) return undefined;
  const requestedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  if (requestedMs > policy.maxWaitMs) return undefined;
  return Math.max(requestedMs, backoffMs(attempt, random));
}

/** Rejects with the reason of the signal when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Stops waiting when the signal is aborted; the work itself goes on for others who wait for it. */
export function untilAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
