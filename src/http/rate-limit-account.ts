import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { CallPace, quietTicks } from "./call-pace.ts";
import { createWindows, leaseCalls, recallCalls, returnCalls } from "./rate-limit-store.ts";
import {
  allow,
  isExhausted,
  isRunning,
  type RateDecision,
  type RatePolicy,
  type RateWindow,
  refuse,
  samePolicies,
} from "./rate-limit-window.ts";

const recallWaitMs = 100;
const forgetAfterMs = 60_000;

/** What the accounts of one process share. */
export interface RateContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts half seconds of real time; the service clock may stand still or jump. */
  tick: number;
  /** False while no recall could be heard, and when the process is about to end. */
  mayHold(): boolean;
}

interface Waiter {
  policies: readonly RatePolicy[];
  resolve(decision: RateDecision): void;
  reject(error: unknown): void;
}

/**
 * - `empty`: the database must be asked.
 * - `leased`: calls in hand, at least one, under the policies and windows of the account.
 * - `refused`: a window has no room; not asked again for a second, unless calls are given back.
 */
type Hand = { kind: "empty" } | { kind: "leased"; calls: number } | { kind: "refused"; tick: number };

const empty: Hand = { kind: "empty" };

/**
 * The calls of one principal in one process. A call is made only against a lease that is already committed, and a lease leaves
 * memory before the statement that gives it back is sent: whatever fails or dies in between, calls are lost, never won.
 */
export class RateAccount {
  readonly #principalId: string;
  readonly #context: RateContext;
  readonly #waiters: Waiter[] = [];
  readonly #pace = new CallPace();
  #policies: readonly RatePolicy[] = [];
  #windows: readonly RateWindow[] = [];
  #hand: Hand = empty;
  /** Until then nothing is held in advance, because another process found a window exhausted; for ever once it is closed. */
  #noHoldUntilTick = Number.NEGATIVE_INFINITY;
  #returnsHeard = 0;
  #wake: (() => void) | undefined;
  #work: Promise<void> | undefined;

  constructor(principalId: string, context: RateContext) {
    this.#principalId = principalId;
    this.#context = context;
  }

  get isWorking(): boolean {
    return this.#work !== undefined;
  }

