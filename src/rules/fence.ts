import { distanceM, type Point } from "../lib/geo.ts";
import type { FenceSchedule, ScheduleCheck } from "./fence-schedule.ts";

/** A circle and what it is watched for, as it applies to one device. */
export interface Fence extends Point {
  id: string;
  name: string;
  scope: "org" | "user" | "device";
  radiusM: number;
  triggerOnEnter: boolean;
  triggerOnExit: boolean;
  triggerOnDwell: boolean;
  dwellThresholdSeconds: number | null;
  schedule: FenceSchedule | null;
  /** Another one makes what was known of the device's side void: shape revision, with the time of the link or assignment. */
  revision: string;
  /** The organization's rule version that brought this shape. Counts for scope `org` only (device-fences.ts). */
  sinceVersion: number;
  /** Service time of the last change of any field. A timer is not due before the change that asks for it. */
  changedMs: number;
}

/** A valid location with the time of the rule of section 5. */
export interface FenceFix extends Point {
  tsMs: number;
  receivedAtMs: number;
  accuracyM: number | null;
  source: string;
}

/** The location of an event. */
export interface FencePlace extends Point {
  tsMs: number;
  accuracyM: number | null;
  source: string;
}

/** Plain JSON; every field is always there. The same object comes back when nothing has changed. */
export interface FenceState {
  revision: string;
  /** Unknown: fixes came, but none that was clear of the band around the boundary. */
  side: "inside" | "outside" | "unknown";
  /** The first fix on the other side, not yet confirmed, and the service time at which it came. */
  pending: { place: FencePlace; atMs: number } | null;
  /** While inside: the fix that began the stay and the service time since which it is known. */
  stay: { place: FencePlace; knownMs: number; isDwellOver: boolean } | null;
}

export interface FenceFact {
  kind: "enter" | "exit" | "dwell";
  fence: Fence;
  /** Enter, exit: of the fix that changed the side; dwell: the time at which the timer was due. */
  tsMs: number;
  distanceM: number;
  place: FencePlace;
  /** Null unless dwell. */
  dwellSeconds: number | null;
}

export interface FenceContext {
  /** The fix evaluated before this one, to tell how fast the device would have been. */
  previousFix: (Point & { tsMs: number }) | null;
  /** Without a state: an earlier fix is known to have been outside of this revision. */
  isKnownOutside: boolean;
  /** The service's clock. */
  nowMs: number;
  isScheduled: ScheduleCheck;
}

export interface FenceOutcome {
  /** Undefined: there was none, and the fix said nothing of this fence. */
  state: FenceState | undefined;
  facts: FenceFact[];
}

type Moved = FenceOutcome & { state: FenceState };

const confirmMs = 60_000;
const clearM = 50;
const fastestKmh = 250;
/** Metres of a degree of latitude, and a little less: far away is decided without a sine. */
const minMetresPerDegree = 111_000;

export const bandM = (radiusM: number, accuracyM: number | null): number => Math.max(0.1 * radiusM, 20, accuracyM ?? 0);

/**
 * One fix against one fence (section 10). Fixes come in order of `ts`, and none that is late: device-fences.ts sees to both.
 * Timers that were due before it go first, so that it does not matter how late anyone runs them.
 */
export function evaluateFix(
  known: FenceState | undefined,
  fence: Fence,
  fix: FenceFix,
  context: FenceContext,
): FenceOutcome {
  const state = known?.revision === fence.revision ? known : undefined;
  const { nowMs, isScheduled } = context;
  const timed = state ? evaluateTimer(state, fence, nowMs, isScheduled) : { state, facts: [] };
  if (fix.accuracyM !== null && fix.accuracyM > fence.radiusM) return timed;
  const distance = distanceM(fence, fix);
  const zone = zoneOf(distance, fence, fix);
  const place = placeOf(fix);
  const before = timed.state ?? newState(fence, context.isKnownOutside ? "outside" : "unknown");
  const { facts } = timed;
  if (zone === "band") return { state: before, facts };
  if (before.side === "unknown") return { state: onSide(before, zone, place, nowMs), facts };
  if (zone === before.side) return { state: before.pending === null ? before : { ...before, pending: null }, facts };
  if (before.pending === null && !isConfirmedAtOnce(distance, fence, fix, context)) {
    return { state: { ...before, pending: { place, atMs: nowMs } }, facts };
  }
  const changed = change(before, fence, before.pending?.place ?? place, nowMs, isScheduled);
  return { state: changed.state, facts: [...facts, ...changed.facts] };
}

