import type { Db } from "../../db/database.ts";
import { listThresholdChanges } from "../../resources/thresholds/threshold-changes.ts";
import type { PastChange } from "../../rules/threshold-history.ts";
import type { DeviceHold } from "../device-memory.ts";
import type { OrganizationRules } from "./organization-rules.ts";
import type { RuleMemory } from "./rule-memory.ts";

/** Thresholds have changed since an open breach was last looked at: its rule may not have applied in between. */
export const mayHaveMissedChange = (
  { thresholdsAsOf, thresholds }: RuleMemory,
  { thresholdsVersion }: OrganizationRules,
): boolean =>
  thresholdsAsOf !== null &&
  thresholdsAsOf < thresholdsVersion &&
  Object.values(thresholds).some(({ low, high }) => low !== null || high !== null);

export function mayHaveMissedAny(
  holds: Iterable<DeviceHold>,
  rulesOf: ReadonlyMap<string, OrganizationRules>,
): boolean {
  for (const { device, memory } of holds) {
    const rules = rulesOf.get(device.organizationId);
    if (rules && mayHaveMissedChange(memory.rules, rules)) return true;
  }
  return false;
}

/** What was changed, the newest first, up to the version that the rules had then. */
export interface PastThresholds {
  version: number;
  changes: readonly PastChange[];
}

/** By organization, for those of the holds whose breaches are in doubt: mostly none, and then nothing is read. */
export async function readPast(
  db: Db,
  holds: Iterable<DeviceHold>,
  rulesOf: ReadonlyMap<string, OrganizationRules>,
): Promise<ReadonlyMap<string, PastThresholds>> {
  const since = new Map<OrganizationRules, number>();
  for (const { device, memory } of holds) {
    const rules = rulesOf.get(device.organizationId);
    if (!rules || !mayHaveMissedChange(memory.rules, rules)) continue;
    since.set(rules, Math.min(since.get(rules) ?? Number.POSITIVE_INFINITY, memory.rules.thresholdsAsOf ?? 0));
  }
  const past = new Map<string, PastThresholds>();
  for (const [{ organizationId, version }, sinceVersion] of since) {
    past.set(organizationId, {
      version,
      changes: await listThresholdChanges(db, organizationId, sinceVersion, version),
    });
  }
  return past;
}
