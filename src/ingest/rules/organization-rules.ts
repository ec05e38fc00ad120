import type { Db } from "../../db/database.ts";
import { uuidBytes } from "../../lib/ids.ts";
import {
  type Holder,
  listHolders,
  listHoldersOfDevices,
  listHoldersOfUsers,
} from "../../resources/assignments/holder-store.ts";
import { type FenceRule, listFenceRules, listFenceRulesById } from "../../resources/geofences/fence-rules-store.ts";
import { findRuleVersion, type RuleChange } from "../../resources/rule-versions/rule-version.ts";
import {
  listThresholdRules,
  listThresholdRulesById,
  type ThresholdRule,
} from "../../resources/thresholds/threshold-rules-store.ts";
import type { FenceSource } from "../../rules/device-fences.ts";
import { FenceIndex, type IndexedFence } from "../../rules/fence-index.ts";
import { effectiveBounds, type ThresholdBounds } from "../../rules/threshold.ts";
import { type PastChange, pastBounds, targetOf } from "../../rules/threshold-history.ts";

/** The rules that apply to one device. Good as long as the organization's rules are these and have the version. */
export interface RuleView {
  rules: OrganizationRules;
  version: number;
  fences: FenceSource;
  /** By metric; only those that have a bound. */
  bounds: ReadonlyMap<string, ThresholdBounds>;
}

/** All rules of one organization, as of a version of them. */
export class OrganizationRules {
  readonly organizationId: string;
  readonly organizationIdBytes: Buffer;
  version = 0;
  /** The last one that was about thresholds or holders. */
  thresholdsVersion = 0;
  readonly #index = new FenceIndex();
  readonly #thresholds = new Map<string, ThresholdRule>();
  /** The ids of thresholds by user, device, or organization. */
  readonly #targets = new Map<string, Set<string>>();
  readonly #holders = new Map<string, Holder[]>();
  /** The view of every device while there are no rules. */
  #empty: RuleView | undefined;

  constructor(organizationId: string) {
    this.organizationId = organizationId;
    this.organizationIdBytes = uuidBytes(organizationId);
  }

  get size(): number {
    return this.#index.size + this.#thresholds.size;
  }

  /** Into an empty one. The version is read first: what changes while it reads is named by a later version. */
  async load(db: Db): Promise<void> {
    const version = await findRuleVersion(db, this.organizationId);
    if (version > 0) {
      for await (const rules of listFenceRules(db, this.organizationId)) {
        this.#index.load(rules.map(toFence));
        for (const rule of rules) this.#link(rule);
        this.#raise(rules);
      }
      for await (const rules of listThresholdRules(db, this.organizationId)) for (const rule of rules) this.#put(rule);
      for (const holder of await listHolders(db, this.organizationId)) this.#hold(holder);
    }
    this.version = version;
    this.thresholdsVersion = version;
  }

  /** Reads what was changed again. Everything changes in one step, after the reads: a batch sees all of it or nothing. */
  async apply(db: Db, version: number, changes: readonly RuleChange[]): Promise<void> {
    const organizationId = this.organizationId;
    const idsOf = (kind: RuleChange["kind"]): string[] =>
      changes.filter((change) => change.kind === kind).map(({ id }) => id);
    const [fenceIds, thresholdIds, deviceIds] = [idsOf("geofence"), idsOf("threshold"), idsOf("device")];
    const fences = fenceIds.length > 0 ? await listFenceRulesById(db, organizationId, fenceIds) : [];
    const thresholds = thresholdIds.length > 0 ? await listThresholdRulesById(db, organizationId, thresholdIds) : [];
    const userIds = [...fences, ...thresholds].flatMap(({ userId }) => (userId === null ? [] : [userId]));
    const userHolders = userIds.length > 0 ? await listHoldersOfUsers(db, organizationId, [...new Set(userIds)]) : [];
    const deviceHolders = deviceIds.length > 0 ? await listHoldersOfDevices(db, organizationId, deviceIds) : [];
    this.#applyFences(fenceIds, fences);
    for (const id of thresholdIds) this.#remove(id);
    for (const rule of thresholds) this.#put(rule);
    for (const id of deviceIds) this.#holders.delete(id);
    for (const holder of [...deviceHolders, ...userHolders]) this.#hold(holder);
    this.version = version;
    if (thresholdIds.length + deviceIds.length > 0) this.thresholdsVersion = version;
  }

