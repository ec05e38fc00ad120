import type { Tx } from "../../db/database.ts";
import type { Actor } from "../../oauth/actor.ts";

/** Closes the active assignments of a person in one organization. */
export async function closeAssignmentsOfUser(
  tx: Tx,
  organizationId: string,
  userId: string,
  _actor: Actor,
  now: Date,
): Promise<void> {
  await tx.run`
    update assignments set is_active = false, unassigned_at = ${now}
    where organization_id = ${organizationId} and user_id = ${userId} and is_active`;
}

/** Ends every active assignment of a device that is being deleted. */
export async function closeAssignmentsOfDevice(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  _actor: Actor,
  now: Date,
): Promise<void> {
  await tx.run`
    update assignments set is_active = false, unassigned_at = ${now}
    where organization_id = ${organizationId} and device_id = ${deviceId} and is_active`;
}
