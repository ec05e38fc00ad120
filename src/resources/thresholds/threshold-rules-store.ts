import type { MetricKey } from "../../codecs/metric-keys.ts";
import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { OverrideMode, ThresholdScope, ThresholdSeverity } from "./threshold-labels.ts";

/** A threshold as the rules see it: active. */
export interface ThresholdRule {
  id: string;
  scope: ThresholdScope;
  userId: string | null;
  deviceId: string | null;
  metricKey: MetricKey;
  low: number | null;
  high: number | null;
  severity: ThresholdSeverity;
  overrideMode: OverrideMode;
  minDurationSeconds: number;
  clearMargin: number;
  cooldownSeconds: number;
  revision: number;
}

const chunkSize = 10_000;

/** All active thresholds of an organization, in chunks. */
export async function* listThresholdRules(db: Db, organizationId: string): AsyncGenerator<ThresholdRule[]> {
  for (let last = "00000000-0000-0000-0000-000000000000"; ; ) {
    const rules = await readRules(db, organizationId, sql`t.id > ${last} order by t.id limit ${chunkSize}`);
    if (rules.length > 0) yield rules;
    if (rules.length < chunkSize) return;
    last = (rules.at(-1) as ThresholdRule).id;
  }
}

/** Those of the given that are there and active; the others no longer apply to anything. */
export const listThresholdRulesById = (
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<ThresholdRule[]> => readRules(db, organizationId, sql`t.id = any(${ids}::uuid[])`);

/** What each of the given is for, active or not, deleted or not. Both null: every device of the organization. */
export const listThresholdTargets = (
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Pick<ThresholdRule, "userId" | "deviceId">[]> =>
  db.many<Pick<ThresholdRule, "userId" | "deviceId">>`
    select user_id as "userId", device_id as "deviceId" from alert_thresholds
    where organization_id = ${organizationId} and id = any(${ids}::uuid[])`;

const readRules = (db: Db, organizationId: string, condition: Sql): Promise<ThresholdRule[]> =>
  db.many<ThresholdRule>(sql`
    select t.id, t.scope, t.user_id as "userId", t.device_id as "deviceId", t.metric_key as "metricKey", t.low, t.high,
      t.severity, t.override_mode as "overrideMode", t.min_duration_seconds as "minDurationSeconds",
      t.clear_margin as "clearMargin", t.cooldown_seconds as "cooldownSeconds", t.revision
    from alert_thresholds t
    where t.organization_id = ${organizationId} and t.is_active and t.deleted_at is null and ${condition}`);
