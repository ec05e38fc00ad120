import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";

export const formerDeviceList = defineList({
  kind: "page",
  ordering: ["deleted_at", "uid", "name"],
  defaultOrdering: "-deleted_at",
  searches: "uid, name, tags",
  filters: {},
});

export interface FormerDevice {
  id: string;
  uid: string;
  name: string;
  device_model_slug: string;
  deleted_at: Date;
}

/** Devices that the organization deleted and can take back: of each IMEI the last one, unless it is live again. */
export const listFormerDevices = (
  db: Db,
  organizationId: string,
  query: ListQuery<(typeof formerDeviceList)["filters"]>,
): Promise<ListPage<FormerDevice>> =>
  sqlPage<FormerDevice>(db, query, {
    select: sql`d.id, d.uid, d.name, d.device_model_slug, d.deleted_at`,
    from: sql`devices d`,
    where: [
      sql`d.organization_id = ${organizationId} and d.deleted_at is not null`,
      sql`not exists (
        select from devices later where later.organization_id = ${organizationId} and later.uid = d.uid
          and (later.deleted_at is null or (later.deleted_at, later.id) > (d.deleted_at, d.id)))`,
    ],
    search: sql`d.search`,
    ordering: {
      deleted_at: { column: sql`d.deleted_at` },
      uid: { column: sql`d.uid` },
      name: { column: sql`d.name` },
    },
    key: sql`d.id`,
  });
