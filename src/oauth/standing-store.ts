import type { Db } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { liveSession } from "./browser-sessions.ts";
import { type MemberRole, roleLabel } from "./roles.ts";

/** A session that was good when it began something long. */
export interface Standing {
  organizationId: string;
  userId: string;
  joinedAt: Date;
  passwordChangedAt: Date | null;
  /** Of a browser; null for a bearer token. */
  browserSessionId: string | null;
  /** Of a bearer token. */
  expiresAtMs: number | null;
}

interface StandingRow {
  position: number;
  role: number;
  joined_at: Date;
  password_changed_at: Date | null;
  session_id: string | null;
}

/** The role each of them has now; undefined where the session, the membership or the token has ended. In one question. */
export async function findRoles(
  db: Db,
  standings: readonly Standing[],
  now: Date,
): Promise<(MemberRole | undefined)[]> {
  const rows = await db.many<StandingRow>(sql`
    select asked.position::int, m.role, m.joined_at, u.password_changed_at, s.id as session_id
    from unnest(${standings.map((one) => one.organizationId)}::uuid[], ${standings.map((one) => one.userId)}::uuid[],
      ${standings.map((one) => one.browserSessionId)}::uuid[])
      with ordinality as asked (organization_id, user_id, session_id, position)
    join memberships m on m.organization_id = asked.organization_id and m.user_id = asked.user_id and m.closed_at is null
    join users u on u.id = m.user_id
    left join browser_sessions s on s.id = asked.session_id and s.user_id = asked.user_id
      and s.organization_id = asked.organization_id and ${liveSession(now)}`);
  const rowAt = new Map(rows.map((row) => [row.position, row]));
  return standings.map((standing, index) => {
    const row = rowAt.get(index + 1);
    if (!row || row.joined_at.getTime() !== standing.joinedAt.getTime()) return undefined;
    const isGood = standing.browserSessionId === null ? isTokenGood(standing, row, now) : row.session_id !== null;
    return isGood ? roleLabel(row.role) : undefined;
  });
}

const isTokenGood = ({ expiresAtMs, passwordChangedAt }: Standing, row: StandingRow, now: Date): boolean =>
  (expiresAtMs === null || expiresAtMs > now.getTime()) &&
  (row.password_changed_at?.getTime() ?? 0) === (passwordChangedAt?.getTime() ?? 0);

/** An open stream is use of the session: the screen on the wall must not go dark in the night. */
export const touchBrowserSessions = (db: Db, sessionIds: readonly string[], now: Date): Promise<number> =>
  db.run`update browser_sessions set last_used_at = ${now} where id = any(${sessionIds}::uuid[]) and last_used_at < ${now}`;
