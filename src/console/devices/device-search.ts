import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { containing, type ListPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import { choiceParam, textsParam } from "../../http/query-params.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import {
  deviceConditions,
  deviceList,
  type FurtherConditions,
  listDevices,
} from "../../resources/devices/device-list.ts";
import type { DeviceRow } from "../../resources/devices/device-store.ts";
import { severities } from "../../resources/events/event-types.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A position that old may no longer be where the person is; the same as in the pages. */
const staleAfterMs = 2 * hourMs;
const slotMs = minuteMs / 2;

/** The devices one may see, as the list of the console filters and sorts them. */
export const deviceSearchList = defineList({
  ...deviceList,
  ordering: [...deviceList.ordering, "battery"],
  defaultOrdering: "name",
  searches: "uid, name, tags, model, and the people who hold the device",
  filters: {
    ...deviceList.filters,
    uid: textsParam("Devices with these IMEIs."),
    state: choiceParam("How the device is drawn.", ["alarm", "online", "stale", "offline"]),
    battery: choiceParam("Below 20 %, below 50 %, or never reported.", ["low", "half", "unknown"]),
    seen: choiceParam("When the device was last heard of.", ["hour", "day", "older", "never"]),
  },
});

export type DeviceSearch = ListQuery<(typeof deviceSearchList)["filters"]>;

/** What nobody has acknowledged and asks for somebody. */
const inAlarm = (principal: Principal): Sql => sql`s.device_id in (
  select e.device_id from events e
  where e.organization_id = ${principal.organization.id} and e.deleted_at is null and e.acknowledged_at is null
    and e.severity in (${severities.critical}, ${severities.warning}))`;

function stateCondition(principal: Principal, state: string, now: Date): Sql {
  const alarm = inAlarm(principal);
  if (state === "alarm") return alarm;
  if (state === "offline") return sql`not s.is_online and not (${alarm})`;
  const stale = sql`coalesce(s.located_at < ${new Date(now.getTime() - staleAfterMs)}, false)`;
  return sql`s.is_online and not (${alarm}) and ${state === "stale" ? stale : sql`not ${stale}`}`;
}

/** The bands of the column: below 20 %, below 50 %, the others. */
function batteryCondition(battery: string): Sql {
  if (battery === "unknown") return sql`s.battery_band is null`;
  return battery === "low" ? sql`s.battery_band = 1` : sql`s.battery_band in (1, 2)`;
}

/** The time itself has no index, the half minute it lies in has. */
function seenCondition(seen: string, now: Date): Sql {
  if (seen === "never") return sql`s.seen_slot is null`;
  const limit = new Date(now.getTime() - (seen === "hour" ? hourMs : dayMs));
  const slot = Math.floor(limit.getTime() / slotMs);
  return seen === "older"
    ? sql`s.seen_slot <= ${slot} and s.last_seen_at < ${limit}`
    : sql`s.seen_slot >= ${slot} and s.last_seen_at >= ${limit}`;
}

/** Whoever finds more people than this with a word is looking for something else. */
const maxHeldDevices = 500;

/**
 * By IMEI, name and tag, by the model, and by the people who hold the device. Each branch has an index of its own, and a table
 * without statistics, as after a large import, is read once in full and no more often.
 */
function textCondition(principal: Principal, search: string, catalog: Catalog): Sql {
  const organizationId = principal.organization.id;
  const wanted = search.toLowerCase();
  const models = catalog.models.filter(({ slug, name, manufacturer }) =>
    [slug, name, manufacturer].some((text) => text.toLowerCase().includes(wanted)),
  );
  // Of a list that it does not know, a kept plan assumes that it names every model, and reads all devices.
  const byModel =
    models.length === 0 ? sql`` : sql`or d.device_model_slug = any(${models.map(({ slug }) => slug)}::text[])`;
  return sql`(${containing(sql`d.search`, search)} ${byModel}
    or d.id = any(array(
      select a.device_id from memberships m
      join assignments a on a.organization_id = m.organization_id and a.user_id = m.user_id and a.is_active
      where m.organization_id = ${organizationId} and m.is_open and ${containing(sql`m.search`, search)}
      limit ${maxHeldDevices})))`;
}

/** Conditions on the state rows say that their device lives, as the indexes of these rows do. */
function furtherConditions(
  principal: Principal,
  { filters, search }: Pick<DeviceSearch, "filters" | "search">,
  catalog: Catalog,
  now: Date,
): FurtherConditions {
  const { uid, state, battery, seen } = filters;
  const ofState = [
    ...(state === undefined ? [] : [stateCondition(principal, state, now)]),
    ...(battery === undefined ? [] : [batteryCondition(battery)]),
    ...(seen === undefined ? [] : [seenCondition(seen, now)]),
  ];
  return {
    ofState: ofState.length === 0 ? [] : [sql`s.is_live`, ...ofState],
    others: [
      ...(search === undefined ? [] : [textCondition(principal, search, catalog)]),
      ...(uid === undefined ? [] : [sql`d.uid = any(${uid}::text[])`]),
    ],
  };
}

/** The filters that the list for partners has too; the others are conditions of their own. */
const deviceFilters = ({ filters }: Pick<DeviceSearch, "filters">) => {
  const { uid: _uid, state: _state, battery: _battery, seen: _seen, ...others } = filters;
  return others;
};

export const searchDevices = (
  db: Db,
  principal: Principal,
  query: DeviceSearch,
  catalog: Catalog,
  now: Date,
): Promise<ListPage<DeviceRow>> =>
  listDevices(
    db,
    principal,
    { ...query, search: undefined, filters: deviceFilters(query) },
    furtherConditions(principal, query, catalog, now),
  );

/** Every condition of the query, for whoever reads all rows. */
export const searchConditions = (
  principal: Principal,
  query: Pick<DeviceSearch, "filters" | "search">,
  catalog: Catalog,
  now: Date,
): Sql[] => {
  const { ofState, others } = furtherConditions(principal, query, catalog, now);
  return [...deviceConditions(principal, { filters: deviceFilters(query) }), ...ofState, ...others];
};
