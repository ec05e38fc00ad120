import type { Db } from "../db/database.ts";
import { allOf, sql } from "../db/sql.ts";
import type { Principal } from "../http/principal.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { type Device, deviceTables, modelFieldsOf } from "../resources/devices/device-record.ts";
import { visibleDevices } from "../resources/devices/device-store.ts";
import { visibleEvents } from "../resources/events/event-store.ts";

/** Of a device what the map and the lists show, so that a large fleet is read in few, small pages. */
export interface FleetDevice
  extends Pick<
    Device,
    | "uid"
    | "name"
    | "tags"
    | "device_model_name"
    | "is_online"
    | "last_seen_at"
    | "status_changed_at"
    | "last_location"
    | "last_status"
  > {
  /** Who holds it, for the search. */
  people: string[];
}

export interface FleetPage {
  results: FleetDevice[];
  /** The IMEI to go on after; null: this was the last page. */
  next: string | null;
}

const pageSize = 1000;
const maxPeople = 10;

const displayName = sql`coalesce(nullif(trim(m.first_name || ' ' || m.last_name), ''), m.email)`;

interface FleetRow extends Omit<FleetDevice, "device_model_name" | "last_seen_at" | "status_changed_at"> {
  device_model_slug: string;
  last_seen_at: Date | null;
  status_changed_at: Date | null;
}

/** The next page of the devices that a person may see, or those of the given ones. */
export async function listFleet(
  db: Db,
  principal: Principal,
  { after, uids }: { after: string; uids: readonly string[] | undefined },
  catalog: Catalog,
): Promise<FleetPage> {
  const chosen = uids === undefined ? sql`d.uid > ${after}` : sql`d.uid = any(${uids}::text[])`;
  const rows = await db.many<FleetRow>(sql`
    select d.uid, d.name, d.tags, d.device_model_slug, coalesce(s.is_online, false) as is_online, s.last_seen_at,
      s.status_changed_at, s.last_location,
      case when s.last_status->'bat' is null then '{}' else json_build_object('bat', s.last_status->'bat') end as last_status,
      array(select ${displayName} from assignments a
        join memberships m on m.organization_id = a.organization_id and m.user_id = a.user_id
        where a.organization_id = d.organization_id and a.device_id = d.id and a.is_active
        order by a.role desc, a.assigned_at limit ${maxPeople}) as people
    from ${deviceTables} where ${allOf([visibleDevices(principal), chosen])}
    order by d.uid limit ${pageSize}`);
  const results = rows.map(({ device_model_slug, last_seen_at, status_changed_at, ...row }) => ({
    ...row,
    device_model_name: modelFieldsOf(catalog, device_model_slug).device_model_name,
    last_seen_at: last_seen_at?.toISOString() ?? null,
    status_changed_at: status_changed_at?.toISOString() ?? null,
  }));
  return { results, next: results.length < pageSize ? null : (results.at(-1)?.uid ?? null) };
}

/** What was done about an alarm: who took it, and the note. */
export interface Acknowledgement {
  event_id: string;
  /** Null for a partner. */
  name: string | null;
  notes: string | null;
}

/** Of these events those that are acknowledged and that the person may see. */
export const listAcknowledgements = (
  db: Db,
  principal: Principal,
  eventIds: readonly string[],
): Promise<Acknowledgement[]> =>
  db.many<Acknowledgement>(sql`
    select e.id as event_id, ${displayName} as name, e.notes from events e
    left join memberships m on m.organization_id = e.organization_id and m.user_id = e.acknowledged_by
    where ${allOf([visibleEvents(principal), sql`e.id = any(${eventIds}::uuid[])`])} and e.acknowledged_at is not null`);
