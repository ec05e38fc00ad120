import { type Sql, sql } from "../db/sql.ts";
import type { Scope } from "../oauth/scopes.ts";
import { type LanePosition, seqsPerMs } from "./lane-ids.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/** One integration's part of the log, locked for this transaction. Ids begin right above the position. */
export interface Lane extends LanePosition {
  integrationId: string;
  organizationId: string;
  /** Null: rows made now are not pushed. */
  pushEpoch: number | null;
  scopes: readonly Scope[];
  webhookEventTypes: readonly WebhookEventType[];
  messagingEnabled: boolean;
}

/**
 * Locks the lanes of the organizations until the commit, in the order of their ids so that two writers cannot deadlock, and takes
 * as many numbers for each as there may be rows. Ids of a lane therefore rise in the order of commits: while the clock stands or
 * was set back the counter goes on in the millisecond of the last id.
 */
export function reserveLanes(counts: ReadonlyMap<string, number>, nowMs: number): Sql {
  const [organizationIds, numbers] = [[...counts.keys()], [...counts.values()]];
  return sql`
    with lane as materialized (
      select l.integration_id, n.count, i.scopes, i.webhook_event_types, i.messaging_enabled
      from unnest(${organizationIds}::uuid[], ${numbers}::int8[]) as n(organization_id, count)
      join outbound_lanes l on l.organization_id = n.organization_id
      join integrations i on i.id = l.integration_id and i.organization_id = l.organization_id
      where i.status <> 'deleted'
      order by l.integration_id for update of l
    )
    update outbound_lanes l set
      last_ms = case when ${nowMs}::int8 > l.last_ms then ${nowMs}::int8
        else l.last_ms + (l.last_seq + lane.count >= ${seqsPerMs}::int8)::int end,
      last_seq = lane.count + case when ${nowMs}::int8 > l.last_ms or l.last_seq + lane.count >= ${seqsPerMs}::int8
        then 0 else l.last_seq end
    from lane where l.integration_id = lane.integration_id
    returning l.integration_id as "integrationId", l.organization_id as "organizationId", l.lane, l.last_ms as "lastMs",
      l.last_seq - lane.count as "lastSeq", l.push_epoch as "pushEpoch", lane.scopes,
      lane.webhook_event_types as "webhookEventTypes", lane.messaging_enabled as "messagingEnabled"`;
}
