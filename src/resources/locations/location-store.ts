import type { Db } from "../../db/database.ts";
import { allOf, sql } from "../../db/sql.ts";
import type { ListPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { booleanParam, choicesParam } from "../../http/query-params.ts";
import { type HistoryOwner, historyPage, ownedBy, timeFilters } from "./history-page.ts";
import type { LocationRow } from "./location-record.ts";
import { locationSources } from "./location-source.ts";
import type { TrackPoint, Window } from "./segments.ts";

export const locationList = defineList({
  kind: "cursor",
  ordering: ["ts"],
  defaultOrdering: "-ts",
  searches: "address, carrier",
  filters: {
    source: choicesParam("Where the position comes from.", locationSources),
    ...timeFilters,
    include_invalid: booleanParam("Implausible positions too."),
  },
});

type LocationQuery = ListQuery<(typeof locationList)["filters"]>;

const columns = sql`h.id, h.ts, h.device_ts, h.received_at, h.lat, h.lng, h.altitude_m, h.speed_kmh, h.heading, h.accuracy_m,
  h.source, h.satellites, h.is_valid, h.invalid_reason, h.is_moving, h.carrier, h.mcc, h.mnc, h.address`;

export function listLocations(db: Db, owner: HistoryOwner, query: LocationQuery): Promise<ListPage<LocationRow>> {
  const { source, include_invalid } = query.filters;
  return historyPage<LocationRow>(db, owner, query, {
    select: columns,
    from: sql`locations h`,
    where: [...(include_invalid ? [] : [sql`h.is_valid`]), ...(source ? [sql`h.source = any(${source}::text[])`] : [])],
    // The busiest table has no column for folded text: lower() of a server with locale C leaves letters beyond ASCII alone.
    search: sql`lower(concat_ws(e'\n', h.address, h.carrier))`,
  });
}

/**
 * The valid position with the greatest ts. The last location that the device's state knows is a place to start from: whatever
 * it is, nothing older than it can be newer than what is found from there on, and only few partitions are opened.
 */
export async function findLatestLocation(
  db: Db,
  owner: HistoryOwner,
  knownTs: string | undefined,
): Promise<LocationRow | undefined> {
  const newest = (from: string | undefined): Promise<LocationRow | undefined> =>
    db.maybeOne<LocationRow>(sql`
      select ${columns} from locations h
      where ${allOf([ownedBy(owner), sql`h.is_valid`, ...(from ? [sql`h.ts >= ${from}::timestamptz`] : [])])}
      order by h.ts desc, h.id desc limit 1`);
  return (knownTs ? await newest(knownTs) : undefined) ?? newest(undefined);
}

const mostTrackPoints = 50_000;

/**
 * The valid positions in a window, in time order. A window that holds more than the most is read again with one position per
 * equal slice of it: coarser, but from its beginning to its end.
 */
export async function readTrack(db: Db, owner: HistoryOwner, window: Window): Promise<TrackPoint[]> {
  const { fromMs, toMs } = window;
  const select = sql`(extract(epoch from h.ts) * 1000)::float8 as "tsMs", h.lat, h.lng, h.accuracy_m as "accuracyM",
    h.speed_kmh as "speedKmh", h.address`;
  const within = sql`${ownedBy(owner)} and h.is_valid and h.ts >= ${new Date(fromMs)} and h.ts < ${new Date(toMs)}`;
  const points = await db.many<TrackPoint>(sql`
    select ${select} from locations h where ${within} order by h.ts, h.id limit ${mostTrackPoints + 1}`);
  if (points.length <= mostTrackPoints) return points;
  const sliceSeconds = (toMs - fromMs) / mostTrackPoints / 1000;
  return db.many<TrackPoint>(sql`
    select distinct on (slice) "tsMs", lat, lng, "accuracyM", "speedKmh", address from (
      select ${select}, h.ts, h.id, floor(extract(epoch from h.ts - ${new Date(fromMs)}) / ${sliceSeconds}::float8) as slice
      from locations h where ${within}) sliced
    order by slice, ts, id`);
}
