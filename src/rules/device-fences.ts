/**
 * All fences of one device. A state is kept only where it says something: of fences that the device is inside of, of changes that
 * wait for their confirmation, of sides that no fix has settled, and of the few fences that are its own (linked, or of its user).
 * A fence of the whole organization without a state has the device outside, or has not seen it yet. Which of the two, `heard`
 * tells: a fix counts for the fence if it was evaluated with rules that had the fence, and was not less exact than its radius.
 * Had it been inside or in the band, it would have left a state; so the device is outside and its next entry is an event.
 */
import type { Point } from "../lib/geo.ts";
import {
  evaluateFix,
  evaluateTimer,
  type Fence,
  type FenceContext,
  type FenceFact,
  type FenceFix,
  type FenceState,
  isSettled,
  nextDueMs,
} from "./fence.ts";
import type { ScheduleCheck } from "./fence-schedule.ts";
import { isLate } from "./lateness.ts";

/** A fix that was evaluated: with which version of the rules, how exact. */
export interface EvaluatedFix {
  version: number;
  accuracyM: number;
}

/** Plain JSON; every field is always there. */
export interface DeviceFences {
  /** The last evaluated fix. */
  last: (Point & { tsMs: number }) | null;
  /** Only fixes that no other matches in both. The same object comes back when nothing has changed. */
  evaluatedFixes: readonly EvaluatedFix[];
  /** By the id of the fence. The object of a state is the same when it has not changed. */
  states: Readonly<Record<string, FenceState>>;
}

export const noFences: DeviceFences = { last: null, evaluatedFixes: [], states: {} };

/** The effective fences of the device (fence-index.ts). */
export interface FenceSource {
  /** Those that could be inside or in the band at this place, and all that are the device's own. */
  near(place: Point): readonly Fence[];
  /** Undefined: the fence no longer applies to the device. */
  find(fenceId: string): Fence | undefined;
  /** The rule version these fences have. */
  version: number;
}

export interface DeviceOutcome {
  device: DeviceFences;
  facts: FenceFact[];
}

const maxEvaluatedFixes = 8;

/** A valid fix. One that is older than the last evaluated, or late, leaves everything as it is. */
export function evaluateDeviceFix(
  device: DeviceFences,
  fences: FenceSource,
  fix: FenceFix,
  nowMs: number,
  isScheduled: ScheduleCheck,
): DeviceOutcome {
  const { last } = device;
  if (isLate(fix.tsMs, fix.receivedAtMs) || (last !== null && fix.tsMs < last.tsMs)) return { device, facts: [] };
  const { lat, lng, tsMs, accuracyM } = fix;
  const evaluatedFixes = withEvaluatedFix(device.evaluatedFixes, {
    version: fences.version,
    accuracyM: accuracyM ?? 0,
  });
  const nearby = fences.near(fix);
  if (isAllSettled(device.states, nearby, fix, nowMs)) {
    return { device: { last: { lat, lng, tsMs }, evaluatedFixes, states: device.states }, facts: [] };
  }
  const states: Record<string, FenceState> = {};
  const facts: FenceFact[] = [];
  const context = { previousFix: last, nowMs, isScheduled };
  const evaluated = new Set<string>();
  for (const fence of effective(device, fences, nearby)) {
    if (evaluated.has(fence.id)) continue;
    evaluated.add(fence.id);
    const known: FenceContext = { ...context, isKnownOutside: isKnownOutside(device.evaluatedFixes, fence) };
    const outcome = evaluateFix(device.states[fence.id], fence, fix, known);
    facts.push(...outcome.facts);
    if (outcome.state && isWorthKeeping(outcome.state, fence)) states[fence.id] = outcome.state;
  }
  return { device: { last: { lat, lng, tsMs }, evaluatedFixes, states }, facts };
}

/** One state whose time has come; undefined as the next state: it need not be kept. */
export function evaluateDeviceTimer(
  state: FenceState,
  fence: Fence | undefined,
  nowMs: number,
  isScheduled: ScheduleCheck,
): { state: FenceState | undefined; facts: FenceFact[] } {
  if (fence === undefined || fence.revision !== state.revision) return { state: undefined, facts: [] };
  const outcome = evaluateTimer(state, fence, nowMs, isScheduled);
  return isWorthKeeping(outcome.state, fence) ? outcome : { state: undefined, facts: outcome.facts };
}

/** When the first of the device's timers is due; null: none. */
export function nextDeviceDueMs({ states }: DeviceFences, fences: FenceSource): number | null {
  let earliestMs: number | null = null;
  for (const [id, state] of Object.entries(states)) {
    const fence = fences.find(id);
    const dueMs = fence === undefined ? null : nextDueMs(state, fence);
    if (dueMs !== null && (earliestMs === null || dueMs < earliestMs)) earliestMs = dueMs;
  }
  return earliestMs;
}

/** Most fixes change nothing: ten fences then cost 2 us instead of 20. */
function isAllSettled(
  states: Readonly<Record<string, FenceState>>,
  nearby: readonly Fence[],
  fix: FenceFix,
  nowMs: number,
): boolean {
  for (const fence of nearby) {
    const state = states[fence.id];
    if (state === undefined || !isSettled(state, fence, fix, nowMs)) return false;
  }
  return Object.keys(states).length === nearby.length;
}

/** Also those that are far away, where a state waits for the news. */
function* effective(device: DeviceFences, fences: FenceSource, nearby: readonly Fence[]): Generator<Fence> {
  yield* nearby;
  for (const id of Object.keys(device.states)) {
    const fence = fences.find(id);
    if (fence) yield fence;
  }
}

const isWorthKeeping = ({ side, pending }: FenceState, { scope }: Fence): boolean =>
  scope !== "org" || side !== "outside" || pending !== null;

const isKnownOutside = (evaluatedFixes: readonly EvaluatedFix[], { scope, radiusM, sinceVersion }: Fence): boolean =>
  scope === "org" && evaluatedFixes.some(({ version, accuracyM }) => accuracyM <= radiusM && version >= sinceVersion);

function withEvaluatedFix(evaluatedFixes: readonly EvaluatedFix[], fresh: EvaluatedFix): readonly EvaluatedFix[] {
  const covers = (one: EvaluatedFix, as: EvaluatedFix) => one.version >= as.version && one.accuracyM <= as.accuracyM;
  if (evaluatedFixes.some((one) => covers(one, fresh))) return evaluatedFixes;
  const kept = evaluatedFixes.filter((one) => !covers(fresh, one));
  // Longer lists are of devices whose fixes become worse with every change of a fence. The first entry is the most exact: it stays.
  if (kept.length >= maxEvaluatedFixes) kept.splice(1, 1);
  return [...kept, fresh];
}
