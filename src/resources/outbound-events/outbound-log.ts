import type { Tx } from "../../db/database.ts";
import { notify } from "../../db/listener.ts";
import type { Scope } from "../../oauth/scopes.ts";
import type { WebhookEventType } from "../organizations/webhook-event-types.ts";
import { type LanePosition, nextLaneId } from "./lane-ids.ts";
import type { OutboundEntry } from "./outbound-entry.ts";
import { isLogged } from "./outbound-gate.ts";

/** Hears which integration has rows to push. A wake-up that is lost is made up for by a sweep. */
export const outboundChannel = "vigil_outbound";

export interface Lane extends LanePosition {
  integrationId: string;
  organizationId: string;
  pushEpoch: number | null;
  scopes: readonly Scope[];
  webhookEventTypes: readonly WebhookEventType[];
  messagingEnabled: boolean;
}

export interface OutboundRow {
  integrationId: string;
  id: string;
  organizationId: string;
  deviceUid: string;
  type: WebhookEventType;
  occurredAtMs: number;
  pushEpoch: number | null;
  body: string;
}

/**
 * Writes the rows of what happened, in the transaction in which it happened. Call it last: the rows of all integrations of the
 * organization stay locked until the commit, and whoever comes next waits.
 */
export async function appendOutbound(tx: Tx, entries: readonly OutboundEntry[], nowMs: number): Promise<void> {
  if (entries.length === 0) return;
  const organizationIds = [...new Set(entries.map(({ organizationId }) => organizationId))];
  const lanes = await tx.many<Lane>`
    select l.integration_id as "integrationId", l.organization_id as "organizationId", l.lane,
      l.last_ms as "lastMs", l.last_seq as "lastSeq", l.push_epoch as "pushEpoch",
      i.scopes, i.webhook_event_types as "webhookEventTypes", i.messaging_enabled as "messagingEnabled"
    from outbound_lanes l join integrations i on i.id = l.integration_id
    where l.organization_id = any(${organizationIds}::uuid[]) and i.status <> 'deleted'
    order by l.integration_id for update of l`;
  const rows = rowsOf(lanes, entries, nowMs);
  if (rows.length === 0) return;
  await tx.run`
    insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, push_epoch, body)
    select * from unnest(${rows.map((row) => row.integrationId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.organizationId)}::uuid[], ${rows.map((row) => row.deviceUid)}::text[],
      ${rows.map((row) => row.type)}::text[], ${rows.map((row) => new Date(row.occurredAtMs))}::timestamptz[],
      ${rows.map((row) => row.pushEpoch)}::int[], ${rows.map((row) => row.body)}::text[])`;
  await tx.run`
    update outbound_lanes l set last_ms = n.last_ms, last_seq = n.last_seq
    from unnest(${lanes.map((lane) => lane.integrationId)}::uuid[], ${lanes.map((lane) => lane.lastMs)}::int8[],
      ${lanes.map((lane) => lane.lastSeq)}::int8[]) as n(integration_id, last_ms, last_seq)
    where l.integration_id = n.integration_id`;
  for (const integrationId of pushedOf(rows)) await notify(tx, outboundChannel, integrationId);
}

export const pushedOf = (rows: readonly OutboundRow[]): string[] => [
  ...new Set(rows.flatMap(({ integrationId, pushEpoch }) => (pushEpoch === null ? [] : [integrationId]))),
];

/** The rows of the entries for each lane that may have them, in the order of the entries. Moves the lanes on. */
export function rowsOf(lanes: readonly Lane[], entries: readonly OutboundEntry[], nowMs: number): OutboundRow[] {
  const rows: OutboundRow[] = [];
  const byOrganization = new Map<string, Lane[]>();
  for (const lane of lanes) {
    const others = byOrganization.get(lane.organizationId);
    if (others) others.push(lane);
    else byOrganization.set(lane.organizationId, [lane]);
  }
  for (const entry of entries) {
    let data: string | undefined;
    for (const lane of byOrganization.get(entry.organizationId) ?? []) {
      if (!isLogged(entry.type, lane)) continue;
      data ??= JSON.stringify(entry.data);
      const id = nextLaneId(lane, nowMs);
      rows.push({
        integrationId: lane.integrationId,
        id,
        organizationId: lane.organizationId,
        deviceUid: entry.deviceUid,
        type: entry.type,
        occurredAtMs: entry.occurredAtMs,
        pushEpoch: lane.pushEpoch,
        body: envelope(id, entry, lane.integrationId, data),
      });
    }
  }
  return rows;
}

/** The envelope of section 19.2. `data` is the same for all integrations and written once. */
function envelope(id: string, entry: OutboundEntry, integrationId: string, data: string): string {
  const { type, occurredAtMs, deviceUid } = entry;
  const head = {
    id,
    type,
    occurred_at: new Date(occurredAtMs).toISOString(),
    partner_integration_id: integrationId,
    device: { uid: deviceUid, imei: deviceUid },
  };
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}
