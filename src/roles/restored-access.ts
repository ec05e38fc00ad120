import type { Db, Tx } from "../db/database.ts";
import { type MemberRole, roleLabel, roleNumbers } from "../oauth/roles.ts";

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

/** What an operator looks through after a restore; each list has its newest entries first. */
export interface AccessReview {
  people: { email: string; org: string; role: MemberRole; since: Date }[];
  invitations: { email: string; org: string; role: MemberRole; expires_at: Date }[];
  client_secrets: { integration_id: string; name: string; org: string; made_at: Date; valid_until: Date | null }[];
}

const maxListed = 500;

/** Those who may do harm: people who administer, invitations that can be accepted, secrets that work. */
export async function reviewRevivedAccess(db: Db, now: Date): Promise<AccessReview> {
  const people = await db.many<{ email: string; org: string; role: number; since: Date }>`
    select m.email, o.slug as org, m.role, m.joined_at as since
    from memberships m join organizations o on o.id = m.organization_id
    where m.closed_at is null and m.role >= ${roleNumbers.ADMIN} order by m.joined_at desc, m.id limit ${maxListed}`;
  const invitations = await db.many<{ email: string; org: string; role: number; expires_at: Date }>`
    select i.email, o.slug as org, i.role, i.expires_at
    from invitations i join organizations o on o.id = i.organization_id
    where i.status = 10 and i.deleted_at is null and i.expires_at > ${now}
    order by i.created_at desc, i.id limit ${maxListed}`;
  const client_secrets = await db.many<AccessReview["client_secrets"][number]>`
    select i.id as integration_id, i.name, o.slug as org, s.created_at as made_at, s.valid_until
    from integration_secrets s join integrations i on i.id = s.integration_id
      join organizations o on o.id = i.organization_id
    where i.status = 'active' and (s.valid_until is null or s.valid_until > ${now})
    order by s.created_at desc, i.id limit ${maxListed}`;
  const labelled = <T extends { role: number }>(rows: readonly T[]) =>
    rows.map((row) => ({ ...row, role: roleLabel(row.role) }));
  return { people: labelled(people), invitations: labelled(invitations), client_secrets };
}

/** Ends sessions, tokens and links that set a password. People sign in anew, partners get a token anew. */
export async function revokeSessions(tx: Tx): Promise<void> {
  await tx.run`delete from browser_sessions`;
  await tx.run`delete from access_tokens`;
  await tx.run`delete from password_resets`;
  await tx.run`delete from activation_tokens`;
  // Tokens of people are signed with it and are in no table. The next start makes a new one.
  await tx.run`delete from settings where key = 'session_key'`;
}
