import { effectiveBounds, type ThresholdRule } from "../../src/rules/threshold.ts";
import type { AlertThreshold, Assignment } from "../api/types.ts";

/** From which value on a reading of a metric is out of range for a device; null: there is no such bound. */
export interface Bounds {
  low: number | null;
  high: number | null;
}

const modes = { Replace: 10, Merge: 20, Disable: 30 } as const;
const severities = { Info: 10, Warning: 20, Critical: 30 } as const;

/** As the rules of the service see it. */
export const toRule = (threshold: AlertThreshold): ThresholdRule => ({
  id: threshold.id,
  scope: threshold.scope_value as ThresholdRule["scope"],
  userId: threshold.user,
  deviceId: threshold.device,
  metricKey: threshold.metric_key,
  low: threshold.low,
  high: threshold.high,
  severity: severities[threshold.severity],
  overrideMode: modes[threshold.override_mode],
  minDurationSeconds: threshold.min_duration_seconds,
  clearMargin: threshold.clear_margin,
  cooldownSeconds: threshold.cooldown_seconds,
  revision: 0,
});

/** The active thresholds that apply to a device: those of users only where they hold it. */
export function thresholdsOf(
  uid: string,
  thresholds: readonly AlertThreshold[],
  assignments: readonly Assignment[],
): AlertThreshold[] {
  const holders = new Set(
    assignments.flatMap(({ device_uid, role, user_id, is_active }) =>
      device_uid === uid && is_active && role !== "viewer" ? [user_id] : [],
    ),
  );
  return thresholds.filter(
    ({ is_active, device, user }) =>
      is_active && (device === null || device === uid) && (user === null || holders.has(user)),
  );
}

/** The bounds that count for each metric of a device, by the same precedence that the service uses. */
export function boundsOf(
  uid: string,
  thresholds: readonly AlertThreshold[],
  assignments: readonly Assignment[],
): ReadonlyMap<string, Bounds> {
  const applying = thresholdsOf(uid, thresholds, assignments);
  const metrics = new Set<string>(applying.map(({ metric_key }) => metric_key));
  return new Map(
    [...metrics].map((metric) => {
      const { low, high } = effectiveBounds(applying.filter(({ metric_key }) => metric_key === metric).map(toRule));
      return [metric, { low: low?.low ?? null, high: high?.high ?? null }];
    }),
  );
}

/** Whether a value is beyond a bound, and beyond which. */
export function beyond(value: number, bounds: Bounds | undefined): "low" | "high" | undefined {
  if (bounds?.low != null && value < bounds.low) return "low";
  return bounds?.high != null && value > bounds.high ? "high" : undefined;
}
