import type { Tx } from "../../db/database.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { holdOpenMember } from "../assignments/assignment-store.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { toSchedule } from "./fence-schedule.ts";
import { checkDwell, type GivenFields, throwErrors } from "./geofence-fields.ts";
import type { FenceDetailRow, FenceFields, FenceRow } from "./geofence-record.ts";
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
  const isShapedAnew = "center" in changes || "radius" in changes || (wanted.is_active && !before.is_active);
  const after = await storeFence(tx, before, wanted, before.shape_revision + (isShapedAnew ? 1 : 0), now);
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

/** By the names of the API. */
const auditView = (fence: FenceDetailRow): Record<string, unknown> => ({
  name: fence.name,
  description: fence.description,
  fence_type: "circle",
  center: { lat: fence.lat, lng: fence.lng },
  radius: fence.radius_m,
  trigger_on_enter: fence.trigger_on_enter,
  trigger_on_exit: fence.trigger_on_exit,
  trigger_on_dwell: fence.trigger_on_dwell,
  dwell_threshold_seconds: fence.dwell_threshold_seconds,
  schedule: fence.schedule && toSchedule(fence.schedule),
  is_active: fence.is_active,
  scope: fence.scope,
  user: fence.user_id,
});
