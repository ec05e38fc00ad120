import { type MemberRole, roleNumbers } from "../../oauth/roles.ts";
import { invitationStatuses } from "../invitations/invitation-record.ts";
import { revokeInvitation } from "../invitations/invitation-store.ts";
import type { OnRightsLost } from "../users/user-writes.ts";

/** The highest role that a member may give to others; null: none. */
function maxGrantableRole(role: MemberRole | null): MemberRole | null {
  if (role === "OWNER" || role === "ADMIN") return role;
  return null;
}

/**
 * Revokes the pending invitations of a member for roles that they can no longer give (decisions 30, 14): who has left, or is no
 * longer an administrator, must not make others administrators by a mail of last week.
 */
export const withdrawInvitations: OnRightsLost = async (tx, organizationId, { userId, role }, actor, now) => {
  const highest = maxGrantableRole(role);
  const pending = await tx.many<{ id: string }>`
    select id from invitations
    where organization_id = ${organizationId} and invited_by = ${userId} and status = ${invitationStatuses.pending}
      and deleted_at is null and expires_at > ${now} and role > ${highest === null ? 0 : roleNumbers[highest]}
    order by id for update`;
  for (const { id } of pending) await revokeInvitation(tx, organizationId, id, actor, now);
};
