import type { Db, Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { randomToken } from "../../lib/ids.ts";
import { enqueueMail } from "../../mail/mail-outbox.ts";
import { type Actor, integrationOf } from "../../oauth/actor.ts";
import { hashSecret } from "../../oauth/client-secrets.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { masked, recordAudit } from "../audit/audit-store.ts";
import type { UserRow } from "./user-record.ts";

/** Portal activation: an organization invites a member by mail, and the link in the mail lets the person set a password, once. */
const inviteIntervalMs = 3_600_000;
const tokenTtlMs = 7 * 24 * 3_600_000;

export type InviteOutcome = { kind: "queued" } | { kind: "too_soon"; waitSeconds: number } | { kind: "gone" };

export interface Invite {
  organization: { id: string; name: string; defaultLocale: string };
  user: Pick<UserRow, "id" | "email">;
  linkFor: (token: string) => string;
}

/** Queues the mail unless one was queued within the hour. The membership is locked, so of parallel calls one succeeds. */
export async function inviteMember(tx: Tx, invite: Invite, actor: Actor, now: Date): Promise<InviteOutcome> {
  const { organization, user } = invite;
  const before = await tx.maybeOne<{ activation_mailed_at: Date | null }>`
    select activation_mailed_at from memberships
    where organization_id = ${organization.id} and user_id = ${user.id} and closed_at is null for no key update`;
  if (!before) return { kind: "gone" };
  const mailedAt = before.activation_mailed_at;
  const waitMs = mailedAt === null ? 0 : mailedAt.getTime() + inviteIntervalMs - now.getTime();
  if (waitMs > 0) return { kind: "too_soon", waitSeconds: Math.ceil(waitMs / 1000) };
  await tx.run`
    update memberships set activation_mailed_at = ${now}
    where organization_id = ${organization.id} and user_id = ${user.id}`;
  const token = randomToken(32);
  await tx.run`
    insert into activation_tokens (token_hash, organization_id, user_id, created_at, expires_at)
    values (${hashSecret(token)}, ${organization.id}, ${user.id}, ${now}, ${new Date(now.getTime() + tokenTtlMs)})`;
  await enqueueMail(tx, {
    organizationId: organization.id,
    integrationId: integrationOf(actor),
    to: user.email,
    locale: organization.defaultLocale,
    kind: "portal_activation",
    params: { organization_name: organization.name, link: invite.linkFor(token) },
    now,
  });
  await recordAudit(tx, actor, now, {
    action: "updated",
    model: "user",
    objectPk: user.id,
    objectRepr: user.email,
    changes: { activation_mailed_at: [mailedAt?.toISOString() ?? null, now.toISOString()] },
  });
  return { kind: "queued" };
}

export interface Activation {
  organizationId: string;
  organizationName: string;
  locale: string;
  userId: string;
  email: string;
  fullName: string;
  isExpired: boolean;
}

interface ActivationRow {
  organization_id: string;
  organization_name: string;
  default_locale: string;
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  expires_at: Date;
}

/**
 * What a link that was not used yet stands for. It says nothing to a person who has a password by now, or who is no longer a
 * member of the organization that sent it.
 */
export async function findActivation(db: Db, token: string, now: Date): Promise<Activation | undefined> {
  const row = await db.maybeOne<ActivationRow>(sql`
    select t.organization_id, o.name as organization_name, o.default_locale, t.user_id, m.email, m.first_name, m.last_name,
      t.expires_at
    from activation_tokens t
    join users u on u.id = t.user_id and u.password_hash is null
    join organizations o on o.id = t.organization_id
    join memberships m on m.organization_id = t.organization_id and m.user_id = t.user_id and m.closed_at is null
    where t.token_hash = ${hashSecret(token)} and t.used_at is null`);
  if (!row) return undefined;
  return {
    organizationId: row.organization_id,
    organizationName: row.organization_name,
    locale: row.default_locale,
    userId: row.user_id,
    email: row.email,
    fullName: fullNameOf(row.first_name, row.last_name),
    isExpired: row.expires_at.getTime() <= now.getTime(),
  };
}

/**
 * Sets the first password of the person. False: another call with this or another link of the person was faster. All links of
 * the person are used up with it, because a password, once set, is not to be replaced by a link from an old mail.
 */
export async function activate(
  tx: Tx,
  activation: Activation,
  passwordHash: string,
  origin: Pick<Actor, "correlationId" | "remoteAddr">,
  now: Date,
): Promise<boolean> {
  const { organizationId, userId, email, fullName } = activation;
  const stored = await tx.run`
    update users set password_hash = ${passwordHash}, updated_at = ${now}
    where id = ${userId} and password_hash is null`;
  if (stored === 0) return false;
  await tx.run`update activation_tokens set used_at = ${now} where user_id = ${userId} and used_at is null`;
  const actor: Actor = { organizationId, by: { type: "users", id: userId, email, fullName }, ...origin };
  await recordAudit(tx, actor, now, {
    action: "updated",
    model: "user",
    objectPk: userId,
    objectRepr: email,
    changes: { password: [null, masked], portal_active: [false, true] },
  });
  return true;
}

/** Links that ran out are kept for a month, so that their page can say so. */
export const deleteOldActivationTokens = (db: Db, now: Date): Promise<number> =>
  db.run`delete from activation_tokens where expires_at < ${new Date(now.getTime() - 30 * 24 * 3_600_000)}`;
