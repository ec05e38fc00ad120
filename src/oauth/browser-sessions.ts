import type { Db, Tx } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import { newUuid, randomToken } from "../lib/ids.ts";
import { hashSecret } from "./client-secrets.ts";
import type { OperatorIdentity } from "./operator-store.ts";
import { type PersonIdentity, type PersonRow, personColumns, toPersonIdentity } from "./person-store.ts";

/** Sessions of browsers (section 27.1): an opaque token in a cookie, a hash of it here. */
const idleMs = 12 * 3_600_000;
const maxAgeMs = 30 * 24 * 3_600_000;
/** The time of last use is written at most this often. */
const touchEveryMs = 60_000;
const maxUserAgent = 300;

export interface NewSession {
  userId: string;
  /** Null: of an operator, who belongs to none. */
  organizationId: string | null;
  /** Of the membership; for an operator, since when the person is one. */
  joinedAt: Date;
  ip: string;
  userAgent: string;
}

/** The token of the new session. */
export async function openBrowserSession(db: Db, session: NewSession, now: Date): Promise<string> {
  const token = randomToken(32);
  await db.run`
    insert into browser_sessions (id, token_hash, user_id, organization_id, joined_at, created_at, last_used_at, ip, user_agent)
    values (${newUuid()}, ${hashSecret(token)}, ${session.userId}, ${session.organizationId}, ${session.joinedAt}, ${now},
      ${now}, ${session.ip}, ${session.userAgent.slice(0, maxUserAgent)})`;
  return token;
}

interface SessionPersonRow extends PersonRow {
  session_id: string;
  last_used_at: Date;
}

export interface BrowserSession {
  id: string;
  person: PersonIdentity;
}

/** Undefined when the session or its membership has ended. */
export async function findBrowserSession(db: Db, token: string, now: Date): Promise<BrowserSession | undefined> {
  const row = await db.maybeOne<SessionPersonRow>`
    select s.id as session_id, s.last_used_at, ${personColumns}
    from browser_sessions s
    join memberships m on m.organization_id = s.organization_id and m.user_id = s.user_id and m.closed_at is null
      and m.joined_at = s.joined_at
    join organizations o on o.id = m.organization_id
    join users u on u.id = m.user_id
    where s.token_hash = ${hashSecret(token)} and ${liveSession(now)}`;
  if (!row) return undefined;
  await touch(db, row, now);
  return { id: row.session_id, person: toPersonIdentity(row) };
}

async function touch(db: Db, row: { session_id: string; last_used_at: Date }, now: Date): Promise<void> {
  if (now.getTime() - row.last_used_at.getTime() <= touchEveryMs) return;
  await db.run`update browser_sessions set last_used_at = ${now} where id = ${row.session_id} and last_used_at < ${now}`;
}

/** Undefined when the session has ended or the person is no longer an operator. */
export async function findOperatorSession(
  db: Db,
  token: string,
  now: Date,
): Promise<{ id: string; operator: OperatorIdentity } | undefined> {
  const row = await db.maybeOne<OperatorIdentity & { session_id: string; last_used_at: Date }>`
    select s.id as session_id, s.last_used_at, u.id as "userId", u.email, u.operator_since as since,
      u.password_changed_at as "passwordChangedAt"
    from browser_sessions s join users u on u.id = s.user_id and u.operator_since = s.joined_at
    where s.token_hash = ${hashSecret(token)} and s.organization_id is null and ${liveSession(now)}`;
  if (!row) return undefined;
  await touch(db, row, now);
  const { userId, email, since, passwordChangedAt } = row;
  return { id: row.session_id, operator: { userId, email, since, passwordChangedAt } };
}

/** Of browser_sessions s: not idle for too long, and not too old. */
export const liveSession = (now: Date): Sql => sql`s.last_used_at > ${new Date(now.getTime() - idleMs)}
      and s.created_at > ${new Date(now.getTime() - maxAgeMs)}`;

export interface SessionRow {
  id: string;
  created_at: Date;
  last_used_at: Date;
  ip: string;
  user_agent: string;
}

export const listBrowserSessions = (db: Db, userId: string, now: Date): Promise<SessionRow[]> =>
  db.many<SessionRow>`
    select s.id, s.created_at, s.last_used_at, s.ip, s.user_agent from browser_sessions s
    where s.user_id = ${userId} and ${liveSession(now)} order by s.last_used_at desc, s.id`;

/** Zero: the person has no such session. */
export const endBrowserSession = (db: Db, userId: string, sessionId: string): Promise<number> =>
  db.run`delete from browser_sessions where user_id = ${userId} and id = ${sessionId}`;

export const endSessionsOfUser = (tx: Tx, userId: string, exceptId: string | null): Promise<number> =>
  tx.run`delete from browser_sessions where user_id = ${userId} and id is distinct from ${exceptId}::uuid`;

/** False: the person is not a member there. */
export async function moveBrowserSession(db: Db, userId: string, sessionId: string, slug: string): Promise<boolean> {
  const moved = await db.run`
    update browser_sessions s set organization_id = m.organization_id, joined_at = m.joined_at
    from memberships m join organizations o on o.id = m.organization_id
    where s.id = ${sessionId} and s.user_id = ${userId} and m.user_id = s.user_id and m.closed_at is null
      and o.slug = ${slug}`;
  return moved > 0;
}

export const deleteEndedSessions = (db: Db, now: Date): Promise<number> =>
  db.run`delete from browser_sessions s where not (${liveSession(now)})`;
