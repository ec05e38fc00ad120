import type { DeviceFences, Heard } from "../rules/device-fences.ts";
import type { FenceState } from "../rules/fence.ts";
import type { ThresholdState } from "../rules/threshold.ts";

/** What the rules remember of a device. Plain values, replaced and never changed. */
export interface RuleMemory {
  fences: DeviceFences;
  /** By metric. */
  thresholds: Readonly<Record<string, ThresholdState>>;
  isBatteryLow: boolean;
  /** What of `fences.heard` is stored; the rest says nothing that this does not. */
  storedHeard: readonly StoredHeard[];
}

type StoredHeard = Pick<Heard, "version" | "accuracyM">;

/** As it is kept in rule_states. The last fix is not: the history of locations has it. */
export interface StoredRules {
  fences?: Record<string, FenceState>;
  thresholds?: Record<string, ThresholdState>;
  heard?: StoredHeard[];
  is_battery_low?: boolean;
}

export function memoryOf(stored: StoredRules | null, last: DeviceFences["last"]): RuleMemory {
  const heard = stored?.heard ?? [];
  return {
    fences: { last, heard: heard.map((one) => ({ ...one, atMs: 0 })), states: stored?.fences ?? {} },
    thresholds: stored?.thresholds ?? {},
    isBatteryLow: stored?.is_battery_low ?? false,
    storedHeard: heard,
  };
}

export const toStored = ({ fences, thresholds, isBatteryLow, storedHeard }: RuleMemory): StoredRules => ({
  ...(Object.keys(fences.states).length > 0 ? { fences: { ...fences.states } } : {}),
  ...(Object.keys(thresholds).length > 0 ? { thresholds: { ...thresholds } } : {}),
  ...(storedHeard.length > 0 ? { heard: [...storedHeard] } : {}),
  ...(isBatteryLow ? { is_battery_low: true } : {}),
});

/** The same memory when nothing of it must be stored; with every fix the last one changes, and nothing else. */
export function withStoredHeard(memory: RuleMemory): RuleMemory {
  const { heard } = memory.fences;
  const isSaid = ({ version, accuracyM }: Heard): boolean =>
    version === 0 || memory.storedHeard.some((one) => one.version >= version && one.accuracyM <= accuracyM);
  if (heard.every(isSaid)) return memory;
  return { ...memory, storedHeard: heard.map(({ version, accuracyM }) => ({ version, accuracyM })) };
}

export const isStoredAlike = (before: RuleMemory, after: RuleMemory): boolean =>
  before === after ||
  (before.isBatteryLow === after.isBatteryLow &&
    before.storedHeard === after.storedHeard &&
    isSameRecord(before.fences.states, after.fences.states) &&
    isSameRecord(before.thresholds, after.thresholds));

/** By the identity of the values: the rules give the same object back when nothing has changed. */
function isSameRecord(before: Readonly<Record<string, object>>, after: Readonly<Record<string, object>>): boolean {
  if (before === after) return true;
  const keys = Object.keys(after);
  return keys.length === Object.keys(before).length && keys.every((key) => before[key] === after[key]);
}