/** True: neither the fix nor the time changes anything. False may be said of a fix that does not either. */
export function isSettled(state: FenceState, fence: Fence, fix: FenceFix, nowMs: number): boolean {
  if (state.revision !== fence.revision || state.pending !== null || state.side === "unknown") return false;
  if (state.stay !== null && dwellDueMs(state, fence) <= nowMs) return false;
  const outerM = fence.radiusM + bandM(fence.radiusM, fix.accuracyM);
  if (Math.abs(fix.lat - fence.lat) * minMetresPerDegree > outerM) return state.side === "outside";
  const distance = distanceM(fence, fix);
  return state.side === "inside" ? distance <= fence.radiusM : distance > outerM;
}

/** What the passing of time alone does, until now: a change that nothing contradicted, and a stay that has lasted. */
export function evaluateTimer(known: FenceState, fence: Fence, nowMs: number, isScheduled: ScheduleCheck): Moved {
  let state = known;
  const facts: FenceFact[] = [];
  for (let dueMs = nextDueMs(state, fence); dueMs !== null && dueMs <= nowMs; dueMs = nextDueMs(state, fence)) {
    const { pending } = state;
    const outcome =
      pending !== null && dueMs === pending.atMs + confirmMs
        ? change(state, fence, pending.place, dueMs, isScheduled)
        : dwell(state, fence, dueMs, isScheduled);
    state = outcome.state;
    facts.push(...outcome.facts);
  }
  return { state, facts };
}

/** Null: time alone changes nothing. */
export function nextDueMs(state: FenceState, fence: Fence): number | null {
  if (state.revision !== fence.revision) return null;
  const confirmationMs = state.pending === null ? Number.POSITIVE_INFINITY : state.pending.atMs + confirmMs;
  const dueMs = Math.min(confirmationMs, dwellDueMs(state, fence));
  return Number.isFinite(dueMs) ? dueMs : null;
}

function dwellDueMs({ stay }: FenceState, fence: Fence): number {
  const { triggerOnDwell, dwellThresholdSeconds, changedMs } = fence;
  if (stay === null || stay.isDwellOver || !triggerOnDwell || dwellThresholdSeconds === null) {
    return Number.POSITIVE_INFINITY;
  }
  return Math.max(stay.place.tsMs + dwellThresholdSeconds * 1000, stay.knownMs, changedMs);
}

function dwell(state: FenceState, fence: Fence, tsMs: number, isScheduled: ScheduleCheck): Moved {
  const stay = state.stay as NonNullable<FenceState["stay"]>;
  const { place } = stay;
  const dwellSeconds = Math.floor((tsMs - place.tsMs) / 1000);
  const fact: FenceFact = { kind: "dwell", fence, tsMs, distanceM: distanceM(fence, place), place, dwellSeconds };
  return {
    state: { ...state, stay: { ...stay, isDwellOver: true } },
    facts: isScheduled(fence.schedule, tsMs) ? [fact] : [],
  };
}

function change(state: FenceState, fence: Fence, place: FencePlace, nowMs: number, isScheduled: ScheduleCheck): Moved {
  const isEntry = state.side === "outside";
  const isWanted = isEntry ? fence.triggerOnEnter : fence.triggerOnExit;
  const { tsMs } = place;
  const kind = isEntry ? "enter" : "exit";
  const fact: FenceFact = { kind, fence, tsMs, distanceM: distanceM(fence, place), place, dwellSeconds: null };
  return {
    state: onSide(state, isEntry ? "inside" : "outside", place, nowMs),
    facts: isWanted && isScheduled(fence.schedule, tsMs) ? [fact] : [],
  };
}

const newState = ({ revision }: Fence, side: FenceState["side"]): FenceState => ({
  revision,
  side,
  pending: null,
  stay: null,
});

const onSide = (
  { revision }: FenceState,
  side: "inside" | "outside",
  place: FencePlace,
  knownMs: number,
): FenceState => ({
  revision,
  side,
  pending: null,
  stay: side === "inside" ? { place, knownMs, isDwellOver: false } : null,
});

function zoneOf(distance: number, { radiusM }: Fence, { accuracyM }: FenceFix): "inside" | "outside" | "band" {
  if (distance <= radiusM) return "inside";
  return distance > radiusM + bandM(radiusM, accuracyM) ? "outside" : "band";
}

function isConfirmedAtOnce(distance: number, fence: Fence, fix: FenceFix, { previousFix }: FenceContext): boolean {
  if (fix.source !== "gps") return false;
  if (Math.abs(distance - fence.radiusM) <= Math.max(clearM, 2 * (fix.accuracyM ?? 0))) return false;
  return previousFix === null || impliedKmh(previousFix, fix) <= fastestKmh;
}

/** Clocks have seconds, so two fixes of one second count as a second apart. */
const impliedKmh = (from: Point & { tsMs: number }, to: FenceFix): number =>
  distanceM(from, to) / 1000 / (Math.max(1000, to.tsMs - from.tsMs) / 3_600_000);

const placeOf = ({ tsMs, lat, lng, accuracyM, source }: FenceFix): FencePlace => ({
  tsMs,
  lat,
  lng,
  accuracyM,
  source,
});
