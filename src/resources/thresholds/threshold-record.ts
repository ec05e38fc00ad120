import { type Static, Type } from "@sinclair/typebox";
import { sql } from "../../db/sql.ts";
import { IntegerEnum, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import type { MetricKey } from "../catalog/capability.ts";
import { MetricKey as MetricKeyLabel } from "../catalog/catalog-schemas.ts";
import {
  labelOf,
  type OverrideMode,
  overrideModes,
  type ThresholdScope,
  type ThresholdSeverity,
  thresholdScopes,
  thresholdSeverities,
} from "./threshold-labels.ts";

const namesOf = <L extends object>(labels: L) => Object.keys(labels) as (keyof L & string)[];

const ScopeLabel = StringEnum("ThresholdScopeEnum", namesOf(thresholdScopes));
const ScopeValue = IntegerEnum("ThresholdScopeValueEnum", [10, 15, 20], "10 Organization, 15 Device, 20 User");
const SeverityLabel = StringEnum("ThresholdSeverityEnum", namesOf(thresholdSeverities));
const OverrideModeLabel = StringEnum("ThresholdOverrideModeEnum", namesOf(overrideModes));

export const AlertThreshold = Type.Object(
  {
    id: Uuid,
    scope: refTo(ScopeLabel),
    scope_value: refTo(ScopeValue),
    user: Nullable(Type.String({ format: "uuid", description: "Of scope User." })),
    device: Nullable(Type.String({ description: "IMEI, of scope Device." })),
    metric_key: refTo(MetricKeyLabel),
    low: Nullable(Type.Number()),
    high: Nullable(Type.Number()),
    severity: refTo(SeverityLabel),
    override_mode: refTo(OverrideModeLabel),
    is_active: Type.Boolean(),
    min_duration_seconds: Type.Integer(),
    clear_margin: Type.Number(),
    cooldown_seconds: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "AlertThreshold" },
);
export type AlertThreshold = Static<typeof AlertThreshold>;

export interface ThresholdRow {
  id: string;
  organization_id: string;
  scope: ThresholdScope;
  user_id: string | null;
  device_id: string | null;
  /** Also of a deleted device. */
  device_uid: string | null;
  metric_key: MetricKey;
  low: number | null;
  high: number | null;
  severity: ThresholdSeverity;
  override_mode: OverrideMode;
  is_active: boolean;
  min_duration_seconds: number;
  clear_margin: number;
  cooldown_seconds: number;
  created_at: Date;
  updated_at: Date;
}

/** The device is looked up per row that is shown, so that counting rows does not touch devices. */
export const thresholdColumns = sql`t.id, t.organization_id, t.scope, t.user_id, t.device_id,
  (select d.uid from devices d where d.id = t.device_id and d.organization_id = t.organization_id) as device_uid,
  t.metric_key, t.low, t.high, t.severity, t.override_mode, t.is_active, t.min_duration_seconds, t.clear_margin,
  t.cooldown_seconds, t.created_at, t.updated_at`;
export const thresholdTables = sql`alert_thresholds t`;

export const toThreshold = (row: ThresholdRow): AlertThreshold => ({
  id: row.id,
  scope: labelOf(thresholdScopes, row.scope),
  scope_value: row.scope,
  user: row.user_id,
  device: row.device_uid,
  metric_key: row.metric_key,
  low: row.low,
  high: row.high,
  severity: labelOf(thresholdSeverities, row.severity),
  override_mode: labelOf(overrideModes, row.override_mode),
  is_active: row.is_active,
  min_duration_seconds: row.min_duration_seconds,
  clear_margin: row.clear_margin,
  cooldown_seconds: row.cooldown_seconds,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
