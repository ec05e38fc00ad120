import type { Database, Db, Tx } from "../db/database.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { settingsVersion } from "./lane-store.ts";
import { latencyBoundsMs } from "./latency-buckets.ts";
import { noteOutcomes } from "./trouble-store.ts";

/** A row of the log that may be pushed. */
export interface LogRow {
  id: string;
  type: WebhookEventType;
  deviceUid: string;
  pushEpoch: number | null;
  /** Null: not of the epoch that was asked for, or no longer in the log. */
  body: string | null;
  /** The version of the settings when the row was read. */
  version: string | null;
  /** What made the row, where it is traced. */
  trace: string | null;
}

export interface RetryRow extends LogRow {
  pushEpoch: number;
  attempts: number;
  dueAt: Date;
}

export const readLog = (
  db: Db,
  integrationId: string,
  { after, epoch, limit }: { after: string; epoch: number; limit: number },
): Promise<LogRow[]> =>
  db.many<LogRow>`
    select id, type, device_uid as "deviceUid", push_epoch as "pushEpoch",
      case when push_epoch = ${epoch} then body end as body, ${settingsVersion(integrationId)} as version, trace
    from outbound_events where integration_id = ${integrationId} and id > ${after}
    order by id limit ${limit}`;

/** The open deliveries that are due first, those due later without their body. Busy ones are already in hand. */
export const readRetries = (
  db: Db,
  integrationId: string,
  { now, busy, limit }: { now: Date; busy: readonly string[]; limit: number },
): Promise<RetryRow[]> =>
  db.many<RetryRow>`
    select r.id, r.attempts, r.due_at as "dueAt", r.push_epoch as "pushEpoch", e.type, e.device_uid as "deviceUid",
      case when r.due_at <= ${now} then e.body end as body, ${settingsVersion(integrationId)} as version, e.trace
    from (
      select id, attempts, due_at, push_epoch from deliveries
      where integration_id = ${integrationId} and id <> all(${busy}::uuid[]) order by due_at limit ${limit}
    ) r left join outbound_events e on e.integration_id = ${integrationId} and e.id = r.id
    order by r.due_at`;

/**
 * Rows after the cursor that are already on record, because one before them was still in flight when the last owner ended. They
 * must not be taken for new ones.
 */
export async function readPassed(db: Db, integrationId: string, after: string): Promise<Set<string>> {
  const rows = await db.many<{ id: string }>`
    select id from deliveries where integration_id = ${integrationId} and id > ${after}
    union all select id from dead_letters where integration_id = ${integrationId} and id > ${after}`;
  return new Set(rows.map(({ id }) => id));
}

/** How many deliveries of each lane are open, and the oldest of them. */
export const readOpen = (
  db: Db,
  integrationIds: readonly string[],
): Promise<{ integrationId: string; count: number; oldest: string | null }[]> =>
  db.many`
    select wanted.id as "integrationId",
      (select count(*) from deliveries r where r.integration_id = wanted.id) as count,
      (select r.id from deliveries r where r.integration_id = wanted.id order by r.id limit 1) as oldest
    from unnest(${integrationIds}::uuid[]) as wanted(id)`;

/** Where the log of a lane ends, if nothing is left of it after the id. */
export const readEnd = (
  db: Db,
  integrationId: string,
  after: string,
): Promise<{ ms: number; seq: number } | undefined> =>
  db.maybeOne`
    select last_ms as ms, last_seq as seq from outbound_lanes
    where integration_id = ${integrationId}
      and not exists (select from outbound_events where integration_id = ${integrationId} and id > ${after})`;

/** Deliveries of a time that is over are not taken up again (section 26.1, 19.1). */
export const deleteEndedDeliveries = (db: Db): Promise<number> =>
  db.run`
    delete from deliveries r using outbound_lanes l
    where l.integration_id = r.integration_id and r.push_epoch is distinct from l.push_epoch`;

export interface AttemptRecord {
  integrationId: string;
  /** UUIDv7 of the record itself. */
  id: string;
  organizationId: string;
  eventId: string;
  type: WebhookEventType;
  deviceUid: string;
  attempt: number;
  startedAtMs: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  /** The beginning of what the receiver answered. */
  answer: string | null;
}

/** What becomes of a row that the cursor passes, or has passed, without success at the first attempt. */
export type RowChange = {
  integrationId: string;
  organizationId: string;
  id: string;
  pushEpoch: number;
} & (
  | { kind: "open"; attempts: number; dueAtMs: number }
  | { kind: "dead"; attempts: number; error: string; parkedAtMs: number }
  | { kind: "gone" }
);

export interface LaneCursor {
  integrationId: string;
  ms: number;
  seq: number;
}

export interface DeliveryBatch {
  owner: string;
  attempts: readonly AttemptRecord[];
  changes: readonly RowChange[];
  cursors: readonly LaneCursor[];
}

/**
 * Writes what happened since the last batch, in one transaction: either the cursor has passed a row and its retry is on record,
 * or neither. Returns the lanes that are still this worker's, with their earliest retry; of the others nothing but the attempts
 * was written. Writing a batch twice does no harm.
 */
