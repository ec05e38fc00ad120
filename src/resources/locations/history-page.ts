import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import type { ListQuery } from "../../http/lists.ts";
import { dateTimeParam } from "../../http/query-params.ts";

/** Whose history is read: a device that the caller may see. */
export interface HistoryOwner {
  id: string;
  organization_id: string;
}

export interface HistorySource {
  select: Sql;
  /** A table with the key (device_id, ts, id), partitioned by ts, under the name h. */
  from: Sql;
  where: readonly Sql[];
  search: Sql;
}

export const timeFilters = {
  ts_after: dateTimeParam("From this time on, inclusive."),
  ts_before: dateTimeParam("Before this time, exclusive."),
};

type HistoryQuery = ListQuery<typeof timeFilters>;

export const ownedBy = ({ id, organization_id }: HistoryOwner): Sql =>
  sql`h.organization_id = ${organization_id} and h.device_id = ${id}`;

/** One page of a device's history. Its cost does not depend on how much history lies outside the page. */
export function historyPage<Row extends { id: string; ts: Date }>(
  db: Db,
  owner: HistoryOwner,
  query: HistoryQuery,
  source: HistorySource,
): Promise<ListPage<Row>> {
  const { ts_after, ts_before } = query.filters;
  const where = [ownedBy(owner), ...source.where, ...cursorBound(query)];
  if (ts_after) where.push(sql`h.ts >= ${ts_after}`);
  if (ts_before) where.push(sql`h.ts < ${ts_before}`);
  return sqlCursorPage<Row>(db, query, {
    ...source,
    where,
    ordering: { ts: { column: sql`h.ts` } },
    key: sql`h.id`,
    valueType: "timestamptz",
    keyType: "uuid",
    position: (row) => ({ value: row.ts.toISOString(), id: row.id }),
  });
}

/** Partitions are pruned by a bound on the time alone, not by the comparison of (ts, id) that the page itself makes. */
function cursorBound({ cursor, ordering }: HistoryQuery): Sql[] {
  if (!cursor) return [];
  const isDescending = ordering[0]?.descending !== (cursor.side === "before");
  return [isDescending ? sql`h.ts <= ${cursor.value}::timestamptz` : sql`h.ts >= ${cursor.value}::timestamptz`];
}
