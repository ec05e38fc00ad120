import type { Db } from "../db/database.ts";

/** A limit on failures of one subject (a client at an address, a person) within a window that starts with the first one. */
export interface AttemptLimit {
  kind: string;
  failures: number;
  windowSeconds: number;
}

interface AttemptRow {
  failures: number;
  started_at: Date;
}

const waitOf = (limit: AttemptLimit, row: AttemptRow, now: Date): number =>
  Math.ceil((row.started_at.getTime() + limit.windowSeconds * 1000 - now.getTime()) / 1000);

/** Seconds to wait, or 0 while the subject may still try. */
export async function blockedSeconds(db: Db, limit: AttemptLimit, subject: string, now: Date): Promise<number> {
  const row = await db.maybeOne<AttemptRow>`
    select failures, started_at from failed_attempts where kind = ${limit.kind} and subject = ${subject}`;
  if (!row || row.failures < limit.failures) return 0;
  return Math.max(0, waitOf(limit, row, now));
}

/** Counts a failure. The answer is the seconds to wait if this one was over the limit, else 0; exact under parallel calls. */
export async function recordFailure(db: Db, limit: AttemptLimit, subject: string, now: Date): Promise<number> {
  const windowStart = new Date(now.getTime() - limit.windowSeconds * 1000);
  const row = await db.one<AttemptRow>`
    insert into failed_attempts as f (kind, subject, started_at, failures) values (${limit.kind}, ${subject}, ${now}, 1)
    on conflict (kind, subject) do update set
      failures = case when f.started_at <= ${windowStart} then 1 else f.failures + 1 end,
      started_at = case when f.started_at <= ${windowStart} then excluded.started_at else f.started_at end
    returning failures, started_at`;
  return row.failures > limit.failures ? Math.max(1, waitOf(limit, row, now)) : 0;
}

/** Takes back what was counted before it was known to be no failure. */
export const forgiveFailure = (db: Db, limit: AttemptLimit, subject: string): Promise<number> =>
  db.run`
    update failed_attempts set failures = failures - 1
    where kind = ${limit.kind} and subject = ${subject} and failures > 0`;

export const deleteOldFailures = (db: Db, before: Date): Promise<number> =>
  db.run`delete from failed_attempts where started_at < ${before}`;
