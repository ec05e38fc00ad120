import type { Db } from "../db/database.ts";
import { laneIdAt, positionOfLaneId } from "../outbox/lane-ids.ts";
import { latencyAt } from "./latency-buckets.ts";
import { readTroubles } from "./trouble-store.ts";

const hourMs = 3_600_000;
export const healthHours = 24;
/** What waits and what was given up is counted up to here: an exact number of more helps nobody, and would take long. */
export const maxCounted = 1000;

/** Whether the events of an integration arrive, over the last day and now. */
export interface DeliveryHealth {
  integration_id: string;
  window_hours: number;
  delivered: number;
  failed: number;
  /** Of all attempts; null: there were none. */
  success_share: number | null;
  latency_p50_ms: number | null;
  latency_p95_ms: number | null;
  /** Events that are to be sent or sent again, at most `counted_up_to`. */
  waiting: number;
  /** Age of the oldest of them. */
  backlog_seconds: number | null;
  dead_letters: number;
  counted_up_to: number;
  /** The first failed attempt since the last one that succeeded. */
  failing_since: Date | null;
  last_error: { event_id: string; status_code: number | null; error: string; at: Date } | null;
  /** One per hour, oldest first; the last one is running. */
  hours: { hour: Date; delivered: number; failed: number }[];
}

/** Reads few rows, however many deliveries there were. In the order of the ids. */
export async function readHealth(
  db: Db,
  organizationId: string,
  integrationIds: readonly string[],
  now: Date,
): Promise<DeliveryHealth[]> {
  const lastHourMs = Math.floor(now.getTime() / hourMs) * hourMs;
  const firstHourMs = lastHourMs - (healthHours - 1) * hourMs;
  const rows = await readHours(db, organizationId, integrationIds, new Date(firstHourMs));
  const backlogs = await readBacklogs(db, organizationId, integrationIds);
  const errors = await readLastErrors(db, organizationId, integrationIds);
  const troubles = await readTroubles(db, organizationId, integrationIds);
  return integrationIds.map((id) => {
    const own = rows.filter(({ integrationId }) => integrationId === id);
    const hours = Array.from({ length: healthHours }, (_, index) => {
      const hour = new Date(firstHourMs + index * hourMs);
      return { hour, ...sumOf(own.filter((row) => row.hour.getTime() === hour.getTime())) };
    });
    const counts = new Map<number, number>();
    for (const row of own) counts.set(row.bucket, (counts.get(row.bucket) ?? 0) + row.delivered + row.failed);
    const { delivered, failed } = sumOf(own);
    const backlog = backlogs.find(({ integrationId }) => integrationId === id);
    const last = errors.find(({ integrationId }) => integrationId === id);
    return {
      integration_id: id,
      window_hours: healthHours,
      delivered,
      failed,
      success_share: delivered + failed === 0 ? null : delivered / (delivered + failed),
      latency_p50_ms: latencyAt(0.5, counts),
      latency_p95_ms: latencyAt(0.95, counts),
      waiting: Math.min(maxCounted, backlog?.waiting ?? 0),
      backlog_seconds: ageOf(backlog?.oldest, now),
      dead_letters: backlog?.deadLetters ?? 0,
      counted_up_to: maxCounted,
      failing_since: troubles.find(({ integrationId }) => integrationId === id)?.failingSince ?? null,
      last_error: last
        ? { event_id: last.eventId, status_code: last.statusCode, error: last.error, at: last.at }
        : null,
      hours,
    };
  });
}

const ageOf = (id: string | null | undefined, now: Date): number | null =>
  id ? Math.max(0, Math.floor((now.getTime() - positionOfLaneId(id).ms) / 1000)) : null;

interface HourRow {
  integrationId: string;
  hour: Date;
  bucket: number;
  delivered: number;
  failed: number;
}

const sumOf = (rows: readonly HourRow[]): { delivered: number; failed: number } => ({
  delivered: rows.reduce((sum, row) => sum + row.delivered, 0),
  failed: rows.reduce((sum, row) => sum + row.failed, 0),
});

const readHours = (db: Db, organizationId: string, ids: readonly string[], since: Date): Promise<HourRow[]> =>
  db.many<HourRow & Record<string, unknown>>`
    select integration_id as "integrationId", hour, bucket, delivered, failed from delivery_hours
    where organization_id = ${organizationId} and integration_id = any(${ids}::uuid[]) and hour >= ${since}`;

interface Backlog {
  integrationId: string;
  waiting: number;
  oldest: string | null;
  deadLetters: number;
}

/** What a lane has not sent: rows after its cursor, and rows that failed and are due again. */
async function readBacklogs(db: Db, organizationId: string, ids: readonly string[]): Promise<Backlog[]> {
  const lanes = await db.many<{ id: string; lane: number; epoch: number | null; ms: number; seq: number }>`
    select l.integration_id as id, l.lane, l.push_epoch as epoch, coalesce(d.cursor_ms, 0) as ms,
      coalesce(d.cursor_seq, 0) as seq
    from outbound_lanes l left join delivery_lanes d on d.integration_id = l.integration_id
    where l.organization_id = ${organizationId} and l.integration_id = any(${ids}::uuid[])`;
  const cursors = lanes.map(({ lane, ms, seq }) => laneIdAt({ lane, lastMs: ms, lastSeq: seq }));
  return db.many<Backlog & Record<string, unknown>>`
    select lane.id as "integrationId", fresh.count + open.count as waiting, least(fresh.oldest, open.oldest) as oldest,
      (select count(*) from (select from dead_letters d where d.integration_id = lane.id limit ${maxCounted}) counted)
        as "deadLetters"
    from unnest(${lanes.map(({ id }) => id)}::uuid[], ${cursors}::uuid[], ${lanes.map(({ epoch }) => epoch)}::int[])
      as lane(id, cursor, epoch)
    cross join lateral (
      select count(*) as count, (array_agg(id order by id))[1] as oldest from (
        select e.id, e.push_epoch from outbound_events e
        where e.integration_id = lane.id and e.id > lane.cursor order by e.id limit ${maxCounted}) next
      where next.push_epoch = lane.epoch
    ) fresh
    cross join lateral (
      select count(*) as count, (array_agg(id order by id))[1] as oldest from (
        select r.id from deliveries r
        where r.integration_id = lane.id and r.push_epoch = lane.epoch order by r.id limit ${maxCounted}) next
    ) open`;
}

interface LastError {
  integrationId: string;
  eventId: string;
  statusCode: number | null;
  error: string;
  at: Date;
}

const readLastErrors = (db: Db, organizationId: string, ids: readonly string[]): Promise<LastError[]> =>
  db.many<LastError & Record<string, unknown>>`
    select wanted.id as "integrationId", a.event_id as "eventId", a.status_code as "statusCode", a.error, a.started_at as at
    from unnest(${ids}::uuid[]) as wanted(id)
    cross join lateral (
      select event_id, status_code, error, started_at from delivery_attempts
      where integration_id = wanted.id and organization_id = ${organizationId} and error is not null
      order by id desc limit 1
    ) a`;

export const deleteOldHours = (db: Db, before: Date): Promise<number> =>
  db.run`delete from delivery_hours where hour < ${before}`;
