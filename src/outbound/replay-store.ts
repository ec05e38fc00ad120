import type { Db } from "../db/database.ts";
import { allOf, rawSql, type Sql, sql } from "../db/sql.ts";
import { uuidV7Floor } from "../lib/ids.ts";
import { containsPattern, foldForSearch } from "../lib/search-text.ts";
import { defaultTypes } from "../outbox/outbound-gate.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";

/** The integration whose log is read. */
export interface ReplayOwner {
  organizationId: string;
  integrationId: string;
}

export interface Subscription {
  webhookEventTypes: readonly WebhookEventType[];
  webhookDeviceFilter: readonly string[];
}

export const getSubscription = (db: Db, { organizationId, integrationId }: ReplayOwner): Promise<Subscription> =>
  db.one<Subscription & Record<string, unknown>>`
    select webhook_event_types as "webhookEventTypes", webhook_device_filter as "webhookDeviceFilter"
    from integrations where organization_id = ${organizationId} and id = ${integrationId}`;

export interface ReplayRange {
  /** Exclusive. */
  afterId: string;
  types: readonly WebhookEventType[];
  /** Empty: all devices. */
  deviceUids: readonly string[];
  search: string | undefined;
  limit: number;
}

export interface ReplayPage {
  rows: { id: string; type: WebhookEventType; body: string }[];
  hasMore: boolean;
}

/**
 * A page of the log, in one statement and so in one view of it: rows become visible in the order of their ids, and of what one
 * statement sees nothing can be missing in between.
 */
export async function readLog(db: Db, owner: ReplayOwner, range: ReplayRange): Promise<ReplayPage> {
  if (range.types.length === 0) return { rows: [], hasMore: false };
  const coversDefaultTypes = defaultTypes.every((type) => range.types.includes(type));
  const rows = await db.many<ReplayPage["rows"][number]>(
    coversDefaultTypes ? byId(owner, range) : byType(owner, range),
  );
  return { rows: rows.slice(0, range.limit), hasMore: rows.length > range.limit };
}

/** Most rows of the log are wanted: read it in its order and leave out the others. */
const byId = (owner: ReplayOwner, range: ReplayRange): Sql => sql`
  select id, type, body from outbound_events
  where ${allOf([ownedAfter(owner, range), sql`type = any(${range.types}::text[])`, ...filtersOf(range)])}
  order by id limit ${boundOf(range)}`;

/** Perhaps few are: the beginnings of each type are put together, however many rows lie between. */
const byType = (owner: ReplayOwner, range: ReplayRange): Sql => sql`
  select e.id, e.type, e.body from unnest(${range.types}::text[]) as wanted(type)
  cross join lateral (
    select id, type, body from outbound_events
    where ${allOf([ownedAfter(owner, range), sql`type = wanted.type`, ...filtersOf(range)])}
    order by id limit ${boundOf(range)}
  ) e
  order by e.id limit ${boundOf(range)}`;

/**
 * One row more than a page, as a number in the text: with a parameter the planner does not know how little is read, never keeps a
 * plan, and planning a month of partitions takes longer than the read (7 ms against 1 ms on a busy machine).
 */
const boundOf = ({ limit }: ReplayRange): Sql => rawSql(limit <= 100 ? "101" : "501");

const ownedAfter = ({ organizationId, integrationId }: ReplayOwner, { afterId }: ReplayRange): Sql =>
  sql`integration_id = ${integrationId} and id > ${afterId} and organization_id = ${organizationId}`;

/** The device filter does not concern samples, which belong to no device. */
function filtersOf({ types, deviceUids, search }: ReplayRange): Sql[] {
  const filters: Sql[] = [];
  if (deviceUids.length > 0) {
    filters.push(sql`(device_uid = any(${deviceUids}::text[]) or type = 'webhook.test')`);
  }
  if (search !== undefined) {
    const found = types.filter((type) => type.includes(foldForSearch(search)));
    filters.push(sql`(type = any(${found}::text[]) or device_uid like ${containsPattern(search)})`);
  }
  return filters;
}

/** Of the integration, before all filters. */
export async function findOldestId(db: Db, owner: ReplayOwner, fromMs: number): Promise<string | undefined> {
  const { organizationId, integrationId } = owner;
  const row = await db.maybeOne<{ id: string }>`
    select id from outbound_events
    where integration_id = ${integrationId} and id >= ${uuidV7Floor(fromMs)} and organization_id = ${organizationId}
    order by id limit 1`;
  return row?.id;
}
