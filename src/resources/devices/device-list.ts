import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, type PageSource, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import { booleanParam, textsParam } from "../../http/query-params.ts";
import { type DeviceRow, deviceColumns, deviceTables } from "./device-record.ts";
import { seesAllDevices, visibleDevices } from "./device-store.ts";

export const deviceList = defineList({
  kind: "page",
  ordering: ["uid", "name", "device_model_slug", "is_online", "last_seen_at", "created_at"],
  defaultOrdering: "uid",
  searches: "uid, name, tags",
  filters: {
    device_model_slug: textsParam("The model."),
    protocol_slug: textsParam("The protocol."),
    is_online: booleanParam("Whether the device is online."),
    tags: textsParam("Devices with any of these tags."),
  },
});

export type DeviceQuery = ListQuery<(typeof deviceList)["filters"]>;

export function deviceConditions(principal: Principal, { filters }: Pick<DeviceQuery, "filters">): Sql[] {
  const where = [visibleDevices(principal)];
  if (filters.device_model_slug) where.push(sql`d.device_model_slug = any(${filters.device_model_slug}::text[])`);
  if (filters.protocol_slug) where.push(sql`d.protocol_slug = any(${filters.protocol_slug}::text[])`);
  if (filters.tags) where.push(sql`d.tags && ${filters.tags}::text[]`);
  if (filters.is_online !== undefined) where.push(filters.is_online ? sql`s.is_online` : sql`s.is_online is not true`);
  return where;
}

/** What the device last said of its battery; null for one that never did. */
const batteryPercent = sql`(s.last_status -> 'bat' ->> 'value')::float8`;

/** What narrows the list by more than it has filters for. `ofState`: conditions on the state rows `s` alone. */
export interface FurtherConditions {
  ofState: readonly Sql[];
  others: readonly Sql[];
}

/** Presence is in the state rows, which say themselves whether their device lives. */
function presenceSource(principal: Principal, { filters }: DeviceQuery, ofState: readonly Sql[]): PageSource["narrow"] {
  const { is_online, ...others } = filters;
  if (!seesAllDevices(principal) || Object.values(others).some((value) => value !== undefined)) return undefined;
  return {
    from: sql`device_state s`,
    where: [
      sql`s.organization_id = ${principal.organization.id} and s.is_live`,
      ...(is_online === undefined ? [] : [sql`s.is_online = ${is_online}`]),
      ...ofState,
    ],
    ordering: {
      is_online: { column: sql`s.is_online` },
      last_seen_at: { column: sql`s.last_seen_at`, nullable: true, coarse: sql`s.seen_slot` },
    },
    key: sql`s.device_id`,
  };
}

export function listDevices(
  db: Db,
  principal: Principal,
  query: DeviceQuery,
  { ofState, others }: FurtherConditions = { ofState: [], others: [] },
): Promise<ListPage<DeviceRow>> {
  const narrow = others.length === 0 ? presenceSource(principal, query, ofState) : undefined;
  const source: PageSource = {
    select: deviceColumns,
    from: deviceTables,
    where: [...deviceConditions(principal, query), ...ofState, ...others],
    search: sql`d.search`,
    ordering: {
      uid: { column: sql`d.uid` },
      name: { column: sql`d.name` },
      device_model_slug: { column: sql`d.device_model_slug` },
      is_online: { column: sql`coalesce(s.is_online, false)` },
      last_seen_at: { column: sql`s.last_seen_at`, nullable: true },
      created_at: { column: sql`d.created_at` },
      battery: { column: batteryPercent, nullable: true },
    },
    key: sql`d.id`,
    ...(narrow ? { narrow } : {}),
  };
  return sqlPage<DeviceRow>(db, query, source);
}
