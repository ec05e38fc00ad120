import { type DeviceFences, type EvaluatedFix, noFences } from "../../rules/device-fences.ts";
import type { FenceState } from "../../rules/fence.ts";
import type { ThresholdState } from "../../rules/threshold.ts";

/** The rules' state of a device. Evaluations replace it and never change it; a commit takes it up (kept-memory.ts). */
export interface RuleMemory {
  fences: DeviceFences;
  /** By metric. */
  thresholds: Readonly<Record<string, ThresholdState>>;
  /** Under this version of the rules every open breach was that of a rule that counted; null: there was none yet. */
  thresholdsAsOf: number | null;
  isBatteryLow: boolean;
}

/** As it is kept in rule_states. The last fix is not: the history of locations has it. */
export interface StoredRules {
  fences?: Record<string, FenceState>;
  thresholds?: Record<string, ThresholdState>;
  thresholds_as_of?: number | null;
  heard?: EvaluatedFix[];
  is_battery_low?: boolean;
}

/** Shared by all devices that no rule knows yet: there may be many. */
export const noMemory: RuleMemory = { fences: noFences, thresholds: {}, thresholdsAsOf: null, isBatteryLow: false };

export const memoryOf = (stored: StoredRules | null, last: DeviceFences["last"]): RuleMemory =>
  stored === null && last === null
    ? noMemory
    : {
        fences: {
          last,
          evaluatedFixes: stored?.heard ?? noFences.evaluatedFixes,
          states: stored?.fences ?? noFences.states,
        },
        thresholds: stored?.thresholds ?? noMemory.thresholds,
        thresholdsAsOf: stored?.thresholds_as_of ?? null,
        isBatteryLow: stored?.is_battery_low ?? false,
      };

export const toStored = ({ fences, thresholds, thresholdsAsOf, isBatteryLow }: RuleMemory): StoredRules => ({
  ...(Object.keys(fences.states).length > 0 ? { fences: { ...fences.states } } : {}),
  ...(Object.keys(thresholds).length > 0 ? { thresholds: { ...thresholds }, thresholds_as_of: thresholdsAsOf } : {}),
  ...(fences.evaluatedFixes.length > 0 ? { heard: [...fences.evaluatedFixes] } : {}),
  ...(isBatteryLow ? { is_battery_low: true } : {}),
});

/** With every fix the last one changes, and mostly nothing else: then there is nothing to store. */
export const hasSameStoredForm = (before: RuleMemory, after: RuleMemory): boolean =>
  before === after ||
  (before.isBatteryLow === after.isBatteryLow &&
    hasSameEvaluations(before.fences.evaluatedFixes, after.fences.evaluatedFixes) &&
    isSameRecord(before.fences.states, after.fences.states) &&
    isSameRecord(before.thresholds, after.thresholds));

/** Version 0: there has been no fence of all devices yet that could ask. */
const hasSameEvaluations = (before: readonly EvaluatedFix[], after: readonly EvaluatedFix[]): boolean =>
  before === after || after.every(({ version }) => version === 0);

/** By the identity of the values: the rules give the same object back when nothing has changed. */
function isSameRecord(before: Readonly<Record<string, object>>, after: Readonly<Record<string, object>>): boolean {
  if (before === after) return true;
  const keys = Object.keys(after);
  return keys.length === Object.keys(before).length && keys.every((key) => before[key] === after[key]);
}