  take(policies: readonly RatePolicy[]): RateDecision | Promise<RateDecision> {
    this.#pace.count(this.#context.tick);
    const decision = this.#waiters.length === 0 ? this.#decide(policies) : undefined;
    if (decision) return decision;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ policies, resolve, reject });
      this.#start();
    });
  }

  /** Another process found a window exhausted: hold nothing for a while. */
  recall(): void {
    this.#noHoldUntilTick = Math.max(this.#noHoldUntilTick, this.#context.tick + quietTicks);
    this.settle();
  }

  returned(): void {
    this.#returnsHeard += 1;
    if (this.#hand.kind === "refused") this.#hand = empty;
    this.#wake?.();
  }

  /** Gives back what must not be held any longer. */
  settle(): void {
    if (this.#isReturnDue()) this.#start();
  }

  async close(): Promise<void> {
    this.#noHoldUntilTick = Number.POSITIVE_INFINITY;
    this.settle();
    while (this.#work) await this.#work;
  }

  isForgettable(nowMs: number): boolean {
    if (this.isWorking || this.#hand.kind === "leased") return false;
    return this.#windows.every(
      ({ policy, startedAtMs }) => nowMs > startedAtMs + policy.windowSeconds * 1000 + forgetAfterMs,
    );
  }

  /** The answer from memory; undefined when the database must be asked. */
  #decide(policies: readonly RatePolicy[]): RateDecision | undefined {
    const hand = this.#hand;
    if (hand.kind === "empty" || !samePolicies(policies, this.#policies)) return undefined;
    const nowMs = this.#context.clock.nowMs();
    if (hand.kind === "leased") {
      if (!this.#windows.every((window) => isRunning(window, nowMs))) return undefined;
      const left = hand.calls - 1;
      if (left > 0) hand.calls = left;
      else this.#hand = empty;
      return allow(this.#windows, left, nowMs);
    }
    if (this.#context.tick - hand.tick >= quietTicks) return undefined;
    const decision = refuse(this.#windows, nowMs);
    return decision.violated.length > 0 ? decision : undefined;
  }

  /** How many calls may be taken in advance. */
  #slice(): number {
    const { tick } = this.#context;
    return tick >= this.#noHoldUntilTick && this.#context.mayHold() ? this.#pace.sliceAt(tick) : 0;
  }

  #isReturnDue(): boolean {
    return this.#hand.kind === "leased" && this.#slice() === 0;
  }

  #start(): void {
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
      // A call or a recall may have come between the last look of the loop and this line.
      if (this.#waiters.length > 0 || this.#isReturnDue()) this.#start();
    });
  }

  /** One statement at a time. Calls that wait come first, in their order. */
  async #run(): Promise<void> {
    for (;;) {
      this.#answerWaiters();
      const [first] = this.#waiters;
      if (!first && !this.#isReturnDue()) return;
      try {
        await this.#giveBack();
        if (first) await this.#acquire(first.policies);
      } catch (error) {
        // Whether the statement took effect is unknown: others may have a part in these windows.
        for (const window of this.#windows) window.own = 0;
        if (first) for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
        else this.#context.log.warn({ err: error }, "rate limit calls could not be given back");
      }
    }
  }

  #answerWaiters(): void {
    for (let first = this.#waiters[0]; first; first = this.#waiters[0]) {
      const decision = this.#decide(first.policies);
      if (!decision) return;
      this.#waiters.shift();
      first.resolve(decision);
    }
  }

  /** Leaves calls in hand, or a refusal. */
  async #acquire(policies: readonly RatePolicy[]): Promise<void> {
    let returnsBefore = this.#returnsHeard;
    let calls = await this.#lease(policies);
    if (calls === 0 && this.#mayBeHeldElsewhere()) {
      const deadlineMs = performance.now() + recallWaitMs;
      let wait = this.#waitForReturn(deadlineMs);
      await recallCalls(this.#context.db, this.#principalId);
      // Several processes may give back one after the other, so the wait goes on until its end or until there is a call.
      for (let isInTime = true; isInTime && calls === 0; ) {
        isInTime = await wait;
        wait = this.#waitForReturn(deadlineMs);
        returnsBefore = this.#returnsHeard;
        calls = await this.#lease(policies);
      }
    }
    if (calls > 0) this.#hand = { kind: "leased", calls };
    // What was given back during the last look may not have been seen by it.
    else if (this.#returnsHeard === returnsBefore) this.#hand = { kind: "refused", tick: this.#context.tick };
  }

  #mayBeHeldElsewhere(): boolean {
    const nowMs = this.#context.clock.nowMs();
    return this.#windows.every((window) => !isExhausted(window, nowMs) || window.own < window.used);
  }

  /** True when a process gave calls back, false when the time is over. */
  #waitForReturn(deadlineMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.max(0, deadlineMs - performance.now()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  async #lease(policies: readonly RatePolicy[]): Promise<number> {
    const { db, clock } = this.#context;
    const now = clock.now();
    const request = { policies, now, waiting: this.#waiters.length, hold: this.#slice() };
    let rows = await leaseCalls(db, this.#principalId, request);
    if (rows.length < policies.length) {
      await createWindows(db, this.#principalId, policies, now);
      rows = await leaseCalls(db, this.#principalId, request);
    }
    const calls = rows[0]?.calls ?? 0;
    const before = this.#windows;
    this.#policies = policies;
    this.#windows = policies.map((policy) => {
      const row = rows.find((candidate) => candidate.policy === policy.name);
      if (!row) throw new Error(`no rate window for policy ${policy.name}`);
      const startedAtMs = row.started_at.getTime();
      const known = before.find((window) => window.policy.name === policy.name && window.startedAtMs === startedAtMs);
      return { policy, startedAtMs, used: row.used, own: (known?.own ?? 0) + calls };
    });
    return calls;
  }

  async #giveBack(): Promise<void> {
    if (this.#hand.kind !== "leased") return;
    const { calls } = this.#hand;
    this.#hand = empty;
    await returnCalls(this.#context.db, this.#principalId, this.#windows, calls);
    for (const window of this.#windows) {
      window.used -= calls;
      window.own -= calls;
    }
  }
}
