import type { Db } from "../../db/database.ts";
import { allOf, sql } from "../../db/sql.ts";
import type { ListPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { textsParam } from "../../http/query-params.ts";
import { type HistoryOwner, historyPage, ownedBy, readOutward, timeFilters } from "../locations/history-page.ts";

export interface TelemetryRow {
  id: string;
  ts: Date;
  device_ts: Date | null;
  received_at: Date;
  data: Record<string, unknown>;
}

export const telemetryList = defineList({
  kind: "cursor",
  ordering: ["ts"],
  defaultOrdering: "-ts",
  searches: "keys of `data`",
  filters: {
    metric: textsParam("Rows whose `data` has one of these keys; the rows are returned whole."),
    ...timeFilters,
  },
});

type TelemetryQuery = ListQuery<(typeof telemetryList)["filters"]>;

export function listTelemetry(db: Db, owner: HistoryOwner, query: TelemetryQuery): Promise<ListPage<TelemetryRow>> {
  const { metric } = query.filters;
  return historyPage<TelemetryRow>(db, owner, query, {
    select: sql`h.id, h.ts, h.device_ts, h.received_at, h.data`,
    from: sql`telemetry h`,
    where: metric ? [sql`h.data ?| ${metric}::text[]`] : [],
    search: sql`(select lower(string_agg(key, e'\n')) from jsonb_object_keys(h.data) as key)`,
  });
}

/** How many rows the latest readings are merged from (section 6). */
const mergedRows = 50;

/** The rows with the greatest ts, newest first. */
export const newestTelemetry = (db: Db, owner: HistoryOwner): Promise<Pick<TelemetryRow, "ts" | "data">[]> =>
  readOutward(
    owner.last_seen_at ?? undefined,
    "down",
    (bound) =>
      db.many<Pick<TelemetryRow, "ts" | "data">>(sql`
        select h.ts, h.data from telemetry h where ${allOf([ownedBy(owner), ...bound])}
        order by h.ts desc, h.id desc limit ${mergedRows}`),
    (rows) => rows.length === mergedRows,
  );
