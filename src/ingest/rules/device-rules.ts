import { evaluateBattery } from "../../rules/battery.ts";
import { evaluateDeviceFix, evaluateDeviceTimer, nextDeviceDueMs } from "../../rules/device-fences.ts";
import type { FenceFact, FenceState } from "../../rules/fence.ts";
import type { ScheduleCheck } from "../../rules/fence-schedule.ts";
import { isLate } from "../../rules/lateness.ts";
import {
  evaluateReading,
  evaluateTimer,
  nextDueMs,
  type ThresholdBounds,
  type ThresholdFact,
  type ThresholdState,
} from "../../rules/threshold.ts";
import { type PastChange, withoutInterrupted } from "../../rules/threshold-history.ts";
import type { LastLocation } from "../device-memory.ts";
import type { RuleView } from "./organization-rules.ts";
import { hasSameStoredForm, type RuleMemory } from "./rule-memory.ts";

/** What the rules found out, before it has a name and a text. */
export type RuleFact = FoundFence | FoundThreshold;

interface FoundFence {
  kind: "fence";
  fact: FenceFact;
  /** Of the device's clock; undefined: the fix came before, and its row knows. */
  deviceTimeMs: number | null | undefined;
  /** When it was found out. */
  atMs: number;
}

export interface FoundThreshold extends RuleContext {
  kind: "threshold";
  fact: ThresholdFact;
  deviceTimeMs: number | null;
  atMs: number;
}

export interface RuleTools {
  isScheduled: ScheduleCheck;
  /** The id of an event of this time. */
  newEventId(nowMs: number): string;
}

/** A valid position. */
export interface RuleFix {
  lat: number;
  lng: number;
  accuracyM: number | null;
  source: string;
  tsMs: number;
  deviceTimeMs: number | null;
  receivedAtMs: number;
}

/** The readings of one packet that are in their range. */
export interface RuleReadings {
  values: Readonly<Record<string, number>>;
  /** Of the telemetry row, and the service's clock. */
  receivedAtMs: number;
  deviceTimeMs: number | null;
  /** The plausible time of the packet. */
  tsMs: number;
  /** Asked for only when there is something to tell. */
  context(): RuleContext;
}

/** What an event tells of the device beside its own matter. */
export interface RuleContext {
  battery: number | null;
  location: LastLocation | null;
}

const noBounds: ThresholdBounds = { low: null, high: null };

/** Most readings: nothing begins and nothing ends. */
const isWithin = ({ low, high }: ThresholdBounds, value: number): boolean =>
  (low?.low == null || value >= low.low) && (high?.high == null || value <= high.high);

/**
 * The rules of one device at work: what it says goes in one after the other, the next memory and facts come out. Nothing is
 * kept of an attempt that fails.
 */
export class DeviceRules {
  memory: RuleMemory;
  readonly facts: RuleFact[] = [];
  evaluations = 0;
  readonly #before: RuleMemory;
  readonly #view: RuleView;
  readonly #tools: RuleTools;

  constructor(memory: RuleMemory, view: RuleView, tools: RuleTools) {
    this.memory = memory;
    this.#before = memory;
    this.#view = view;
    this.#tools = tools;
  }

  /** Before anything else, where `mayHaveMissedChange` says so: ends breaches whose rules did not apply for a while. */
  takePast(deviceId: string, newestFirst: readonly PastChange[]): void {
    const { rules, version } = this.#view;
    const since = this.memory.thresholdsAsOf ?? version;
    const changes = newestFirst.filter((change) => change.version > since);
    for (const [metric, known] of Object.entries(this.memory.thresholds)) {
      const kept = withoutInterrupted(known, rules.pastBounds(deviceId, metric, changes));
      this.#moveThreshold(metric, known, kept);
    }
    this.memory = { ...this.memory, thresholdsAsOf: version };
  }

