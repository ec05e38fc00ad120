import type { Db } from "../../db/database.ts";
import { allOf, sql } from "../../db/sql.ts";
import type { ListPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { booleanParam, choicesParam } from "../../http/query-params.ts";
import { locationSources } from "../devices/location-source.ts";
import { type HistoryOwner, historyPage, ownedBy, readOutward, timeFilters } from "./history-page.ts";
import type { LocationRow } from "./location-record.ts";
import type { TrackPoint, Window } from "./segments.ts";

export const locationList = defineList({
  kind: "cursor",
  ordering: ["ts"],
  defaultOrdering: "-ts",
  searches: "address, carrier",
  filters: {
    source: choicesParam("Where the position comes from.", locationSources),
    ...timeFilters,
    include_invalid: booleanParam("Also returns implausible positions."),
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
 * The limit is a parameter on purpose: a plan that is kept for `limit 1` looks cheap and locks every partition at each call,
 * with one that is made for the times of the call only the two or three in reach.
 */
const newestOnly = 1;

/** The valid position with the greatest ts. */
export const findLatestLocation = (db: Db, owner: HistoryOwner): Promise<LocationRow | undefined> =>
  readOutward(
    owner.last_seen_at ?? undefined,
    "down",
    (bound) =>
      db.maybeOne<LocationRow>(sql`
        select ${columns} from locations h where ${allOf([ownedBy(owner), sql`h.is_valid`, ...bound])}
        order by h.ts desc, h.id desc limit ${newestOnly}`),
    (row) => row !== undefined,
  );

const maxTrackPoints = 50_000;

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
    select ${select} from locations h where ${within} order by h.ts, h.id limit ${maxTrackPoints + 1}`);
  if (points.length <= maxTrackPoints) return points;
  const sliceSeconds = (toMs - fromMs) / maxTrackPoints / 1000;
  return db.many<TrackPoint>(sql`
    select distinct on (slice) "tsMs", lat, lng, "accuracyM", "speedKmh", address from (
      select ${select}, h.ts, h.id, floor(extract(epoch from h.ts - ${new Date(fromMs)}) / ${sliceSeconds}::float8) as slice
      from locations h where ${within}) sliced
    order by slice, ts, id`);
}
