import type { Client } from "pg";
import type { Tx } from "../db/database.ts";
import { formatUuid } from "../lib/ids.ts";
import { searchText } from "../lib/search-text.ts";
import { factOf, type OutboundFact } from "../outbox/outbound-entry.ts";
import { appendFacts } from "../outbox/outbound-log.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { eventTypes } from "../resources/events/event-types.ts";
import type { EventOwner, EventRow } from "./ingest-rows.ts";

/** Names as they are now: a connection may be older than the last change of its device's name. */
export async function readNames(
  client: Client,
  facts: readonly { hold: EventOwner }[],
): Promise<(hold: EventOwner) => string> {
  const { rows } = await client.query<[string, string]>({
    name: "ingest_names",
    text: "select id, name from devices where id = any($1::uuid[]) and organization_id = any($2::uuid[])",
    values: [
      [...new Set(facts.map(({ hold }) => hold.device.id))],
      [...new Set(facts.map(({ hold }) => hold.device.organizationId))],
    ],
    rowMode: "array",
  });
  const names = new Map(rows);
  return ({ device }) => displayName(names.get(device.id) ?? "", device.uid);
}

/** What people call a device. */
export const displayName = (name: string, uid: string): string => (name === "" ? uid : name);

const outboundTypes = new Map<number, WebhookEventType>(
  Object.values(eventTypes).flatMap(({ number, outboundType }) =>
    outboundType === null ? [] : [[number, outboundType as WebhookEventType]],
  ),
);

/** What partners are told of the events. */
export const outboundFactsOf = (events: readonly EventRow[]): OutboundFact[] =>
  events.flatMap(({ hold, typeNumber, tsMs, outbound }) => {
    const type = outboundTypes.get(typeNumber);
    if (type === undefined || outbound === null) return [];
    const { organizationId, uid } = hold.device;
    return [factOf({ organizationId, type, deviceUid: uid, occurredAtMs: tsMs, data: outbound })];
  });

/** Events that no packet makes, with the outbound events about them. The last writes of a transaction. */
export async function insertEvents(tx: Tx, events: readonly EventRow[], nowMs: number): Promise<void> {
  await insertEventRows(tx, events);
  await appendFacts(tx, outboundFactsOf(events), nowMs);
}

/** Without the outbound events, for a transaction that appends them together with others. */
export async function insertEventRows(tx: Tx, events: readonly EventRow[]): Promise<void> {
  if (events.length === 0) return;
  const column = <T>(read: (row: EventRow) => T): T[] => events.map(read);
  await tx.run`
    insert into events (device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, fence_id,
      fence_name, threshold_id, metric_key, value, location, data, search, created_at)
    select device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, fence_id,
      fence_name, threshold_id, metric_key, value, location::jsonb, data::jsonb, search, created_at
    from unnest(${column(({ hold }) => hold.device.id)}::uuid[], ${column(({ id }) => formatUuid(id))}::uuid[],
      ${column(({ hold }) => hold.device.organizationId)}::uuid[], ${column((row) => row.typeNumber)}::int2[],
      ${column((row) => row.severity)}::int2[], ${column((row) => new Date(row.tsMs))}::timestamptz[],
      ${column((row) => (row.deviceTimeMs === null ? null : new Date(row.deviceTimeMs)))}::timestamptz[],
      ${column((row) => row.title)}::text[], ${column((row) => row.message)}::text[],
      ${column((row) => row.fence?.id ?? null)}::uuid[], ${column((row) => row.fence?.name ?? null)}::text[],
      ${column((row) => row.threshold?.id ?? null)}::uuid[], ${column((row) => row.threshold?.metricKey ?? null)}::text[],
      ${column((row) => row.threshold?.value ?? null)}::float8[],
      ${column((row) => row.location && JSON.stringify(row.location))}::text[],
      ${column((row) => JSON.stringify(row.data))}::text[],
      ${column((row) => searchText([row.title, row.hold.device.uid]))}::text[],
      ${column((row) => new Date(row.receivedAtMs))}::timestamptz[])
      as e (device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, fence_id,
        fence_name, threshold_id, metric_key, value, location, data, search, created_at)`;
}
