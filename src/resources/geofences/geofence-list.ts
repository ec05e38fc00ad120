import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import { booleanParam, choiceParam, imeiParam } from "../../http/query-params.ts";
import { visibleDevices } from "../devices/device-store.ts";
import { countFenceDevices } from "./fence-device-counts.ts";
import {
  type FenceRow,
  fenceColumns,
  fenceScopes,
  fenceTables,
  fenceTypes,
  type Geofence,
  toGeofence,
} from "./geofence-record.ts";
import { visibleFences } from "./geofence-store.ts";

export const geofenceList = defineList({
  kind: "page",
  ordering: ["name", "radius", "created_at", "updated_at"],
  defaultOrdering: "name",
  searches: "name, description",
  filters: {
    device_uid: imeiParam("Fences linked to the device with this IMEI."),
    fence_type: choiceParam("The type.", fenceTypes),
    is_active: booleanParam("Whether the geofence is active."),
    scope: choiceParam("What the fence applies to.", fenceScopes),
  },
});

type GeofenceQuery = ListQuery<(typeof geofenceList)["filters"]>;

function conditions(principal: Principal, { filters }: GeofenceQuery): Sql[] {
  const where = [visibleFences(principal)];
  const { device_uid, is_active, scope } = filters;
  if (device_uid === null) where.push(sql`false`);
  else if (device_uid !== undefined) {
    where.push(sql`g.id in (
      select l.geofence_id from geofence_devices l join devices d on d.id = l.device_id
      where ${visibleDevices(principal)} and d.uid = ${device_uid})`);
  }
  if (is_active !== undefined) where.push(is_active ? sql`g.is_active` : sql`not g.is_active`);
  if (scope !== undefined) where.push(sql`g.scope = ${scope}`);
  return where;
}

export async function listGeofences(db: Db, principal: Principal, query: GeofenceQuery): Promise<ListPage<Geofence>> {
  const page = await sqlPage<FenceRow>(db, query, {
    select: fenceColumns,
    from: fenceTables,
    where: conditions(principal, query),
    search: sql`g.search`,
    ordering: {
      name: { column: sql`g.name` },
      radius: { column: sql`g.radius_m` },
      created_at: { column: sql`g.created_at` },
      updated_at: { column: sql`g.updated_at` },
    },
    key: sql`g.id`,
  });
  const countOf = await countFenceDevices(db, principal.organization.id, page.rows);
  return { ...page, rows: page.rows.map((row) => toGeofence(row, countOf(row))) };
}
