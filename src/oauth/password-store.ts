import type { Db, Tx } from "../db/database.ts";
import { randomToken } from "../lib/ids.ts";
import { endSessionsOfUser } from "./browser-sessions.ts";
import { hashSecret } from "./client-secrets.ts";

/** Changing a password, and the links that let a person who forgot it set a new one. */
const resetTtlMs = 3_600_000;

export const findPasswordHash = async (db: Db, userId: string): Promise<string | null> =>
  (await db.maybeOne<{ password_hash: string | null }>`select password_hash from users where id = ${userId}`)
    ?.password_hash ?? null;

/** Ends every session but the given one, every session token, and every open link of the person. */
export async function storePassword(
  tx: Tx,
  userId: string,
  passwordHash: string,
  keptSessionId: string | null,
  now: Date,
): Promise<void> {
  await tx.run`
    update users set password_hash = ${passwordHash}, password_changed_at = ${now}, updated_at = ${now}
    where id = ${userId}`;
  await tx.run`update password_resets set used_at = ${now} where user_id = ${userId} and used_at is null`;
  await endSessionsOfUser(tx, userId, keptSessionId);
}

export interface ResetTarget {
  userId: string;
  email: string;
  locale: string;
  organizationId: string;
  organizationName: string;
}

interface ResetTargetRow {
  user_id: string;
  email: string;
  locale: string;
  organization_id: string;
  organization_name: string;
}

const toTarget = (row: ResetTargetRow): ResetTarget => ({
  userId: row.user_id,
  email: row.email,
  locale: row.locale,
  organizationId: row.organization_id,
  organizationName: row.organization_name,
});

/** A person with a password and an open membership; the mail is sent on behalf of the first organization by slug. */
export async function findResetTarget(db: Db, email: string): Promise<ResetTarget | undefined> {
  const row = await db.maybeOne<ResetTargetRow>`
    select u.id as user_id, u.email, coalesce(u.locale, o.default_locale) as locale, o.id as organization_id,
      o.name as organization_name
    from users u
    join memberships m on m.user_id = u.id and m.closed_at is null
    join organizations o on o.id = m.organization_id
    where u.email = ${email} and u.password_hash is not null order by o.slug limit 1`;
  return row && toTarget(row);
}

/** The token for the link. */
export async function openReset(tx: Tx, userId: string, now: Date): Promise<{ token: string; expiresAt: Date }> {
  const token = randomToken(32);
  const expiresAt = new Date(now.getTime() + resetTtlMs);
  await tx.run`
    insert into password_resets (token_hash, user_id, created_at, expires_at)
    values (${hashSecret(token)}, ${userId}, ${now}, ${expiresAt})`;
  return { token, expiresAt };
}

/** The person behind a link that is neither used nor expired. */
export async function findReset(db: Db, token: string, now: Date): Promise<ResetTarget | undefined> {
  const row = await db.maybeOne<ResetTargetRow>`
    select u.id as user_id, u.email, coalesce(u.locale, o.default_locale) as locale, o.id as organization_id,
      o.name as organization_name
    from password_resets r
    join users u on u.id = r.user_id
    join memberships m on m.user_id = u.id and m.closed_at is null
    join organizations o on o.id = m.organization_id
    where r.token_hash = ${hashSecret(token)} and r.used_at is null and r.expires_at > ${now}
    order by o.slug limit 1`;
  return row && toTarget(row);
}

/** False: another call with this link was faster. */
export async function useReset(tx: Tx, token: string, passwordHash: string, now: Date): Promise<boolean> {
  const used = await tx.maybeOne<{ user_id: string }>`
    update password_resets set used_at = ${now}
    where token_hash = ${hashSecret(token)} and used_at is null and expires_at > ${now} returning user_id`;
  if (!used) return false;
  await storePassword(tx, used.user_id, passwordHash, null, now);
  return true;
}

export const deleteOldResets = (db: Db, now: Date): Promise<number> =>
  db.run`delete from password_resets where expires_at < ${new Date(now.getTime() - 24 * 3_600_000)}`;
