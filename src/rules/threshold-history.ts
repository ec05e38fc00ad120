import {
  effectiveBounds,
  isBreachOf,
  isEmptyState,
  type ThresholdBounds,
  type ThresholdRule,
  type ThresholdState,
} from "./threshold.ts";

/** What was changed with a version, and how it was before. */
export type PastChange = PastRule | PastHolder;

interface PastRule {
  kind: "threshold";
  version: number;
  id: string;
  /** Null: there was no such rule, or it was not active. */
  before: ThresholdRule | null;
}

/** Who held a device as owner or assigned. */
interface PastHolder {
  kind: "device";
  version: number;
  /** The device. */
  id: string;
  before: { userId: string; isHolder: boolean } | null;
}

/** The thresholds as they are now, asked for by what they are for. */
export interface CurrentThresholds {
  organizationId: string;
  /** Those of an organization, a device or a user. */
  rulesOf(target: string): Iterable<ThresholdRule>;
  holdersOf(deviceId: string): Iterable<string>;
}

export const targetOf = ({ userId, deviceId }: ThresholdRule, organizationId: string): string =>
  userId ?? deviceId ?? organizationId;

/**
 * The bounds of a metric of a device as they were before each of the changes, the newest first: what counts now is undone step
 * by step. Changes that are not about the metric or the device are passed over.
 */
export function* pastBounds(
  current: CurrentThresholds,
  deviceId: string,
  metric: string,
  newestFirst: readonly PastChange[],
): Generator<ThresholdBounds> {
  const { organizationId } = current;
  const holders = new Set(current.holdersOf(deviceId));
  const undone = new Map<string, ThresholdRule | null>();
  const boundsNow = (): ThresholdBounds => {
    const targets = new Set([organizationId, deviceId, ...holders]);
    const rules = [...targets].flatMap((target) => [...current.rulesOf(target)]).filter(({ id }) => !undone.has(id));
    for (const rule of undone.values()) if (rule && targets.has(targetOf(rule, organizationId))) rules.push(rule);
    return effectiveBounds(rules.filter(({ metricKey }) => metricKey === metric));
  };
  for (const [index, change] of newestFirst.entries()) {
    if (change.kind === "threshold") undone.set(change.id, change.before);
    else if (change.id === deviceId && change.before?.isHolder) holders.add(change.before.userId);
    else if (change.id === deviceId && change.before) holders.delete(change.before.userId);
    // Changes of one version were made together.
    if (newestFirst[index + 1]?.version !== change.version) yield boundsNow();
  }
}

/** A breach ends with the first moment in which its rule was not the one that counts. */
export function withoutInterrupted(state: ThresholdState, past: Iterable<ThresholdBounds>): ThresholdState | undefined {
  let kept = state;
  for (const bounds of past) {
    for (const bound of ["low", "high"] as const) {
      const breach = kept[bound];
      if (breach !== null && !isBreachOf(breach, bounds[bound])) kept = { ...kept, [bound]: null };
    }
  }
  return isEmptyState(kept) ? undefined : kept;
}
