import type { Db, Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { choicesParam } from "../../http/query-params.ts";
import { invitationNotPending, notFound } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { type Changes, recordAudit } from "../audit/audit-store.ts";
import {
  effectiveStatus,
  type InvitationRow,
  invitationColumns,
  invitationStatuses,
  invitationTables,
} from "./invitation-record.ts";

/**
 * Invitations and the ways out of being pending. Each looks at the status under the lock of the row: of parallel calls
 * exactly one moves it, and accepted, expired and revoked are final.
 */

export const invitationList = defineList({
  kind: "page",
  ordering: ["created_at", "expires_at", "status", "email"],
  defaultOrdering: "-created_at",
  searches: "email",
  filters: {
    status: choicesParam("10 Pending, 20 Accepted, 30 Expired, 40 Revoked.", ["10", "20", "30", "40"]),
  },
});

export async function listInvitations(
  db: Db,
  organizationId: string,
  query: ListQuery<(typeof invitationList)["filters"]>,
  now: Date,
): Promise<ListPage<InvitationRow>> {
  const where = [sql`i.organization_id = ${organizationId}`, sql`i.deleted_at is null`];
  // An index knows the status that is written; it is the effective one unless the sweep has still to come.
  const overdue = await db.maybeOne`
    select from invitations
    where organization_id = ${organizationId} and status = 10 and deleted_at is null and expires_at <= ${now} limit 1`;
  const status = overdue ? effectiveStatus(now) : sql`i.status`;
  const wanted = query.filters.status;
  if (wanted !== undefined) where.push(sql`${status} = any(${wanted.map(Number)})`);
  return sqlPage<InvitationRow>(db, query, {
    select: invitationColumns(now),
    from: invitationTables,
    where,
    search: sql`i.search`,
    ordering: {
      created_at: { column: sql`i.created_at` },
      expires_at: { column: sql`i.expires_at` },
      status: { column: status },
      email: { column: sql`i.email` },
    },
    key: sql`i.id`,
  });
}

export async function getInvitation(db: Db, organizationId: string, id: string, now: Date): Promise<InvitationRow> {
  const row = await db.maybeOne<InvitationRow>(sql`
    select ${invitationColumns(now)} from ${invitationTables}
    where i.organization_id = ${organizationId} and i.id = ${id} and i.deleted_at is null`);
  if (!row) throw notFound();
  return row;
}

/** The lock of an invitation comes after that of its device. With a token, only while it is the one mailed last. */
export async function lockInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
  now: Date,
  tokenHash?: Buffer,
): Promise<InvitationRow> {
  const row = await tx.maybeOne<InvitationRow>(sql`
    select ${invitationColumns(now)} from ${invitationTables}
    where i.organization_id = ${organizationId} and i.id = ${id} and i.deleted_at is null
      and ${tokenHash === undefined ? sql`true` : sql`i.token_hash = ${tokenHash}`} for no key update`);
  if (!row) throw notFound();
  return row;
}

export const recordInvitation = (
  tx: Tx,
  actor: Actor,
  now: Date,
  action: "created" | "updated" | "deleted",
  invitation: { id: string; email: string },
  changes: Changes,
): Promise<void> =>
  recordAudit(tx, actor, now, {
    action,
    model: "invitation",
    objectPk: invitation.id,
    objectRepr: invitation.email,
    changes,
  });

export async function revokeInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  const before = await lockInvitation(tx, organizationId, id, now);
  const { pending, revoked } = invitationStatuses;
  if (before.status !== pending) throw invitationNotPending(before.status);
  await tx.run`
    update invitations set status = ${revoked}, revoked_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and status = ${pending}`;
  const changes: Changes = { status: [pending, revoked], revoked_at: [null, now.toISOString()] };
  await recordInvitation(tx, actor, now, "updated", before, changes);
  return getInvitation(tx, organizationId, id, now);
}

/** Hides the invitation; one that is still pending is revoked with it. */
export async function deleteInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
  actor: Actor,
  now: Date,
): Promise<void> {
  const before = await lockInvitation(tx, organizationId, id, now);
  const isRevoked = before.status === invitationStatuses.pending;
  await tx.run`
    update invitations set status = ${isRevoked ? invitationStatuses.revoked : before.status},
      revoked_at = ${isRevoked ? now : before.revoked_at}, updated_at = ${now}, deleted_at = ${now}
    where organization_id = ${organizationId} and id = ${id}`;
  const changes: Changes = { email: [before.email, null], kind: [before.kind, null], status: [before.status, null] };
  await recordInvitation(tx, actor, now, "deleted", before, changes);
}

/** Needs the lock of a pending invitation. */
export async function markAccepted(
  tx: Tx,
  organizationId: string,
  before: InvitationRow,
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  const { pending, accepted } = invitationStatuses;
  await tx.run`
    update invitations set status = ${accepted}, accepted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${before.id} and status = ${pending}`;
  const changes: Changes = { status: [pending, accepted], accepted_at: [null, now.toISOString()] };
  await recordInvitation(tx, actor, now, "updated", before, changes);
  return getInvitation(tx, organizationId, before.id, now);
}
