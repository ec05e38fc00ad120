export interface RatePolicy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

/** A person has a counter of their own, whatever the limits of the organization. */
export const personPolicies: readonly RatePolicy[] = [{ name: "per_minute", quota: 600, windowSeconds: 60 }];

export interface RateState {
  name: string;
  quota: number;
  windowSeconds: number;
  /** Calls left after this one. */
  remaining: number;
  /** Whole seconds until the window has ended: waiting that long is never too short. */
  resetSeconds: number;
}

export interface RateDecision {
  allowed: boolean;
  states: RateState[];
  /** The names of the policies that refused the call. */
  violated: string[];
  /** The longest wait among the violated policies; 0 when allowed. */
  waitSeconds: number;
}

/** What a process knows of a row of `rate_windows`. */
export interface RateWindow {
  readonly policy: RatePolicy;
  readonly startedAtMs: number;
  /** Calls made by, or leased to, any process. */
  used: number;
  /** How many of them this process leased and did not give back. Equal to `used`: no other process has a part in it. */
  own: number;
}

/**
 * A window whose start lies ahead of the clock by more than its own length counts as ended, otherwise one process with a clock
 * far ahead, or a clock that was set back, would lock a principal out until that time comes. A smaller lead is the ordinary
 * difference between two clocks and must not hand out a second quota.
 */
export function isRunning({ policy, startedAtMs }: RateWindow, nowMs: number): boolean {
  const lengthMs = policy.windowSeconds * 1000;
  return nowMs < startedAtMs + lengthMs && nowMs >= startedAtMs - lengthMs;
}

export const isExhausted = (window: RateWindow, nowMs: number): boolean =>
  window.used >= window.policy.quota && isRunning(window, nowMs);

export function samePolicies(a: readonly RatePolicy[], b: readonly RatePolicy[]): boolean {
  if (a === b) return true;
  return (
    a.length === b.length &&
    a.every((policy, index) => {
      const other = b[index];
      return (
        policy.name === other?.name && policy.quota === other.quota && policy.windowSeconds === other.windowSeconds
      );
    })
  );
}

/** `unspent`: the calls that this process has leased and not made, which are part of `used`. */
function stateOf(window: RateWindow, unspent: number, nowMs: number): RateState {
  const { name, quota, windowSeconds } = window.policy;
  // A window that is not running starts with the next call that is allowed: it is full, and as long as it will be.
  if (!isRunning(window, nowMs)) return { name, quota, windowSeconds, remaining: quota, resetSeconds: windowSeconds };
  const endsInMs = window.startedAtMs + windowSeconds * 1000 - nowMs;
  const remaining = Math.max(0, quota - window.used + unspent);
  return { name, quota, windowSeconds, remaining, resetSeconds: Math.ceil(endsInMs / 1000) };
}

export function allow(windows: readonly RateWindow[], unspent: number, nowMs: number): RateDecision {
  return {
    allowed: true,
    states: windows.map((window) => stateOf(window, unspent, nowMs)),
    violated: [],
    waitSeconds: 0,
  };
}

export function refuse(windows: readonly RateWindow[], nowMs: number): RateDecision {
  const states = windows.map((window) => stateOf(window, 0, nowMs));
  const violated = states.filter((_, index) => isExhausted(windows[index] as RateWindow, nowMs));
  return {
    allowed: false,
    states,
    violated: violated.map((state) => state.name),
    waitSeconds: Math.max(...violated.map((state) => state.resetSeconds)),
  };
}

/** The headers of section 21 without Retry-After. */
export function rateHeaders(decision: RateDecision): Record<string, string> {
  const [policy, left, limit, remaining, reset] = headerValues(decision);
  return {
    "RateLimit-Policy": policy,
    RateLimit: left,
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": remaining,
    "X-RateLimit-Reset": reset,
  };
}

/** Adds the same as names and values in turns, the names as they go out. */
export function pushRateHeaders(headers: string[], decision: RateDecision): void {
  const [policy, left, limit, remaining, reset] = headerValues(decision);
  headers.push("ratelimit-policy", policy, "ratelimit", left);
  headers.push("x-ratelimit-limit", limit, "x-ratelimit-remaining", remaining, "x-ratelimit-reset", reset);
}

/** Of equal remainders the shorter window is shown. */
function headerValues({ states }: RateDecision): [string, string, string, string, string] {
  let tightest = states[0] as RateState;
  let policy = "";
  let left = "";
  for (const state of states) {
    if (isTighter(state, tightest)) tightest = state;
    policy += policy === "" ? policyText(state) : `, ${policyText(state)}`;
    left += left === "" ? leftText(state) : `, ${leftText(state)}`;
  }
  return [policy, left, String(tightest.quota), String(tightest.remaining), String(tightest.resetSeconds)];
}

const policyText = ({ name, quota, windowSeconds }: RateState): string => `"${name}";q=${quota};w=${windowSeconds}`;
const leftText = ({ name, remaining, resetSeconds }: RateState): string => `"${name}";r=${remaining};t=${resetSeconds}`;

const isTighter = (one: RateState, than: RateState): boolean =>
  one.remaining < than.remaining || (one.remaining === than.remaining && one.windowSeconds < than.windowSeconds);
