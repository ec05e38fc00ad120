/** As stored: organization 10, device 15, user 20. */
export type ThresholdScope = 10 | 15 | 20;

/** An active rule that applies to the device; its numbers are those of the table. */
export interface ThresholdRule {
  id: string;
  scope: ThresholdScope;
  userId: string | null;
  deviceId: string | null;
  metricKey: string;
  low: number | null;
  high: number | null;
  severity: 10 | 20 | 30;
  overrideMode: 10 | 20 | 30;
  minDurationSeconds: number;
  clearMargin: number;
  cooldownSeconds: number;
  /** Raised by each change of the rule. */
  revision: number;
}

/** The bounds that count for one metric of a device, each with the rule it comes from. */
export interface ThresholdBounds {
  low: ThresholdRule | null;
  high: ThresholdRule | null;
}

/** A value beyond a bound. */
export interface Breach {
  ruleId: string;
  revision: number;
  /** Service time of the first value beyond the bound. */
  sinceMs: number;
  /** The newest value while no event is made. */
  value: number;
  /** Of the event that was made; null while duration or cooldown hold it back. */
  eventId: string | null;
}

/** Of one metric of one device. Plain JSON; every field is always there. The same object comes back when nothing has changed. */
export interface ThresholdState {
  low: Breach | null;
  high: Breach | null;
  /** Service time of the last breach event by the id of its rule; a day is the longest cooldown. */
  lastEventMs: Readonly<Record<string, number>>;
}

export interface ThresholdFact {
  kind: "breach" | "cleared";
  rule: ThresholdRule;
  bound: "low" | "high";
  value: number;
  /** That of the telemetry row, or the time at which the timer was due. */
  tsMs: number;
  /** To be the id of the event. */
  eventId: string;
  /** Cleared: the event of the breach; else null. */
  breachEventId: string | null;
}

export interface ThresholdOutcome {
  /** Undefined: there is nothing to keep. */
  state: ThresholdState | undefined;
  facts: ThresholdFact[];
}

export interface ThresholdReading {
  value: number;
  /** Of the telemetry row. */
  tsMs: number;
  /** The service's clock. */
  nowMs: number;
}

/** Makes the id of an event of this time. */
export type NewEventId = (nowMs: number) => string;

const bothBounds = ["low", "high"] as const;
const maxCooldownMs = 86_400_000;
const fromMostSpecific: readonly ThresholdScope[] = [20, 15, 10];
const replace = 10;
const disable = 30;

