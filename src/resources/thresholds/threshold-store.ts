import type { Db, Tx } from "../../db/database.ts";
import { violatedConstraint } from "../../db/failures.ts";
import { table } from "../../db/rows.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { thresholdScopes } from "./threshold-labels.ts";
import { type ThresholdRow, thresholdColumns, thresholdTables } from "./threshold-record.ts";

/**
 * Those of the organization. People below ADMIN see the rows of the whole organization, of devices assigned to them, and their
 * own.
 */
export function visibleThresholds(principal: Principal): Sql {
  const organizationId = principal.organization.id;
  const own = sql`t.organization_id = ${organizationId} and t.deleted_at is null`;
  if (principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN")) return own;
  const live = sql`r.organization_id = ${organizationId} and r.deleted_at is null`;
  // Each part has an index; as alternatives of one condition they would be looked for in every row of the organization.
  return sql`${own} and t.id in (
    select r.id from alert_thresholds r where ${live} and r.scope = ${thresholdScopes.Organization}
    union all
    select r.id from alert_thresholds r where ${live} and r.user_id = ${principal.id}
    union all
    select r.id from alert_thresholds r where ${live} and r.device_id in (
      select a.device_id from assignments a
      where a.user_id = ${principal.id} and a.organization_id = ${organizationId} and a.is_active))`;
}

export async function getVisibleThreshold(db: Db, principal: Principal, id: string): Promise<ThresholdRow> {
  const row = await db.maybeOne<ThresholdRow>(sql`
    select ${thresholdColumns} from ${thresholdTables}
    where ${allOf([visibleThresholds(principal), sql`t.id = ${id}`])}`);
  if (!row) throw notFound();
  return row;
}

export async function lockThreshold(tx: Tx, organizationId: string, id: string): Promise<ThresholdRow> {
  const row = await tx.maybeOne<ThresholdRow>(sql`
    select ${thresholdColumns} from ${thresholdTables}
    where t.organization_id = ${organizationId} and t.id = ${id} and t.deleted_at is null for update of t`);
  if (!row) throw notFound();
  return row;
}

/** What a write stores. */
export type ThresholdValues = Omit<ThresholdRow, "id" | "organization_id" | "device_uid" | "created_at" | "updated_at">;

interface ThresholdTable extends Omit<ThresholdRow, "device_uid"> {
  revision: number;
}
const thresholds = table<ThresholdTable>("alert_thresholds", "t");

const targetTaken = () =>
  validationError({ non_field_errors: ["A threshold for this metric and scope already exists."] });

/** The unique index decides among parallel calls: one stores its row, the others are refused. */
export async function insertThreshold(
  tx: Tx,
  organizationId: string,
  values: ThresholdValues,
  now: Date,
): Promise<ThresholdRow> {
  const insert = thresholds.insert({
    ...values,
    id: newUuid(),
    organization_id: organizationId,
    revision: 1,
    created_at: now,
    updated_at: now,
  });
  const row = await tx.maybeOne<ThresholdRow>(sql`${insert} on conflict do nothing returning ${thresholdColumns}`);
  if (!row) throw targetTaken();
  return row;
}

/** Takes the threshold as it was locked. */
export async function storeThreshold(
  tx: Tx,
  before: ThresholdRow,
  values: ThresholdValues,
  now: Date,
): Promise<ThresholdRow> {
  try {
    return await tx.one<ThresholdRow>(sql`
      update alert_thresholds t
      set ${thresholds.assign({ ...values, revision: sql`revision + 1`, updated_at: now })}
      where t.organization_id = ${before.organization_id} and t.id = ${before.id}
      returning ${thresholdColumns}`);
  } catch (error) {
    if (violatedConstraint(error) === "alert_thresholds_target") throw targetTaken();
    throw error;
  }
}
