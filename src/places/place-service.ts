import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { questionCutOff, type ServiceReply } from "./place-client.ts";
import type { PlaceKind } from "./place-job.ts";
import { afterFailure, allowance, atTime, type Breaker, closedBreaker } from "./place-policy.ts";

export type Found<T> = { kind: "found"; value: T } | { kind: "unknown" } | { kind: "failed"; error: string };

export interface PlaceServiceOptions {
  kind: PlaceKind;
  clock: Clock;
  log: Logger;
  count: (outcome: Found<unknown>["kind"]) => void;
}

/** What this process knows of one outside service: whether it answers, and which questions are in progress. */
export class PlaceService {
  readonly #options: PlaceServiceOptions;
  readonly #inProgress = new Map<string, Promise<Found<unknown>>>();
  #breaker: Breaker = closedBreaker;

  constructor(options: PlaceServiceOptions) {
    this.#options = options;
  }

  get isPaused(): boolean {
    return this.#breaker.kind !== "closed";
  }

  /** How many lookups may be in progress now. */
  allowance(max: number): number {
    this.#breaker = atTime(this.#breaker, this.#options.clock.nowMs());
    return allowance(this.#breaker, max);
  }

  /** Does the work once for all who want the same at the same time; it includes looking into the cache and writing it. */
  once<T>(key: string, work: () => Promise<Found<T>>): Promise<Found<T>> {
    const running = this.#inProgress.get(key) as Promise<Found<T>> | undefined;
    if (running) return running;
    const found = work().finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, found);
    return found;
  }

  /** `read` answers with `failed` to what it does not understand. */
  async ask<T>(question: () => Promise<ServiceReply>, read: (body: unknown) => Found<T>): Promise<Found<T>> {
    const { kind, clock, log, count } = this.#options;
    const wasTrusted = !this.isPaused;
    const reply = await question();
    // Not the service's fault.
    if (reply.kind === "failed" && reply.error === questionCutOff) return { kind: "failed", error: reply.error };
    const found = reply.kind === "answer" ? read(reply.body) : reply;
    count(found.kind);
    if (found.kind !== "failed") {
      if (this.isPaused) log.info({ kind }, "the place service answers again");
      this.#breaker = closedBreaker;
      return found;
    }
    // A question from before the pause tells nothing about the time after it.
    if (!(wasTrusted && this.isPaused)) {
      const before = this.#breaker;
      const pauseMs = reply.kind === "failed" ? reply.pauseMs : undefined;
      this.#breaker = afterFailure(before, clock.nowMs(), pauseMs);
      if (this.#breaker.kind === "open" && this.#breaker !== before) {
        const facts = { kind, error: found.error, pauseMs: this.#breaker.untilMs - clock.nowMs() };
        log.warn(facts, "the place service does not answer; requests to it are paused");
      }
    }
    return { kind: "failed", error: found.error };
  }
}
