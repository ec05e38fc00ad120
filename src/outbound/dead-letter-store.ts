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

/** Makes dead letters due again, with attempts from 1. Returns how many: none if nothing is pushed to the integration now. */
export async function redriveDeadLetters(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  { ids, now }: { ids: readonly string[] | undefined; now: Date },
): Promise<number> {
  // Locked before the deliveries, in the order of the worker.
  await tx.run`
    update delivery_lanes set retry_at = least(retry_at, ${now})
    where organization_id = ${organizationId} and integration_id = ${integrationId}`;
  const count = await tx.run`
    with gone as (
      delete from dead_letters d where d.organization_id = ${organizationId} and d.integration_id = ${integrationId}
        ${ids === undefined ? sql`` : sql`and d.id = any(${ids}::uuid[])`}
        and exists (select from outbound_events e where e.integration_id = d.integration_id and e.id = d.id)
        and exists (select from outbound_lanes l where l.integration_id = d.integration_id and l.push_epoch is not null)
      returning d.id
    )
    insert into deliveries (integration_id, id, organization_id, push_epoch, attempts, due_at)
    select l.integration_id, gone.id, l.organization_id, l.push_epoch, 0, ${now}
    from gone join outbound_lanes l on l.integration_id = ${integrationId} and l.push_epoch is not null
    on conflict (integration_id, id) do nothing`;
  await notify(tx, redriveChannel, integrationId);
  return count;
}

/** Dead letters of rows that the log has dropped. */
export const deleteOldDeadLetters = (db: Db, before: string): Promise<number> =>
  db.run`delete from dead_letters where id < ${before}`;
