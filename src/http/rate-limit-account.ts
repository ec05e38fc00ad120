import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { createWindows, type LeaseRow, leaseCalls, recallCalls, returnCalls } from "./rate-limit-store.ts";
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

/** A slice is what a principal calls in about half a second, but at least this. */
const leastSlice = 50;
const recallWaitMs = 100;
const forgetAfterMs = 60_000;
/** Ticks after which a principal counts as silent, a recall as settled and a refusal as worth another look: 0.5 to 1 second. */
const quietTicks = 2;

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
 * The calls of one principal in one process. A call is made only against a lease that is already committed, and a lease leaves
 * memory before the statement that gives it back is sent: whatever fails or dies in between, calls are lost, never won.
 */
export class RateAccount {
  readonly #principalId: string;
  readonly #context: RateContext;
  readonly #waiters: Waiter[] = [];
  #policies: readonly RatePolicy[] = [];
  #windows: RateWindow[] = [];
  #unspent = 0;
  /** Size of the last slice taken in advance; 0 when there is no point in fetching ahead. */
  #slice = 0;
  #isRefused = false;
  #refusedTick = 0;
  #lastCallTick = Number.NEGATIVE_INFINITY;
  #recalledTick = Number.NEGATIVE_INFINITY;
  /** Calls in the tick that runs and in the one before it: how fast the principal calls. */
  #tickCalls = 0;
  #formerTickCalls = 0;
  #isSteady = false;
  #isRetired = false;
  #heardReturn = false;
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
    // A principal that calls less than about once a second leases call by call: a slice would only be given back.
    this.#isSteady = this.#context.tick - this.#lastCallTick < quietTicks;
    this.#countCall();
    if (this.#waiters.length === 0) {
      const decision = this.#decide(policies);
      if (decision) {
        if (this.#isPrefetchDue()) this.#start();
        return decision;
      }
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ policies, resolve, reject });
      this.#start();
    });
  }

  #countCall(): void {
    const { tick } = this.#context;
    if (tick !== this.#lastCallTick) {
      this.#formerTickCalls = tick - this.#lastCallTick === 1 ? this.#tickCalls : 0;
      this.#tickCalls = 0;
      this.#lastCallTick = tick;
    }
    this.#tickCalls += 1;
  }

  /** Another process found a window exhausted: hold nothing for a while. */
  recall(): void {
    this.#recalledTick = this.#context.tick;
    this.settle();
  }

  returned(): void {
    this.#heardReturn = true;
    this.#isRefused = false;
    this.#wake?.();
  }

  /** Gives back what must not be held any longer. */
  settle(): void {
    if (this.#isReturnDue()) this.#start();
  }

  async close(): Promise<void> {
    this.#isRetired = true;
    this.settle();
    while (this.#work) await this.#work;
  }

  isForgettable(nowMs: number): boolean {
    if (this.isWorking || this.#unspent > 0) return false;
    return this.#windows.every(
      ({ policy, startedAtMs }) => nowMs > startedAtMs + policy.windowSeconds * 1000 + forgetAfterMs,
    );
  }

  /** The answer from memory; undefined when the database must be asked. */
  #decide(policies: readonly RatePolicy[]): RateDecision | undefined {
    const nowMs = this.#context.clock.nowMs();
    if (this.#unspent > 0) {
      if (!this.#isCurrent(policies, nowMs)) return undefined;
      this.#unspent -= 1;
      return allow(this.#windows, this.#unspent, nowMs);
    }
    if (!this.#isRefused || this.#context.tick - this.#refusedTick >= quietTicks) return undefined;
    if (!samePolicies(policies, this.#policies)) return undefined;
    const decision = refuse(this.#windows, nowMs);
    return decision.violated.length > 0 ? decision : undefined;
  }

  /** True when the lease in hand was taken under these policies and all of its windows still run. */
  #isCurrent(policies: readonly RatePolicy[], nowMs: number): boolean {
    return samePolicies(policies, this.#policies) && this.#windows.every((window) => isRunning(window, nowMs));
  }

  #hold(): number {
    const { tick } = this.#context;
    const isWanted =
      this.#isSteady && tick - this.#lastCallTick < quietTicks && tick - this.#recalledTick >= quietTicks;
    return isWanted && !this.#isRetired && this.#context.mayHold()
      ? Math.max(leastSlice, this.#tickCalls, this.#formerTickCalls)
      : 0;
  }

  #isReturnDue(): boolean {
    return this.#unspent > 0 && this.#hold() === 0;
  }

  #isPrefetchDue(): boolean {
    if (this.#slice === 0 || this.#unspent * 2 > this.#slice || this.#hold() === 0) return false;
    // Only a call may start a window.
    return this.#isCurrent(this.#policies, this.#context.clock.nowMs());
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
      try {
        if (first) await this.#acquire(first.policies);
        else if (this.#isReturnDue()) await this.#giveBack();
        else if (this.#isPrefetchDue()) await this.#lease(this.#policies);
        else return;
      } catch (error) {
        // Whether the statement took effect is unknown. What is still in hand was committed before and stays good.
        this.#slice = 0;
        for (const window of this.#windows) window.own = 0;
        if (first) for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
        else this.#context.log.warn({ err: error }, "rate limit calls could not be settled ahead");
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

  async #acquire(policies: readonly RatePolicy[]): Promise<void> {
    if (this.#unspent > 0) await this.#giveBack();
    await this.#lease(policies);
    if (this.#unspent === 0 && this.#mayBeHeldElsewhere()) await this.#recallAndLease(policies);
    this.#isRefused = this.#unspent === 0 && !this.#heardReturn;
    this.#refusedTick = this.#context.tick;
  }

  #mayBeHeldElsewhere(): boolean {
    const nowMs = this.#context.clock.nowMs();
    return this.#windows.every((window) => !isExhausted(window, nowMs) || window.own < window.used);
  }

  /** Several processes may give back one after the other, so the wait goes on until its end or until there was a call left. */
  async #recallAndLease(policies: readonly RatePolicy[]): Promise<void> {
    const deadlineMs = performance.now() + recallWaitMs;
    let wait = this.#waitForReturn(deadlineMs);
    await recallCalls(this.#context.db, this.#principalId);
    while (this.#unspent === 0) {
      const isLast = !(await wait);
      wait = this.#waitForReturn(deadlineMs);
      await this.#lease(policies);
      if (isLast) return;
    }
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

  async #lease(policies: readonly RatePolicy[]): Promise<void> {
    const { db, clock } = this.#context;
    const now = clock.now();
    const hold = this.#hold();
    const request = { policies, now, waiting: this.#waiters.length, hold };
    this.#heardReturn = false;
    let rows = await leaseCalls(db, this.#principalId, request);
    if (rows.length < policies.length) {
      await createWindows(db, this.#principalId, policies, now);
      rows = await leaseCalls(db, this.#principalId, request);
    }
    this.#slice = hold > 0 ? (rows[0]?.calls ?? 0) : 0;
    await this.#adopt(policies, rows);
  }

  async #adopt(policies: readonly RatePolicy[], rows: readonly LeaseRow[]): Promise<void> {
    const before = this.#windows;
    const unspentBefore = this.#unspent;
    const calls = rows[0]?.calls ?? 0;
    this.#policies = policies;
    this.#windows = policies.map((policy) => {
      const row = rows.find((candidate) => candidate.policy === policy.name);
      if (!row) throw new Error(`no rate window for policy ${policy.name}`);
      const startedAtMs = row.started_at.getTime();
      const known = before.find((window) => window.policy.name === policy.name && window.startedAtMs === startedAtMs);
      return { policy, startedAtMs, used: row.used, own: (known?.own ?? 0) + calls };
    });
    const isSameLease = this.#windows.every((window, index) => window.startedAtMs === before[index]?.startedAtMs);
    this.#unspent = isSameLease ? unspentBefore + calls : calls;
    // A process whose clock is ahead started a new window meanwhile: what is left of the old lease belongs to the old one.
    if (!isSameLease && unspentBefore > 0) await this.#returnTo(before, unspentBefore);
  }

  async #giveBack(): Promise<void> {
    const calls = this.#unspent;
    this.#unspent = 0;
    this.#slice = 0;
    await this.#returnTo(this.#windows, calls);
  }

  async #returnTo(windows: readonly RateWindow[], calls: number): Promise<void> {
    await returnCalls(this.#context.db, this.#principalId, windows, calls);
    for (const window of this.#windows) {
      const isSame = windows.some(
        ({ policy, startedAtMs }) => policy.name === window.policy.name && startedAtMs === window.startedAtMs,
      );
      if (!isSame) continue;
      window.used -= calls;
      window.own -= calls;
    }
  }
}
