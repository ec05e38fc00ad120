import type { Db } from "../db/database.ts";
import { allOf, type Sql, sql } from "../db/sql.ts";
import type { ListPage } from "../http/list-results.ts";
import { defineList, encodeCursor, type ListQuery } from "../http/lists.ts";
import { choiceParam, imeiParam, uuidParam } from "../http/query-params.ts";
import { invalidCursor } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { visibleTypes } from "../outbox/outbound-gate.ts";
import { type WithheldReason, withheldReason } from "../outbox/visible-gate.ts";
import { allWebhookEventTypes, type WebhookEventType } from "../outbox/webhook-event-types.ts";
import type { Integration } from "../resources/organizations/integration-store.ts";
import { type PushState, readPushStates } from "./push-state.ts";

/** A row of the outbound log, as an administrator sees it: whether the partner gets it, and how it was sent. */
export interface LogEntry {
  id: string;
  type: WebhookEventType;
  device_uid: string;
  occurred_at: Date;
  /** Null: the partner gets it, by replay in any case. */
  withheld: WithheldReason | null;
  push: PushState;
}

export const logEntryList = defineList({
  kind: "cursor",
  ordering: ["id"],
  defaultOrdering: "-id",
  searches: "nothing",
  filters: {
    type: choiceParam("Rows of this type.", allWebhookEventTypes),
    device_uid: imeiParam("Rows of this device."),
    event_id: uuidParam("The row with this id."),
    after: uuidParam("Rows after this id, to follow the log."),
    visibility: choiceParam("Whether the partner gets them.", ["shown", "withheld"]),
  },
});

interface LogRow {
  id: string;
  type: WebhookEventType;
  deviceUid: string;
  occurredAt: Date;
  pushEpoch: number | null;
}

/**
 * No index knows the devices of the log, for every packet would have to write it: such a search reads this many rows, and its page
 * may be short although more follow.
 */
export const maxScannedRows = 10_000;

/** A page of the log of an integration, in the order of ids, which is the order of replay. */
export async function listLogEntries(
  db: Db,
  integration: Integration,
  query: ListQuery<typeof logEntryList.filters>,
): Promise<ListPage<LogEntry>> {
  const { pageSize, ordering } = query;
  const { device_uid, visibility } = query.filters;
  const isNewestFirst = ordering[0]?.descending ?? true;
  const direction = isNewestFirst ? sql` desc` : sql` asc`;
  const inRange = rangeOf(integration, query, isNewestFirst);
  const narrowing: Sql[] = [];
  if (device_uid !== undefined) narrowing.push(device_uid === null ? sql`false` : sql`device_uid = ${device_uid}`);
  if (visibility !== undefined) {
    narrowing.push(visibility === "shown" ? shownTo(integration) : sql`not (${shownTo(integration)})`);
  }
  const columns = sql`id, type, device_uid as "deviceUid", occurred_at as "occurredAt", push_epoch as "pushEpoch"`;
  const rows = await db.many<LogRow & Record<string, unknown>>(
    narrowing.length === 0
      ? sql`select ${columns} from outbound_events where ${inRange} order by id${direction} limit ${pageSize + 1}`
      : sql`
        select ${columns} from (
          select * from outbound_events where ${inRange} order by id${direction} limit ${maxScannedRows}
        ) scanned where ${allOf(narrowing)} order by id${direction} limit ${pageSize + 1}`,
  );
  const shown = rows.slice(0, pageSize);
  let last = rows.length > pageSize ? shown.at(-1)?.id : undefined;
  if (last === undefined && narrowing.length > 0) {
    const end = await db.maybeOne<{ id: string }>(
      sql`select id from outbound_events where ${inRange} order by id${direction} limit 1 offset ${maxScannedRows - 1}`,
    );
    last = end?.id;
  }
  const states = await readPushStates(db, integration, shown);
  return {
    count: undefined,
    next: last === undefined ? null : { cursor: encodeCursor(ordering, "after", last, last) },
    previous: null,
    rows: shown.map((row, index) => ({
      id: row.id,
      type: row.type,
      device_uid: row.deviceUid,
      occurred_at: row.occurredAt,
      withheld: withheldReason(row, integration, integration.scopes),
      push: states[index] as PushState,
    })),
  };
}

function rangeOf(
  { id, organizationId }: Integration,
  { filters, cursor }: ListQuery<typeof logEntryList.filters>,
  isNewestFirst: boolean,
): Sql {
  const { type, event_id, after } = filters;
  const where = [sql`integration_id = ${id} and organization_id = ${organizationId}`];
  if (type !== undefined) where.push(sql`type = ${type}`);
  if (event_id !== undefined) where.push(sql`id = ${event_id}`);
  if (after !== undefined) where.push(sql`id > ${after}`);
  if (cursor) {
    if (!isUuid(cursor.id) || cursor.side !== "after") throw invalidCursor();
    where.push(isNewestFirst ? sql`id < ${cursor.id}` : sql`id > ${cursor.id}`);
  }
  return allOf(where);
}

/** The gate of replay, for the database. */
function shownTo(integration: Integration): Sql {
  const types = sql`type = any(${visibleTypes(integration)}::text[])`;
  const { webhookDeviceFilter } = integration;
  return webhookDeviceFilter.length === 0 ? types : sql`${types} and device_uid = any(${webhookDeviceFilter}::text[])`;
}
