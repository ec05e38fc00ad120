import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { imeiParam } from "../../http/query-params.ts";
import { networkOf } from "../../lib/network-of.ts";
import { listThrottledNetworks, type UnknownDevice } from "../../resources/devices/unknown-device-store.ts";

export interface ListedUnknownDevice extends UnknownDevice {
  /** Until when logins from its network are answered slowly; null: they are not. */
  throttled_until: Date | null;
}

export const unknownDeviceList = defineList({
  kind: "page",
  ordering: ["last_seen_at", "first_seen_at", "count", "imei"],
  defaultOrdering: "-last_seen_at",
  searches: "nothing",
  filters: { uid: imeiParam("The IMEI.") },
});

/** Of all organizations, and of none: for operators alone. */
export async function listUnknownToOperators(
  db: Db,
  query: ListQuery<(typeof unknownDeviceList)["filters"]>,
  now: Date,
): Promise<ListPage<ListedUnknownDevice>> {
  const { uid } = query.filters;
  const page = await sqlPage<UnknownDevice>(
    db,
    { ...query, search: undefined },
    {
      select: sql`u.imei, u.protocol, u.remote_addr, u.count, u.first_seen_at, u.last_seen_at`,
      from: sql`unknown_devices u`,
      where: [uid === undefined ? sql`true` : sql`u.imei = ${uid}`],
      search: sql`''`,
      ordering: {
        last_seen_at: { column: sql`u.last_seen_at` },
        first_seen_at: { column: sql`u.first_seen_at` },
        count: { column: sql`u.count` },
        imei: { column: sql`u.imei` },
      },
      key: sql`(u.imei || ' ' || u.protocol)`,
    },
  );
  const throttled = await listThrottledNetworks(db, now);
  const untilOf = new Map(throttled.map(({ network, throttled_until }) => [network, throttled_until]));
  const rows = page.rows.map((row) => ({ ...row, throttled_until: untilOf.get(networkOf(row.remote_addr)) ?? null }));
  return { ...page, rows };
}
