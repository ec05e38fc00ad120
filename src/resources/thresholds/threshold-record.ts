import { type Static, Type } from "@sinclair/typebox";
import { columnsOf } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { IntegerEnum, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { pick } from "../../lib/pick.ts";
import { MetricKey } from "../catalog/catalog-schemas.ts";
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

export const ScopeLabel = StringEnum("ThresholdScopeEnum", namesOf(thresholdScopes));
const ScopeValue = IntegerEnum("ThresholdScopeValueEnum", thresholdScopes);
export const SeverityLabel = StringEnum("ThresholdSeverityEnum", namesOf(thresholdSeverities));
export const OverrideModeLabel = StringEnum("ThresholdOverrideModeEnum", namesOf(overrideModes));

export const AlertThreshold = Type.Object(
  {
    id: Uuid,
    scope: refTo(ScopeLabel),
    scope_value: refTo(ScopeValue),
    user: Nullable(Type.String({ format: "uuid", description: "Only for scope User." })),
    device: Nullable(Type.String({ description: "IMEI; only for scope Device." })),
    metric_key: refTo(MetricKey),
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

/** Fields that a caller writes and that are stored as they are. */
export const verbatimFields = [
  "metric_key",
  "low",
  "high",
  "is_active",
  "min_duration_seconds",
  "clear_margin",
  "cooldown_seconds",
] as const;

export interface ThresholdRow extends Pick<AlertThreshold, (typeof verbatimFields)[number]> {
  id: string;
  organization_id: string;
  scope: ThresholdScope;
  user_id: string | null;
  device_id: string | null;
  /** Also of a deleted device. */
  device_uid: string | null;
  severity: ThresholdSeverity;
  override_mode: OverrideMode;
  created_at: Date;
  updated_at: Date;
}

/** The device is looked up per row that is shown, so that counting rows does not touch devices. */
export const thresholdColumns = sql`${columnsOf("t", verbatimFields)}, t.id, t.organization_id, t.scope, t.user_id, t.device_id,
  (select d.uid from devices d where d.id = t.device_id and d.organization_id = t.organization_id) as device_uid,
  t.severity, t.override_mode, t.created_at, t.updated_at`;
export const thresholdTables = sql`alert_thresholds t`;

export const toThreshold = (row: ThresholdRow): AlertThreshold => ({
  ...pick(row, verbatimFields),
  id: row.id,
  scope: labelOf(thresholdScopes, row.scope),
  scope_value: row.scope,
  user: row.user_id,
  device: row.device_uid,
  severity: labelOf(thresholdSeverities, row.severity),
  override_mode: labelOf(overrideModes, row.override_mode),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
