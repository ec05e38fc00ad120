import type { Db, Tx } from "../db/database.ts";
import { notify } from "../db/listener.ts";
import { sql } from "../db/sql.ts";

/** Hears which integration has deliveries that its lane did not make. */
export const redriveChannel = "vigil_redrive";

const minId = "00000000-0000-0000-0000-000000000000";

/** A row that was given up. It stays in the log, and here until the log forgets it. */
export interface DeadLetter {
  id: string;
  type: string;
  device_uid: string;
  occurred_at: Date;
  attempts: number;
  last_error: string;
  parked_at: Date;
}

const pageRows = 1000;

/**
 * All of them in pages, the newest last: there may be as many as a partner missed in a month. Those whose row is no longer in the
 * log cannot be sent again and are not shown.
 */
export async function* readDeadLetters(
  db: Db,
  organizationId: string,
  integrationId: string,
  id: string | undefined,
): AsyncGenerator<DeadLetter[]> {
  let after = minId;
  for (;;) {
    const page = await db.many<DeadLetter>`
      select d.id, e.type, e.device_uid, e.occurred_at, d.attempts, d.last_error, d.parked_at
      from dead_letters d cross join lateral (
        select type, device_uid, occurred_at from outbound_events e
        where e.integration_id = d.integration_id and e.id = d.id limit 1) e
      where d.organization_id = ${organizationId} and d.integration_id = ${integrationId} and d.id > ${after}
        ${id === undefined ? sql`` : sql`and d.id = ${id}`}
      order by d.id limit ${pageRows}`;
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.id;
  }
}

/** What one transaction moves: a month of a partner's events at once would hold the lane, and the request, for minutes. */
const maxRedrivenAtOnce = 5000;

export interface RedriveOptions {
  /** Undefined: all of them. */
  ids: readonly string[] | undefined;
  /** The id to go on after. */
  after: string;
  now: Date;
  limit?: number;
}

export interface RedrivenPiece {
  count: number;
  /** The id to go on after; null: nothing is left, or nothing is pushed to the integration now. */
  last: string | null;
}

/** Makes the next dead letters due again, with attempts from 1. Those whose row is no longer in the log stay. */
export async function redriveDeadLetters(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  { ids, after, now, limit = maxRedrivenAtOnce }: RedriveOptions,
): Promise<RedrivenPiece> {
  // Locked before the deliveries, in the order of the worker.
  await tx.run`
    update delivery_lanes set retry_at = least(retry_at, ${now})
    where organization_id = ${organizationId} and integration_id = ${integrationId}`;
  const { chosen, count, last } = await tx.one<RedrivenPiece & { chosen: number }>`
    with chosen as (
      select d.id, l.push_epoch from dead_letters d
      join outbound_lanes l on l.integration_id = d.integration_id and l.push_epoch is not null
      where d.organization_id = ${organizationId} and d.integration_id = ${integrationId} and d.id > ${after}
        ${ids === undefined ? sql`` : sql`and d.id = any(${ids}::uuid[])`}
      order by d.id limit ${limit}
    ), gone as (
      delete from dead_letters d using chosen
      where d.organization_id = ${organizationId} and d.integration_id = ${integrationId} and d.id = chosen.id
        and exists (select from outbound_events e where e.integration_id = d.integration_id and e.id = d.id)
      returning d.id, chosen.push_epoch
    ), added as (
      insert into deliveries (integration_id, id, organization_id, push_epoch, attempts, due_at)
      select ${integrationId}, gone.id, ${organizationId}, gone.push_epoch, 0, ${now} from gone
      on conflict (integration_id, id) do nothing returning id
    )
    select (select count(*) from chosen) as chosen, (select count(*) from added) as count,
      (select id from chosen order by id desc limit 1) as last`;
  await notify(tx, redriveChannel, integrationId);
  return { count, last: chosen < limit ? null : last };
}

/** Runs pieces until nothing is left, each in a transaction of its own. Returns how many dead letters are due again. */
export async function redriveInPieces(
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  redrivePiece: (tx: Tx, after: string) => Promise<RedrivenPiece>,
): Promise<number> {
  let total = 0;
  for (let after: string | null = minId; after !== null; ) {
    const from: string = after;
    const { count, last } = await transaction((tx) => redrivePiece(tx, from));
    total += count;
    after = last;
  }
  return total;
}

/** Dead letters of rows that the log has dropped. */
export const deleteOldDeadLetters = (db: Db, before: string): Promise<number> =>
  db.run`delete from dead_letters where id < ${before}`;
