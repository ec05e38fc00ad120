import type { Db } from "../db/database.ts";
import { uuidV7Floor } from "../lib/ids.ts";
import { positionOfLaneId } from "../outbox/lane-ids.ts";
import type { Integration } from "../resources/organizations/integration-store.ts";

/** Where a row of the log stands with the webhook. `none`: it was not to be pushed, and waits for replay. */
export type PushState = "waiting" | "retrying" | "delivered" | "dead_letter" | "none";

interface LanePosition {
  epoch: number | null;
  ms: number;
  seq: number;
}

interface Traces {
  id: string;
  isDead: boolean;
  isOpen: boolean;
  isDelivered: boolean;
}

/** Of rows of one page, in their order. */
export async function readPushStates(
  db: Db,
  { id: integrationId, organizationId }: Pick<Integration, "id" | "organizationId">,
  rows: readonly { id: string; pushEpoch: number | null }[],
): Promise<PushState[]> {
  if (rows.length === 0) return [];
  const lane = await db.maybeOne<LanePosition & Record<string, unknown>>`
    select l.push_epoch as epoch, coalesce(d.cursor_ms, 0) as ms, coalesce(d.cursor_seq, 0) as seq
    from outbound_lanes l left join delivery_lanes d on d.integration_id = l.integration_id
    where l.organization_id = ${organizationId} and l.integration_id = ${integrationId}`;
  // An attempt cannot be older than its event; without the bound every partition would be looked into.
  const floors = rows.map(({ id }) => uuidV7Floor(positionOfLaneId(id).ms));
  const traces = await db.many<Traces & Record<string, unknown>>`
    select wanted.id,
      exists (select from dead_letters d where d.integration_id = ${integrationId} and d.id = wanted.id) as "isDead",
      exists (select from deliveries r where r.integration_id = ${integrationId} and r.id = wanted.id) as "isOpen",
      exists (select from delivery_attempts a where a.integration_id = ${integrationId} and a.event_id = wanted.id
        and a.id >= wanted.floor and a.error is null) as "isDelivered"
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${floors}::uuid[]) as wanted(id, floor)`;
  const byId = new Map(traces.map((one) => [one.id, one]));
  return rows.map((row) => {
    const trace = byId.get(row.id);
    if (trace?.isOpen) return "retrying";
    if (trace?.isDead) return "dead_letter";
    if (trace?.isDelivered) return "delivered";
    return isAhead(row, lane) ? "waiting" : "none";
  });
}

/** The lane has not come to it, and will send it. */
export function isAhead(row: { id: string; pushEpoch: number | null }, lane: LanePosition | undefined): boolean {
  if (!lane || lane.epoch === null || row.pushEpoch !== lane.epoch) return false;
  const { ms, seq } = positionOfLaneId(row.id);
  return ms > lane.ms || (ms === lane.ms && seq > lane.seq);
}
