import { hasCode, TimeoutError } from "./errors.ts";
import { maxReplayLimit, type OutboundEvents } from "./outbound-events.ts";
import { backoffMs, isTemporary } from "./retries.ts";
import type { OutboundEvent } from "./schemas.ts";

/** Rows between the stored cursor and the oldest one kept are no longer in the log. */
export interface Gap {
  /** The cursor that had expired. */
  from: string;
  /** Where the log goes on. */
  to: string;
}

/** One event at a time; the cursor is saved after each. A crash in between hands the last event out again. */
export interface EventTarget {
  loadCursor(): Promise<string | undefined> | string | undefined;
  handle(event: OutboundEvent): unknown;
  saveCursor(cursor: string): unknown;
}

/** A page at a time. Store the events and the cursor in one transaction, and a crash neither loses nor doubles anything. */
export interface BatchTarget {
  loadCursor(): Promise<string | undefined> | string | undefined;
  /** Empty with a new cursor after a gap. */
  handleBatch(events: readonly OutboundEvent[], cursor: string): unknown;
}

export interface FollowSettings {
  /** Only these types, of those that the integration receives. */
  types?: readonly OutboundEvent["type"][] | undefined;
  /** Wait at the end of the log; a pushed event ends it at once. Default: 5 seconds. */
  pollMs?: number | undefined;
  /** Awaited before the log goes on after the gap. */
  onGap?: ((gap: Gap) => unknown) | undefined;
  /** The service cannot be reached now; the log goes on when it can. */
  onRetry?: ((error: unknown) => void) | undefined;
  /** A pushed event that is not in the log: a sample, or a type outside the scopes of the token. */
  onOutsideLog?: ((event: OutboundEvent) => unknown) | undefined;
  signal?: AbortSignal | undefined;
}

export type FollowOptions = FollowSettings & (EventTarget | BatchTarget);

export interface Follower {
  /** For the handler of a webhook receiver. May be answered at once: the cursor, not the push, decides what was handled. */
  push(event: OutboundEvent): void;
  /** Resolves after stop() or an abort; rejects when a handler or a callback throws, or the service refuses the call. */
  finished: Promise<void>;
  /** Resolves when the event in progress is handled and its cursor saved. */
  stop(): Promise<void>;
}

const defaultPollMs = 5000;
const maxBackoffAttempt = 7;

/**
 * Hands every event of the log to the target, once and in order of id. Replay alone decides what is handled: a push only says that
 * there is something to read. The service shows a row on both ways only when every lower id is shown too, so the page that is read
 * after a push has the pushed event and all before it, whatever order pushes arrive in.
 */
export function follow(outboundEvents: OutboundEvents, options: FollowOptions): Follower {
  const { pollMs = defaultPollMs, types, signal: outer } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });
  const pushed = new Map<string, OutboundEvent>();
  let wake: (() => void) | undefined;

  function rest(ms: number, canWake: boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end, { once: true });
      if (canWake) wake = end;
      if (signal.aborted || (canWake && pushed.size > 0)) end();
    });
  }

  /** Returns the cursor after what was handled. */
  async function handOver(events: readonly OutboundEvent[]): Promise<string | undefined> {
    let last: string | undefined;
    if ("handleBatch" in options) {
      last = events.at(-1)?.id;
      if (last !== undefined) await options.handleBatch(events, last);
      return last;
    }
    for (const event of events) {
      if (signal.aborted) break;
      await options.handle(event);
      await options.saveCursor(event.id);
      last = event.id;
    }
    return last;
  }

  async function skipGap(from: string, to: string): Promise<string> {
    await options.onGap?.({ from, to });
    if ("handleBatch" in options) await options.handleBatch([], to);
    else await options.saveCursor(to);
    return to;
  }

  async function readPage(since: string | undefined) {
    const query = { since, limit: maxReplayLimit, types: types?.join(",") };
    return outboundEvents.page(query, { signal });
  }

  async function run(): Promise<void> {
    let cursor = await options.loadCursor();
    let failures = 0;
    while (!signal.aborted) {
      // Pushed before the page was asked for: the page has them, or the log does not.
      const expected = [...pushed.values()];
      let page: Awaited<ReturnType<typeof readPage>>;
      try {
        page = await readPage(cursor);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (hasCode(error, "cursor_expired") && cursor !== undefined) {
          cursor = await skipGap(cursor, error.details.oldest_available_cursor);
          continue;
        }
        if (!isTemporary(error) && !(error instanceof TimeoutError)) throw error;
        failures++;
        options.onRetry?.(error);
        await rest(backoffMs(Math.min(failures, maxBackoffAttempt), Math.random()), false);
        continue;
      }
      cursor = (await handOver(page.data)) ?? cursor;
      if (signal.aborted) return;
      for (const { id } of page.data) pushed.delete(id);
      if (page.has_more) continue;
      await reportOutside(expected, cursor);
      await rest(pollMs, true);
    }
  }

  async function reportOutside(expected: readonly OutboundEvent[], cursor: string | undefined): Promise<void> {
    for (const event of expected) {
      if (!pushed.delete(event.id)) continue;
      // Up to the cursor: handled earlier, and pushed again. Beyond it the log has nothing of that id.
      const isHandled = cursor !== undefined && event.id <= cursor;
      const isWanted = !types || types.includes(event.type);
      if (!isHandled && isWanted) await options.onOutsideLog?.(event);
    }
  }

  const finished = run().finally(() => outer?.removeEventListener("abort", onAbort));
  // Whoever only calls stop() learns of the failure there.
  finished.catch(() => undefined);
  return {
    push: (event) => {
      pushed.set(event.id, event);
      wake?.();
    },
    finished,
    stop: async () => {
      controller.abort();
      await finished;
    },
  };
}