export function writeBatch(db: Database, batch: DeliveryBatch): Promise<Map<string, Date | null>> {
  return db.transaction(async (tx) => {
    const { owner, attempts, cursors } = batch;
    const lanes = await tx.many<{ id: string }>`
      select integration_id as id from delivery_lanes
      where integration_id = any(${cursors.map((one) => one.integrationId)}::uuid[]) and lease_owner = ${owner}
      order by integration_id for update`;
    const owned = new Set(lanes.map(({ id }) => id));
    if (attempts.length > 0) await insertAttempts(tx, attempts);
    await applyChanges(
      tx,
      batch.changes.filter(({ integrationId }) => owned.has(integrationId)),
    );
    const moved = cursors.filter(({ integrationId }) => owned.has(integrationId));
    const retries = await tx.many<{ id: string; retryAt: Date | null }>`
      update delivery_lanes d set cursor_ms = n.ms, cursor_seq = n.seq,
        retry_at = (select min(due_at) from deliveries r where r.integration_id = d.integration_id)
      from unnest(${moved.map((one) => one.integrationId)}::uuid[], ${moved.map((one) => one.ms)}::int8[],
        ${moved.map((one) => one.seq)}::int8[]) as n(integration_id, ms, seq)
      where d.integration_id = n.integration_id
      returning d.integration_id as id, d.retry_at as "retryAt"`;
    await noteOutcomes(tx, attempts);
    return new Map(retries.map(({ id, retryAt }) => [id, retryAt]));
  });
}

/** The hour counts what was stored now: a batch that is written again counts once. */
async function insertAttempts(tx: Tx, rows: readonly AttemptRecord[]): Promise<void> {
  await tx.run`
    with stored as (
      insert into delivery_attempts (integration_id, id, organization_id, event_id, type, device_uid, attempt, started_at,
        duration_ms, status_code, error, answer)
      select * from unnest(${rows.map((row) => row.integrationId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
        ${rows.map((row) => row.organizationId)}::uuid[], ${rows.map((row) => row.eventId)}::uuid[],
        ${rows.map((row) => row.type)}::text[], ${rows.map((row) => row.deviceUid)}::text[],
        ${rows.map((row) => row.attempt)}::int[], ${rows.map((row) => new Date(row.startedAtMs))}::timestamptz[],
        ${rows.map((row) => row.durationMs)}::int[], ${rows.map((row) => row.statusCode)}::int[],
        ${rows.map((row) => row.error)}::text[], ${rows.map((row) => row.answer)}::text[])
      on conflict do nothing
      returning integration_id, organization_id, started_at, duration_ms, error
    )
    insert into delivery_hours as h (integration_id, hour, bucket, organization_id, delivered, failed)
    select integration_id, date_trunc('hour', started_at, 'UTC'), width_bucket(duration_ms, ${latencyBoundsMs}::int[]),
      organization_id, count(*) filter (where error is null), count(*) filter (where error is not null)
    from stored group by 1, 2, 3, 4 order by 1, 2, 3
    on conflict (integration_id, hour, bucket) do update set
      delivered = h.delivered + excluded.delivered, failed = h.failed + excluded.failed`;
}

async function applyChanges(tx: Tx, changes: readonly RowChange[]): Promise<void> {
  const open = changes.filter((change) => change.kind === "open");
  const dead = changes.filter((change) => change.kind === "dead");
  const closed = changes.filter((change) => change.kind !== "open");
  // Whoever clears the URL meanwhile ends the epoch: what is still open then is neither tried again nor parked.
  if (open.length > 0) {
    await tx.run`
      insert into deliveries as r (integration_id, id, organization_id, push_epoch, attempts, due_at)
      select n.* from unnest(${open.map((row) => row.integrationId)}::uuid[], ${open.map((row) => row.id)}::uuid[],
        ${open.map((row) => row.organizationId)}::uuid[], ${open.map((row) => row.pushEpoch)}::int[],
        ${open.map((row) => row.attempts)}::int[], ${open.map((row) => new Date(row.dueAtMs))}::timestamptz[])
        as n(integration_id, id, organization_id, push_epoch, attempts, due_at)
      join outbound_lanes l on l.integration_id = n.integration_id and l.push_epoch = n.push_epoch
      on conflict (integration_id, id) do update set attempts = excluded.attempts, due_at = excluded.due_at`;
  }
  if (dead.length > 0) {
    await tx.run`
      insert into dead_letters as r (integration_id, id, organization_id, attempts, last_error, parked_at)
      select n.integration_id, n.id, n.organization_id, n.attempts, n.last_error, n.parked_at
      from unnest(${dead.map((row) => row.integrationId)}::uuid[], ${dead.map((row) => row.id)}::uuid[],
        ${dead.map((row) => row.organizationId)}::uuid[], ${dead.map((row) => row.pushEpoch)}::int[],
        ${dead.map((row) => row.attempts)}::int[], ${dead.map((row) => row.error)}::text[],
        ${dead.map((row) => new Date(row.parkedAtMs))}::timestamptz[])
        as n(integration_id, id, organization_id, push_epoch, attempts, last_error, parked_at)
      join outbound_lanes l on l.integration_id = n.integration_id and l.push_epoch = n.push_epoch
      on conflict (integration_id, id) do update set attempts = excluded.attempts, last_error = excluded.last_error,
        parked_at = excluded.parked_at`;
  }
  if (closed.length > 0) {
    await tx.run`
      delete from deliveries r
      using unnest(${closed.map((row) => row.integrationId)}::uuid[], ${closed.map((row) => row.id)}::uuid[])
        as n(integration_id, id)
      where r.integration_id = n.integration_id and r.id = n.id`;
  }
}
