import type { Tx } from "../../db/database.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import type { Actor } from "../../oauth/actor.ts";
import { holdOpenMember } from "../assignments/assignment-store.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { checkDwell, type GivenFields, throwErrors } from "./geofence-fields.ts";
import {
  type FenceDetailRow,
  type FenceFields,
  type FenceRow,
  fieldsOf,
  GeofenceDetail,
  toGeofenceDetail,
} from "./geofence-record.ts";
import { insertFence, linkedUids, lockFence, storeFence } from "./geofence-store.ts";

export interface FenceWriter {
  organizationId: string;
  actor: Actor;
  now: Date;
}

export async function createFence(
  tx: Tx,
  { organizationId, actor, now }: FenceWriter,
  fields: FenceFields,
  target: Pick<FenceRow, "scope" | "user_id">,
): Promise<FenceDetailRow> {
  if (target.user_id !== null && !(await holdOpenMember(tx, organizationId, { userId: target.user_id }))) {
    throw validationError({ user: ["User not found in this organization."] });
  }
  const fence = await insertFence(tx, organizationId, fields, target, now);
  await recordAudit(tx, actor, now, {
    action: "created",
    ...auditedFence(fence),
    changes: changesBetween(null, auditView(fence)),
  });
  await touchRules(tx, organizationId, { kind: "geofence", id: fence.id });
  return fence;
}

export interface FenceChange {
  given: GivenFields;
  /** Refuses what the caller may not change, once the record is locked. */
  approve(before: FenceDetailRow): Promise<void>;
}

/** PUT and PATCH: a body of PUT speaks of all fields. A change to the same values writes nothing. */
export async function updateFence(
  tx: Tx,
  { organizationId, actor, now }: FenceWriter,
  id: string,
  { given, approve }: FenceChange,
): Promise<FenceDetailRow> {
  const before = await lockFence(tx, organizationId, id);
  await approve(before);
  const wanted: FenceDetailRow = { ...before, ...given };
  const errors: FieldErrors = {};
  checkDwell(wanted, errors);
  throwErrors(errors);
  const changes = changesBetween(auditView(before), auditView(wanted));
  if (Object.keys(changes).length === 0) return before;
  const isReshaped = "center" in changes || "radius" in changes || (wanted.is_active && !before.is_active);
  const after = await storeFence(tx, before, fieldsOf(wanted), before.shape_revision + (isReshaped ? 1 : 0), now);
  await recordAudit(tx, actor, now, { action: "updated", ...auditedFence(after), changes });
  await touchRules(tx, organizationId, { kind: "geofence", id });
  return after;
}

/** Soft: events of the past still name the fence. */
export async function deleteFence(tx: Tx, { organizationId, actor, now }: FenceWriter, id: string): Promise<void> {
  const fence = await lockFence(tx, organizationId, id);
  const devices = await linkedUids(tx, fence);
  await tx.run`
    update geofences set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}`;
  await recordAudit(tx, actor, now, {
    action: "deleted",
    ...auditedFence(fence),
    changes: changesBetween({ ...auditView(fence), ...(devices.length > 0 ? { devices } : {}) }, null),
  });
  await touchRules(tx, organizationId, { kind: "geofence", id });
}

export const auditedFence = ({ id, name }: FenceRow) =>
  ({ model: "geofence", objectPk: id, objectRepr: name }) as const;

const unaudited: readonly string[] = ["id", "group_id", "user_id", "devices", "created_at", "updated_at"];
const auditedFields = (Object.keys(GeofenceDetail.properties) as (keyof GeofenceDetail)[]).filter(
  (field) => !unaudited.includes(field),
);

/** By the names of the API, and in its order. */
const auditView = (fence: FenceDetailRow): Record<string, unknown> => ({
  ...pick(toGeofenceDetail(fence, []), auditedFields),
  user: fence.user_id,
});
