import type { Database, Tx } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { taskActor } from "../../oauth/actor.ts";
import { invitationStatuses } from "./invitation-record.ts";
import { recordInvitation } from "./invitation-store.ts";

const batchSize = 200;

interface ExpiredRow {
  id: string;
  organization_id: string;
  email: string;
}

/**
 * Writes down what reads already show: pending invitations of all organizations whose time is over become expired, with an
 * entry in the audit log. For the worker; several may run it at once. Returns how many there were.
 */
export async function expireInvitations(db: Database, now: Date): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await db.transaction((tx) => expireOverdue(tx, sql`true`, now));
    total += count;
    if (count < batchSize) return total;
  }
}

/**
 * The overdue invitations among those of a condition; a new one cannot be pending beside an overdue one. The number of the
 * status is a literal, because a plan for any number cannot use the index of the pending ones.
 */
export async function expireOverdue(tx: Tx, condition: Sql, now: Date): Promise<number> {
  const expired = await tx.many<ExpiredRow>`
    with overdue as materialized (
      select id from invitations
      where status = 10 and expires_at <= ${now} and ${condition}
      order by expires_at limit ${batchSize} for no key update skip locked
    )
    update invitations set status = ${invitationStatuses.expired}, updated_at = expires_at
    from overdue where invitations.id = overdue.id
    returning invitations.id, organization_id, email`;
  for (const invitation of expired) {
    const { pending, expired: to } = invitationStatuses;
    const actor = taskActor(invitation.organization_id);
    await recordInvitation(tx, actor, now, "updated", invitation, { status: [pending, to] });
  }
  return expired.length;
}