  /** In the order of their times. */
  takeFixes(fixes: readonly RuleFix[]): void {
    for (const fix of fixes) {
      this.evaluations++;
      const { fences } = this.memory;
      const outcome = evaluateDeviceFix(fences, this.#view.fences, fix, fix.receivedAtMs, this.#tools.isScheduled);
      if (outcome.device !== fences) this.memory = { ...this.memory, fences: outcome.device };
      for (const fact of outcome.facts) {
        this.#found(fact, fix.receivedAtMs, fact.tsMs === fix.tsMs ? fix.deviceTimeMs : undefined);
      }
    }
  }

  takeReadings({ values, receivedAtMs, deviceTimeMs, tsMs, context }: RuleReadings): void {
    if (isLate(tsMs, receivedAtMs)) return;
    for (const metric in values) {
      const value = values[metric] as number;
      const known = this.memory.thresholds[metric];
      const bounds = this.#view.bounds.get(metric) ?? noBounds;
      if (known === undefined && bounds === noBounds) continue;
      this.evaluations++;
      if (known === undefined && isWithin(bounds, value)) continue;
      const reading = { value, tsMs: receivedAtMs, nowMs: receivedAtMs };
      const outcome = evaluateReading(known, bounds, reading, this.#tools.newEventId);
      this.#moveThreshold(metric, known, outcome.state);
      for (const fact of outcome.facts) {
        const ownTimeMs = fact.tsMs === receivedAtMs ? deviceTimeMs : null;
        this.facts.push({ kind: "threshold", fact, deviceTimeMs: ownTimeMs, atMs: receivedAtMs, ...context() });
      }
    }
  }

  /** Whether the packet raises `low_battery`. */
  takeBattery(percent: number | null, hasAlarm: boolean, isLatePacket: boolean): boolean {
    const { isBatteryLow } = this.memory;
    const { isRaised, isEvent } = evaluateBattery(isBatteryLow, { percent, hasAlarm, isLate: isLatePacket });
    if (isRaised !== isBatteryLow) this.memory = { ...this.memory, isBatteryLow: isRaised };
    return isEvent;
  }

  /** What time alone has changed until now. */
  takeTime(nowMs: number, context: RuleContext): void {
    const { isScheduled, newEventId } = this.#tools;
    const { fences, thresholds } = this.memory;
    const states: Record<string, FenceState> = {};
    for (const [id, known] of Object.entries(fences.states)) {
      const { state, facts } = evaluateDeviceTimer(known, this.#view.fences.find(id), nowMs, isScheduled);
      if (state) states[id] = state;
      for (const fact of facts) this.#found(fact, nowMs, undefined);
    }
    this.memory = { ...this.memory, fences: { ...fences, states } };
    for (const [metric, known] of Object.entries(thresholds)) {
      const bounds = this.#view.bounds.get(metric) ?? noBounds;
      const { state, facts } = evaluateTimer(known, bounds, nowMs, newEventId);
      this.#moveThreshold(metric, known, state);
      for (const fact of facts) {
        this.facts.push({ kind: "threshold", fact, deviceTimeMs: null, atMs: nowMs, ...context });
      }
    }
  }

  /** A stay is what the server observes, and has no time of the device. */
  #found(fact: FenceFact, atMs: number, deviceTimeMs: number | null | undefined): void {
    this.facts.push({ kind: "fence", fact, atMs, deviceTimeMs: fact.kind === "dwell" ? null : deviceTimeMs });
  }

  #moveThreshold(metric: string, known: ThresholdState | undefined, next: ThresholdState | undefined): void {
    if (next === known) return;
    const { [metric]: _, ...others } = this.memory.thresholds;
    const thresholds = next ? { ...others, [metric]: next } : others;
    this.memory = { ...this.memory, thresholds, thresholdsAsOf: this.#view.version };
  }

  /** False: there is nothing to store. */
  get hasMoved(): boolean {
    return !hasSameStoredForm(this.#before, this.memory);
  }

  /** When time alone changes something next; null: never. */
  get dueMs(): number | null {
    const { fences, thresholds } = this.memory;
    let dueMs = nextDeviceDueMs(fences, this.#view.fences) ?? Number.POSITIVE_INFINITY;
    for (const [metric, state] of Object.entries(thresholds)) {
      dueMs = Math.min(dueMs, nextDueMs(state, this.#view.bounds.get(metric) ?? noBounds) ?? dueMs);
    }
    return Number.isFinite(dueMs) ? dueMs : null;
  }
}
