import { effectiveBounds, type ThresholdRule } from "../../src/rules/threshold.ts";
import type { AlertThreshold, Assignment } from "../api/types.ts";
import { thresholdsOf, toRule } from "./device-bounds.ts";

type Level = "organization" | "device" | "user";
type Step = "from" | "replaced" | "merged" | "disabled";

/** What one level does to what comes from the levels below it, for instance that the user's rule replaces the organization's. */
export interface OriginStep {
  level: Level;
  step: Step;
}

export interface ResultingRule {
  metric: AlertThreshold["metric_key"];
  low: { value: number; severity: AlertThreshold["severity"] } | null;
  high: { value: number; severity: AlertThreshold["severity"] } | null;
  origin: OriginStep[];
}

const levels: readonly (readonly [Level, AlertThreshold["scope"]])[] = [
  ["organization", "Organization"],
  ["device", "Device"],
  ["user", "User"],
];

/** Rules of several users are one level: they switch off only together, and one that replaces is enough (section 11). */
function stepOf(level: readonly AlertThreshold[], isFirst: boolean): Step {
  if (level.every(({ override_mode }) => override_mode === "Disable")) return "disabled";
  if (isFirst) return "from";
  return level.some(({ override_mode }) => override_mode === "Replace") ? "replaced" : "merged";
}

/** From the widest level to the narrowest. */
function originOf(rules: readonly AlertThreshold[]): OriginStep[] {
  const origin: OriginStep[] = [];
  for (const [level, scope] of levels) {
    const own = rules.filter((rule) => rule.scope === scope);
    if (own.length > 0) origin.push({ level, step: stepOf(own, origin.length === 0) });
  }
  return origin;
}

/** The rule that counts for each metric of a device, and where it comes from. */
export function resultingRules(
  uid: string,
  thresholds: readonly AlertThreshold[],
  assignments: readonly Assignment[],
): ResultingRule[] {
  const applying = thresholdsOf(uid, thresholds, assignments);
  const labels = new Map(applying.map(({ id, severity }) => [id, severity]));
  const bound = (rule: ThresholdRule | null, side: "low" | "high"): ResultingRule["low"] =>
    rule && { value: rule[side] as number, severity: labels.get(rule.id) as AlertThreshold["severity"] };
  return [...new Set(applying.map(({ metric_key }) => metric_key))].map((metric) => {
    const rules = applying.filter(({ metric_key }) => metric_key === metric);
    const { low, high } = effectiveBounds(rules.map(toRule));
    return { metric, low: bound(low, "low"), high: bound(high, "high"), origin: originOf(rules) };
  });
}
