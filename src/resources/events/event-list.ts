import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import {
  booleanParam,
  commaListSchema,
  dateTimeParam,
  imeiParam,
  type QueryParam,
  QueryValueError,
  uuidParam,
} from "../../http/query-params.ts";
import { isUuid } from "../../lib/ids.ts";
import { type EventRow, eventColumns, eventTables, eventTypeNames, severityNames } from "./event-record.ts";
import { visibleEvents } from "./event-store.ts";
import { eventTypes, severities } from "./event-types.ts";

/** Labels or their numbers, one or several separated by commas, as numbers. */
function labelsParam(description: string, numbers: Readonly<Record<string, number>>): QueryParam<number[]> {
  const labels = Object.entries(numbers);
  const known = new Map(labels.flatMap(([label, number]) => [[label, number] as const, [String(number), number]]));
  const listed = labels.map(([label, number]) => `${label} (${number})`).join(", ");
  return {
    description: `${description} Labels or numbers, one or a comma-separated list: ${listed}.`,
    schema: commaListSchema({ type: "string", enum: Object.keys(numbers) }),
    parse: (text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
        .map((part) => {
          const number = known.get(part);
          if (number === undefined) throw new QueryValueError(`"${part}" is not a valid choice.`);
          return number;
        }),
  };
}

const typeNumbers = Object.fromEntries(eventTypeNames.map((name) => [name, eventTypes[name].number]));
const severityNumbers = Object.fromEntries(severityNames.map((name) => [name, severities[name]]));

export const eventList = defineList({
  kind: "cursor",
  ordering: ["ts"],
  defaultOrdering: "-ts",
  searches: "title, device uid",
  filters: {
    acknowledged: booleanParam("Whether the event is acknowledged."),
    device: uuidParam("The id of the device."),
    device_uid: imeiParam("The IMEI of the device, also of a deleted one."),
    event_type: labelsParam("The type.", typeNumbers),
    fence_id: {
      description: "The id of the geofence. An unknown id returns an empty list.",
      schema: { type: "string" },
      parse: (text) => (isUuid(text) ? text : null),
    } satisfies QueryParam<string | null>,
    severity: labelsParam("The severity.", severityNumbers),
    ts_after: dateTimeParam("At or after this time."),
    ts_before: dateTimeParam("Before this time."),
  },
});

type EventQuery = ListQuery<(typeof eventList)["filters"]>;

/** One value is compared plainly: only then can the planner take the order from the index. */
const isOneOf = (column: Sql, numbers: readonly number[]): Sql =>
  numbers.length === 1 ? sql`${column} = ${numbers[0]}` : sql`${column} = any(${numbers}::smallint[])`;

/** An organization has one row of an IMEI, live or deleted. Both are looked for apart, because each has an index of its own. */
const deviceOf = (organizationId: string, uid: string): Sql => sql`e.device_id = coalesce(
  (select live.id from devices live
   where live.organization_id = ${organizationId} and live.uid = ${uid} and live.deleted_at is null),
  (select former.id from devices former
   where former.organization_id = ${organizationId} and former.uid = ${uid} and former.deleted_at is not null
   order by former.deleted_at desc limit 1))`;

function conditions(principal: Principal, { filters }: EventQuery): Sql[] {
  const where = [visibleEvents(principal)];
  const { acknowledged, device, device_uid, event_type, fence_id, severity, ts_after, ts_before } = filters;
  if (acknowledged !== undefined) {
    where.push(acknowledged ? sql`e.acknowledged_at is not null` : sql`e.acknowledged_at is null`);
  }
  if (device !== undefined) where.push(sql`e.device_id = ${device}`);
  if (device_uid !== undefined) {
    where.push(device_uid === null ? sql`false` : deviceOf(principal.organization.id, device_uid));
  }
  if (event_type !== undefined) where.push(isOneOf(sql`e.event_type`, event_type));
  if (fence_id !== undefined) where.push(fence_id === null ? sql`false` : sql`e.fence_id = ${fence_id}`);
  if (severity !== undefined) where.push(isOneOf(sql`e.severity`, severity));
  if (ts_after !== undefined) where.push(sql`e.ts >= ${ts_after}`);
  if (ts_before !== undefined) where.push(sql`e.ts < ${ts_before}`);
  return where;
}

export const listEvents = (db: Db, principal: Principal, query: EventQuery): Promise<ListPage<EventRow>> =>
  sqlCursorPage<EventRow>(db, query, {
    select: eventColumns,
    from: eventTables,
    where: conditions(principal, query),
    search: sql`e.search`,
    ordering: { ts: { column: sql`e.ts` } },
    key: sql`e.id`,
    valueType: "timestamptz",
    keyType: "uuid",
    position: (row) => ({ value: row.ts.toISOString(), id: row.id }),
  });