/** The precedence of section 11. Rules of one metric, active, that apply to one device; several users' count as one level. */
export function effectiveBounds(rules: readonly ThresholdRule[]): ThresholdBounds {
  const collected: ThresholdRule[] = [];
  for (const scope of fromMostSpecific) {
    const level = rules.filter((rule) => rule.scope === scope);
    if (level.length === 0) continue;
    const speaking = level.filter(({ overrideMode }) => overrideMode !== disable);
    if (speaking.length === 0) break;
    collected.push(...speaking.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    if (speaking.some(({ overrideMode }) => overrideMode === replace)) break;
  }
  const bounds: ThresholdBounds = { low: null, high: null };
  for (const rule of collected) {
    if (rule.low !== null && !(bounds.low !== null && (bounds.low.low as number) >= rule.low)) bounds.low = rule;
    if (rule.high !== null && !(bounds.high !== null && (bounds.high.high as number) <= rule.high)) bounds.high = rule;
  }
  return bounds;
}

/** A value in range of a packet that is not late. Timers that were due before it go first. */
export function evaluateReading(
  known: ThresholdState | undefined,
  bounds: ThresholdBounds,
  reading: ThresholdReading,
  newEventId: NewEventId,
): ThresholdOutcome {
  const { value, nowMs, tsMs } = reading;
  const timed = evaluateTimer(known, bounds, nowMs, newEventId);
  const facts = [...timed.facts];
  let state = timed.state ?? nothing;
  const isInside = bothBounds.every((bound) => !isBeyond(bounds[bound], bound, value));
  for (const bound of bothBounds) {
    const rule = bounds[bound];
    if (rule === null) continue;
    const breach = state[bound];
    if (isBeyond(rule, bound, value)) {
      if (breach !== null && (breach.eventId !== null || breach.value === value)) continue;
      const { id: ruleId, revision } = rule;
      const begun = { ruleId, revision, sinceMs: nowMs, eventId: null };
      state = { ...state, [bound]: { ...(breach ?? begun), value } };
      if (dueMsOf(state, bounds, bound) <= nowMs) state = report(state, rule, bound, tsMs, nowMs, newEventId, facts);
    } else if (breach !== null && breach.eventId === null) state = { ...state, [bound]: null };
    else if (breach !== null && isInside && isClear(rule, bound, value)) {
      const eventId = newEventId(nowMs);
      facts.push({ kind: "cleared", rule, bound, value, tsMs, eventId, breachEventId: breach.eventId });
      state = { ...state, [bound]: null };
    }
  }
  return { state: isEmptyState(state) ? undefined : state, facts };
}

/** What is due by now: breaches that duration or cooldown held back. Those of a rule that is no longer the same just end. */
export function evaluateTimer(
  known: ThresholdState | undefined,
  bounds: ThresholdBounds,
  nowMs: number,
  newEventId: NewEventId,
): ThresholdOutcome {
  if (known === undefined) return { state: undefined, facts: [] };
  let state = known;
  const facts: ThresholdFact[] = [];
  for (const bound of bothBounds) {
    const breach = state[bound];
    if (breach !== null && !isBreachOf(breach, bounds[bound])) state = { ...state, [bound]: null };
  }
  for (const bound of bothBounds) {
    const dueMs = dueMsOf(state, bounds, bound);
    const rule = bounds[bound];
    if (rule !== null && dueMs <= nowMs) state = report(state, rule, bound, dueMs, dueMs, newEventId, facts);
  }
  state = withoutOldEvents(state, nowMs);
  return { state: isEmptyState(state) ? undefined : state, facts };
}

/** Null: time alone changes nothing. */
export function nextDueMs(state: ThresholdState, bounds: ThresholdBounds): number | null {
  const dueMs = Math.min(...bothBounds.map((bound) => dueMsOf(state, bounds, bound)));
  return Number.isFinite(dueMs) ? dueMs : null;
}

function dueMsOf(state: ThresholdState, bounds: ThresholdBounds, bound: "low" | "high"): number {
  const [breach, rule] = [state[bound], bounds[bound]];
  if (breach === null || rule === null || breach.eventId !== null || !isBreachOf(breach, rule)) {
    return Number.POSITIVE_INFINITY;
  }
  const heldMs = breach.sinceMs + rule.minDurationSeconds * 1000;
  const lastMs = state.lastEventMs[rule.id];
  return lastMs === undefined ? heldMs : Math.max(heldMs, lastMs + rule.cooldownSeconds * 1000);
}

function report(
  state: ThresholdState,
  rule: ThresholdRule,
  bound: "low" | "high",
  tsMs: number,
  atMs: number,
  newEventId: NewEventId,
  facts: ThresholdFact[],
): ThresholdState {
  const breach = state[bound] as Breach;
  const eventId = newEventId(atMs);
  facts.push({ kind: "breach", rule, bound, value: breach.value, tsMs, eventId, breachEventId: null });
  return { ...state, [bound]: { ...breach, eventId }, lastEventMs: { ...state.lastEventMs, [rule.id]: atMs } };
}

const nothing: ThresholdState = { low: null, high: null, lastEventMs: {} };

export const isEmptyState = ({ low, high, lastEventMs }: ThresholdState): boolean =>
  low === null && high === null && Object.keys(lastEventMs).length === 0;

export const isBreachOf = ({ ruleId, revision }: Breach, rule: ThresholdRule | null): boolean =>
  rule !== null && rule.id === ruleId && rule.revision === revision;

const isBeyond = (rule: ThresholdRule | null, bound: "low" | "high", value: number): boolean => {
  const limit = rule?.[bound] ?? null;
  return limit !== null && (bound === "low" ? value < limit : value > limit);
};

const isClear = ({ low, high, clearMargin }: ThresholdRule, bound: "low" | "high", value: number): boolean =>
  bound === "low" ? value >= (low as number) + clearMargin : value <= (high as number) - clearMargin;

function withoutOldEvents(state: ThresholdState, nowMs: number): ThresholdState {
  const all = Object.entries(state.lastEventMs);
  const recent = all.filter(([, atMs]) => nowMs - atMs < maxCooldownMs);
  return recent.length === all.length ? state : { ...state, lastEventMs: Object.fromEntries(recent) };
}
