import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";

/** Work that waits in the database. Counts stop at a bound: beyond it the number says nothing more. */
const maxCounted = 10_000;

export interface QueueState {
  queue: "mails" | "places" | "speech" | "deliveries" | "dead_letters" | "poisoned_packets";
  /** Null: more than can be counted in a moment. */
  waiting: number | null;
  /** How long the first of them has been due; 0: nothing is late. Null where nothing becomes due. */
  late_seconds: number | null;
}

/** What waits, and for how long the first of it has been due. */
export async function listQueues(db: Db, now: Date): Promise<QueueState[]> {
  const bounded = maxCounted + 1;
  const rows = await db.many<{ queue: QueueState["queue"]; waiting: number; due_at: Date | null; is_timed: boolean }>`
    select 'mails' as queue, true as is_timed,
      (select count(*) from (select from mails where status = 'queued' limit ${bounded}) b) as waiting,
      (select min(next_attempt_at) from mails where status = 'queued') as due_at
    union all select 'places', true, (select count(*) from (select from place_jobs limit ${bounded}) b),
      (select min(due_at) from place_jobs)
    union all select 'speech', true,
      (select count(*) from (select from messages where speech_due_at is not null limit ${bounded}) b),
      (select min(speech_due_at) from messages where speech_due_at is not null)
    union all select 'deliveries', true, (select count(*) from (select from deliveries limit ${bounded}) b),
      (select min(retry_at) from delivery_lanes)
    union all select 'dead_letters', false, (select count(*) from (select from dead_letters limit ${bounded}) b), null
    union all select 'poisoned_packets', false,
      (select count(*) from (select from poisoned_packets limit ${bounded}) b), null`;
  return rows.map(({ queue, waiting, due_at, is_timed }) => ({
    queue,
    waiting: waiting > maxCounted ? null : waiting,
    late_seconds: is_timed ? lateness(due_at, now) : null,
  }));
}

const lateness = (dueAt: Date | null, now: Date): number =>
  dueAt === null ? 0 : Math.max(0, Math.round((now.getTime() - dueAt.getTime()) / 1000));

export interface FailedJob {
  id: string;
  kind: "mail" | "speech";
  /** Which mail it was; null for a text. */
  subject: string | null;
  organization: string;
  attempts: number;
  /** Addresses in it are hidden: it may quote what a mail server answered. */
  error: string | null;
  failed_at: Date;
}

export const failedJobList = defineList({
  kind: "cursor",
  ordering: ["failed_at"],
  defaultOrdering: "-failed_at",
  searches: "nothing",
  filters: {},
});

/**
 * Jobs that were given up, of both tables in the order of time. Each part has the order of the whole, so that the two are merged
 * from their indexes and neither is read further than the page. Nobody retries them: who needs the mail or the message asks for
 * it again.
 */
export function listFailedJobs(db: Db, query: ListQuery): Promise<ListPage<FailedJob>> {
  const isDescending = query.ordering[0]?.descending !== (query.cursor?.side === "before");
  const direction = isDescending ? sql`desc` : sql`asc`;
  return sqlCursorPage<FailedJob>(
    db,
    { ...query, search: undefined },
    {
      select: sql`j.id, j.kind, j.subject, j.attempts, j.error, j.failed_at,
        (select o.slug from organizations o where o.id = j.organization_id) as organization`,
      from: sql`(
        (select id, 'mail' as kind, kind as subject, organization_id, attempts,
          regexp_replace(last_error, '[^\\s<>]+@[^\\s<>]+', '***', 'g') as error, finished_at as failed_at
        from mails where status = 'failed' order by finished_at ${direction}, id ${direction})
        union all
        (select id, 'speech', null, organization_id, speech_attempts::int, failure_reason, created_at
        from messages where failure_reason = 'tts_failed' order by created_at ${direction}, id ${direction})
      ) j`,
      where: [sql`true`],
      search: sql`''`,
      ordering: { failed_at: { column: sql`j.failed_at` } },
      key: sql`j.id`,
      valueType: "timestamptz",
      keyType: "uuid",
      position: ({ failed_at, id }) => ({ value: failed_at.toISOString(), id }),
    },
  );
}
