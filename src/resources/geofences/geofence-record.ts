import { type Static, Type } from "@sinclair/typebox";
import { columnsOf } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { pick } from "../../lib/pick.ts";
import { GeofenceSchedule, toSchedule } from "./fence-schedule.ts";

/** `group` is a word of the API that no fence has: it is refused on every way in. */
export const fenceScopes = ["org", "group", "user", "device"] as const;
export const fenceTypes = ["circle"] as const;

export const FenceScope = StringEnum("GeofenceScopeEnum", fenceScopes);
export const FenceType = StringEnum("GeofenceTypeEnum", fenceTypes);

export const Center = Type.Object(
  {
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lng: Type.Number({ minimum: -180, maximum: 180 }),
  },
  { $id: "GeofenceCenter", description: "WGS84, decimal degrees." },
);

const commonFields = {
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  fence_type: refTo(FenceType),
  center: refTo(Center),
  radius: Type.Number({ description: "Metres." }),
  trigger_on_enter: Type.Boolean(),
  trigger_on_exit: Type.Boolean(),
  trigger_on_dwell: Type.Boolean(),
  dwell_threshold_seconds: Nullable(Type.Integer()),
};
const scopeFields = {
  is_active: Type.Boolean(),
  scope: refTo(FenceScope),
  group_id: Nullable(Uuid),
  user_id: Nullable(Type.String({ format: "uuid", description: "Only for scope user." })),
};
const times = { created_at: Timestamp, updated_at: Timestamp };

export const Geofence = Type.Object(
  {
    ...commonFields,
    ...scopeFields,
    device_count: Type.Integer({ description: "Live devices the fence applies to." }),
    ...times,
  },
  { $id: "Geofence" },
);
export type Geofence = Static<typeof Geofence>;

const GeofenceDevice = Type.Object({ uid: Type.String(), name: Type.String() }, { $id: "GeofenceDevice" });
export type GeofenceDevice = Static<typeof GeofenceDevice>;

export const GeofenceDetail = Type.Object(
  {
    ...commonFields,
    schedule: Nullable(refTo(GeofenceSchedule)),
    ...scopeFields,
    devices: Type.Array(refTo(GeofenceDevice), { description: "Linked live devices; empty for other scopes." }),
    ...times,
  },
  { $id: "GeofenceDetail" },
);
export type GeofenceDetail = Static<typeof GeofenceDetail>;

/** Fields that a caller writes and that are stored as they are. */
export const verbatimFields = [
  "name",
  "description",
  "trigger_on_enter",
  "trigger_on_exit",
  "trigger_on_dwell",
  "dwell_threshold_seconds",
  "is_active",
] as const;

/** What a caller can write, in its stored form. */
export interface FenceFields extends Pick<Geofence, (typeof verbatimFields)[number]> {
  lat: number;
  lng: number;
  radius_m: number;
  schedule: GeofenceSchedule | null;
}

/** A row as lists read it. */
export interface FenceRow extends Omit<FenceFields, "schedule"> {
  id: string;
  organization_id: string;
  scope: "org" | "user" | "device";
  user_id: string | null;
  shape_revision: number;
  created_at: Date;
  updated_at: Date;
}

export interface FenceDetailRow extends FenceRow {
  schedule: GeofenceSchedule | null;
}

export const fenceColumns = sql`${columnsOf("g", verbatimFields)}, g.id, g.organization_id, g.lat, g.lng, g.radius_m,
  g.scope, g.user_id, g.shape_revision, g.created_at, g.updated_at`;
export const fenceDetailColumns = sql`${fenceColumns}, g.schedule`;
export const fenceTables = sql`geofences g`;

export const fieldsOf = (row: FenceDetailRow): FenceFields =>
  pick(row, [...verbatimFields, "lat", "lng", "radius_m", "schedule"]);

/** Written out, as in toDevice. */
const commonOf = (row: FenceRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  fence_type: "circle" as const,
  center: { lat: row.lat, lng: row.lng },
  radius: row.radius_m,
  trigger_on_enter: row.trigger_on_enter,
  trigger_on_exit: row.trigger_on_exit,
  trigger_on_dwell: row.trigger_on_dwell,
  dwell_threshold_seconds: row.dwell_threshold_seconds,
  is_active: row.is_active,
  scope: row.scope,
  group_id: null,
  user_id: row.user_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const toGeofence = (row: FenceRow, deviceCount: number): Geofence =>
  Object.assign(commonOf(row), { device_count: deviceCount });

export const toGeofenceDetail = (row: FenceDetailRow, devices: GeofenceDevice[]): GeofenceDetail =>
  Object.assign(commonOf(row), { schedule: row.schedule && toSchedule(row.schedule), devices });
