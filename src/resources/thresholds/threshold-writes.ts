import type { Tx } from "../../db/database.ts";
import { validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import type { Actor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { type GivenFields, ruleErrors, type ThresholdFields } from "./threshold-fields.ts";
import { AlertThreshold, type ThresholdRow, toThreshold, verbatimFields } from "./threshold-record.ts";
import { listThresholdRulesById } from "./threshold-rules-store.ts";
import { insertThreshold, lockThreshold, storeThreshold, type ThresholdValues } from "./threshold-store.ts";
import { resolveTarget } from "./threshold-target.ts";

export interface ThresholdWriter {
  organizationId: string;
  actor: Actor;
  now: Date;
}

export async function createThreshold(
  tx: Tx,
  { organizationId, actor, now }: ThresholdWriter,
  fields: ThresholdFields,
): Promise<ThresholdRow> {
  const values = await valuesOf(tx, organizationId, fields, undefined);
  const row = await insertThreshold(tx, organizationId, values, now);
  await recordAudit(tx, actor, now, {
    action: "created",
    ...auditedThreshold(row),
    changes: changesBetween(null, auditView(row)),
  });
  await touchRules(tx, organizationId, { kind: "threshold", id: row.id, before: null });
  return row;
}

export interface ThresholdChange {
  given: GivenFields;
  /** Refuses what the caller may not change, once the record is locked. */
  approve(before: ThresholdRow): void;
}

/** A change to the same values writes nothing: a breach of the rule goes on. */
export async function updateThreshold(
  tx: Tx,
  { organizationId, actor, now }: ThresholdWriter,
  id: string,
  { given, approve }: ThresholdChange,
): Promise<ThresholdRow> {
  const before = await lockThreshold(tx, organizationId, id);
  approve(before);
  const fields = { ...before, user: before.user_id, device: before.device_id, ...given };
  const values = await valuesOf(tx, organizationId, fields, before);
  if ((Object.keys(values) as (keyof ThresholdValues)[]).every((field) => values[field] === before[field]))
    return before;
  const [rule = null] = await listThresholdRulesById(tx, organizationId, [id]);
  const after = await storeThreshold(tx, before, values, now);
  await recordAudit(tx, actor, now, {
    action: "updated",
    ...auditedThreshold(after),
    changes: changesBetween(auditView(before), auditView(after)),
  });
  await touchRules(tx, organizationId, { kind: "threshold", id, before: rule });
  return after;
}

/** Soft: events of the past still name the threshold. */
export async function deleteThreshold(
  tx: Tx,
  { organizationId, actor, now }: ThresholdWriter,
  id: string,
): Promise<void> {
  const row = await lockThreshold(tx, organizationId, id);
  const [rule = null] = await listThresholdRulesById(tx, organizationId, [id]);
  await tx.run`
    update alert_thresholds set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}`;
  await recordAudit(tx, actor, now, {
    action: "deleted",
    ...auditedThreshold(row),
    changes: changesBetween(auditView(row), null),
  });
  await touchRules(tx, organizationId, { kind: "threshold", id, before: rule });
}

async function valuesOf(
  tx: Tx,
  organizationId: string,
  fields: ThresholdFields,
  before: ThresholdRow | undefined,
): Promise<ThresholdValues> {
  const errors = ruleErrors(fields);
  if (Object.keys(errors).length > 0) throw validationError(errors);
  const target = await resolveTarget(tx, organizationId, fields, before);
  return { ...pick(fields, [...verbatimFields, "scope", "severity", "override_mode"]), ...target };
}

const auditedThreshold = (row: ThresholdRow) => {
  const { metric_key, scope } = toThreshold(row);
  return { model: "alertthreshold", objectPk: row.id, objectRepr: `${metric_key} (${scope})` } as const;
};

const unaudited: readonly string[] = ["id", "scope_value", "created_at", "updated_at"];
const auditedFields = (Object.keys(AlertThreshold.properties) as (keyof AlertThreshold)[]).filter(
  (field) => !unaudited.includes(field),
);

/** By the names of the API, and in its order. */
const auditView = (row: ThresholdRow): Record<string, unknown> => pick(toThreshold(row), auditedFields);
