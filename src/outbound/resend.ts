import type { Tx } from "../db/database.ts";
import { notify } from "../db/listener.ts";
import type { Integration } from "../resources/organizations/integration-store.ts";
import { redriveChannel } from "./dead-letter-store.ts";
import type { LogEvent } from "./event-detail.ts";
import { isAhead } from "./push-state.ts";

/**
 * Makes one row of the log due now, with attempts from 1, whatever became of it before. False: it is about to be sent anyway, or
 * nothing is pushed to the integration.
 */
export async function resendEvent(
  tx: Tx,
  { id: integrationId, organizationId }: Integration,
  event: LogEvent,
  now: Date,
): Promise<boolean> {
  // Locked before the deliveries, in the order of the worker.
  const lane = await tx.maybeOne<{ epoch: number; ms: number; seq: number }>`
    with pushed as (
      select integration_id, organization_id, push_epoch from outbound_lanes
      where organization_id = ${organizationId} and integration_id = ${integrationId} and push_epoch is not null
    ), held as (
      insert into delivery_lanes as d (integration_id, organization_id, retry_at)
      select integration_id, organization_id, ${now}::timestamptz from pushed
      on conflict (integration_id) do update set retry_at = least(d.retry_at, excluded.retry_at)
      returning cursor_ms, cursor_seq
    )
    select pushed.push_epoch as epoch, held.cursor_ms as ms, held.cursor_seq as seq from pushed cross join held`;
  if (!lane || isAhead(event, lane)) return false;
  await tx.run`
    delete from dead_letters
    where organization_id = ${organizationId} and integration_id = ${integrationId} and id = ${event.id}`;
  const count = await tx.run`
    insert into deliveries (integration_id, id, organization_id, push_epoch, attempts, due_at)
    values (${integrationId}, ${event.id}, ${organizationId}, ${lane.epoch}, 0, ${now})
    on conflict (integration_id, id) do nothing`;
  await notify(tx, redriveChannel, integrationId);
  return count > 0;
}
