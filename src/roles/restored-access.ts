import type { Db, Tx } from "../db/database.ts";

/** What opens doors and came back to life with a restore, although it may have been ended since the backup. */
export interface RevivedAccess {
  sessions: number;
  tokens: number;
  /** Mailed links that set a password. */
  password_links: number;
  /** Mailed invitations that can be accepted. */
  invitations: number;
  memberships: number;
  /** Secrets of integrations, with those that still work after a rotation. */
  client_secrets: number;
}

export const countRevivedAccess = (db: Db, now: Date): Promise<RevivedAccess> =>
  db.one<RevivedAccess & Record<string, number>>`
    select (select count(*) from browser_sessions) as sessions,
      (select count(*) from access_tokens where expires_at > ${now}) as tokens,
      (select count(*) from password_resets where used_at is null and expires_at > ${now})
        + (select count(*) from activation_tokens where used_at is null and expires_at > ${now}) as password_links,
      (select count(*) from invitations where status = 10 and deleted_at is null and expires_at > ${now}) as invitations,
      (select count(*) from memberships where closed_at is null) as memberships,
      (select count(*) from integration_secrets s join integrations i on i.id = s.integration_id
        where i.status = 'active' and (s.valid_until is null or s.valid_until > ${now})) as client_secrets`;

/** Ends sessions, tokens and links that set a password. People sign in anew, partners get a token anew. */
export async function revokeSessions(tx: Tx): Promise<void> {
  await tx.run`delete from browser_sessions`;
  await tx.run`delete from access_tokens`;
  await tx.run`delete from password_resets`;
  await tx.run`delete from activation_tokens`;
  // Tokens of people are signed with it and are in no table. The next start makes a new one.
  await tx.run`delete from settings where key = 'session_key'`;
}
