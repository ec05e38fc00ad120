import type { Tx } from "../../db/database.ts";
import type { Actor } from "../../oauth/actor.ts";

/** Stand-in: closes the active assignments of a person in one organization. */
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