  #applyFences(ids: readonly string[], fences: readonly FenceRule[]): void {
    const found = new Map(fences.map((fence) => [fence.id, fence]));
    for (const id of ids) {
      const fence = found.get(id);
      if (!fence) {
        this.#index.remove(id);
        continue;
      }
      this.#index.put(toFence(fence));
      const linked = new Set(fence.links.map(({ deviceId }) => deviceId));
      for (const deviceId of [...this.#index.devicesOf(id)]) {
        if (!linked.has(deviceId)) this.#index.unlink(id, deviceId);
      }
      this.#link(fence);
    }
    this.#raise(fences);
  }

  #link({ id, links }: FenceRule): void {
    for (const { deviceId, linkedAt } of links) this.#index.link(id, deviceId, String(linkedAt.getTime()));
  }

  /**
   * What a device was heard under need not be the version itself: the newest shape of a fence of all devices says as much, and
   * changes less often.
   */
  #raise(fences: readonly FenceRule[]): void {
    for (const { scope, shapeVersion } of fences) {
      if (scope === "org") this.#index.version = Math.max(this.#index.version, shapeVersion);
    }
  }

  #put(rule: ThresholdRule): void {
    this.#thresholds.set(rule.id, rule);
    const target = targetOf(rule, this.organizationId);
    const ids = this.#targets.get(target);
    if (ids) ids.add(rule.id);
    else this.#targets.set(target, new Set([rule.id]));
  }

  #remove(id: string): void {
    const rule = this.#thresholds.get(id);
    if (!rule) return;
    this.#thresholds.delete(id);
    const target = targetOf(rule, this.organizationId);
    const ids = this.#targets.get(target);
    if (ids?.delete(id) && ids.size === 0) this.#targets.delete(target);
  }

  #hold(holder: Holder): void {
    const others = (this.#holders.get(holder.deviceId) ?? []).filter(({ userId }) => userId !== holder.userId);
    this.#holders.set(holder.deviceId, [...others, holder]);
  }

  /** The bounds that a metric of the device had before each of the changes. */
  pastBounds(deviceId: string, metric: string, newestFirst: readonly PastChange[]): Iterable<ThresholdBounds> {
    return pastBounds(
      {
        organizationId: this.organizationId,
        rulesOf: (target) => this.#rulesOf(target),
        holdersOf: (id) => (this.#holders.get(id) ?? []).map(({ userId }) => userId),
      },
      deviceId,
      metric,
      newestFirst,
    );
  }

  #rulesOf(target: string): ThresholdRule[] {
    return [...(this.#targets.get(target) ?? [])].map((id) => this.#thresholds.get(id) as ThresholdRule);
  }

  viewOf(deviceId: string): RuleView {
    if (this.size > 0) return this.#viewOf(deviceId);
    if (this.#empty?.version !== this.version) this.#empty = this.#viewOf("");
    return this.#empty;
  }

  #viewOf(deviceId: string): RuleView {
    const holders = this.#holders.get(deviceId) ?? [];
    const revisions = holders.map(({ userId, assignedAt }) => ({ userId, revision: String(assignedAt.getTime()) }));
    const byMetric = new Map<string, ThresholdRule[]>();
    for (const target of [this.organizationId, deviceId, ...holders.map(({ userId }) => userId)]) {
      for (const rule of this.#rulesOf(target)) {
        byMetric.set(rule.metricKey, [...(byMetric.get(rule.metricKey) ?? []), rule]);
      }
    }
    const bounds = new Map<string, ThresholdBounds>();
    for (const [metric, rules] of byMetric) {
      const effective = effectiveBounds(rules);
      if (effective.low !== null || effective.high !== null) bounds.set(metric, effective);
    }
    return { rules: this, version: this.version, fences: this.#index.sourceFor(deviceId, revisions), bounds };
  }
}

const toFence = (rule: FenceRule): IndexedFence => ({
  id: rule.id,
  name: rule.name,
  scope: rule.scope,
  lat: rule.lat,
  lng: rule.lng,
  radiusM: rule.radiusM,
  triggerOnEnter: rule.triggerOnEnter,
  triggerOnExit: rule.triggerOnExit,
  triggerOnDwell: rule.triggerOnDwell,
  dwellThresholdSeconds: rule.dwellThresholdSeconds,
  schedule: rule.schedule,
  userId: rule.userId,
  revision: String(rule.shapeRevision),
  sinceVersion: rule.shapeVersion,
  changedMs: rule.updatedAt.getTime(),
});
