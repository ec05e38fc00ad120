import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import { type Cursor, type ListQuery, searchStart } from "../../http/lists.ts";
import { dateTimeParam, parseDateTime } from "../../http/query-params.ts";
import { invalidCursor } from "../../lib/errors.ts";

/**
 * Reads of one device's history from a table that is partitioned by time and never purged. What a read costs must not grow with
 * the history: rows are found by the key (device_id, ts, id), and every read is bounded in time on both sides as soon as
 * possible, because a read without bounds opens every week since the beginning (0.1 ms for each).
 */

/** A device that the caller may see. */
export interface HistoryOwner {
  id: string;
  organization_id: string;
  created_at: Date;
  last_seen_at: Date | null;
}

export interface HistorySource {
  select: Sql;
  /** The table under the name h. */
  from: Sql;
  where: readonly Sql[];
  search: Sql;
}

export const timeFilters = {
  ts_after: dateTimeParam("At or after this time."),
  ts_before: dateTimeParam("Before this time."),
};

type HistoryQuery = ListQuery<typeof timeFilters>;

/** A search over a history is bounded in time, whatever the caller asks for. */
export function withSearchWindow<Query extends HistoryQuery>(query: Query, now: Date): Query {
  if (query.search === undefined) return query;
  const { ts_after: after, ts_before: before } = query.filters;
  return { ...query, filters: { ...query.filters, ts_after: searchStart({ after, before }, now) } };
}

export const ownedBy = ({ id, organization_id }: HistoryOwner): Sql =>
  sql`h.organization_id = ${organization_id} and h.device_id = ${id}`;

const reachMs = 28 * 86_400_000;

/** Reads within four weeks of a time, and everything when that is not enough. The time decides only where is looked first. */
export async function readOutward<T>(
  start: Date | undefined,
  direction: "down" | "up",
  read: (bound: Sql[]) => Promise<T>,
  isEnough: (result: T) => boolean,
): Promise<T> {
  if (start) {
    const isDown = direction === "down";
    const edge = new Date(start.getTime() + (isDown ? -reachMs : reachMs));
    const near = await read([isDown ? sql`h.ts >= ${edge}` : sql`h.ts <= ${edge}`]);
    if (isEnough(near)) return near;
  }
  return read([]);
}

export function historyPage<Row extends { id: string; ts: Date }>(
  db: Db,
  owner: HistoryOwner,
  query: HistoryQuery,
  source: HistorySource,
): Promise<ListPage<Row>> {
  const { cursor, ordering } = query;
  const { ts_after, ts_before } = query.filters;
  const isBackwards = cursor?.side === "before";
  const direction = (ordering[0]?.descending ?? true) === isBackwards ? "up" : "down";
  const where = [ownedBy(owner), ...source.where];
  if (ts_after) where.push(sql`h.ts >= ${ts_after}`);
  if (ts_before) where.push(sql`h.ts < ${ts_before}`);
  // The page compares (ts, id), by which no partition is left out; a bound on the time alone does that.
  const reached = cursor && timeOf(cursor);
  if (reached) where.push(direction === "down" ? sql`h.ts <= ${reached}` : sql`h.ts >= ${reached}`);
  const start =
    reached ?? (direction === "down" ? earliest(ts_before, owner.last_seen_at) : (ts_after ?? owner.created_at));
  return readOutward(
    start,
    direction,
    (bound) =>
      sqlCursorPage<Row>(db, query, {
        ...source,
        where: [...where, ...bound],
        ordering: { ts: { column: sql`h.ts` } },
        key: sql`h.id`,
        valueType: "timestamptz",
        keyType: "uuid",
        position: (row) => ({ value: row.ts.toISOString(), id: row.id }),
      }),
    // A page that knows of a row beyond it is complete.
    (page) => (isBackwards ? page.previous : page.next) !== null,
  );
}

/** Only a time as we write it: the database would refuse some of what else Date can read. */
function timeOf({ value }: Cursor): Date {
  const time = parseDateTime(value);
  if (time?.toISOString() !== value || time.getUTCFullYear() < 1) throw invalidCursor();
  return time;
}

const earliest = (a: Date | undefined, b: Date | null): Date | undefined =>
  a && b ? (a < b ? a : b) : (a ?? b ?? undefined);
