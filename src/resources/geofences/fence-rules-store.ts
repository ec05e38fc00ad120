import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { GeofenceSchedule } from "./fence-schedule.ts";

/** A fence as the rules see it: active, and with what it applies to. */
export interface FenceRule {
  id: string;
  name: string;
  lat: number;
  lng: number;
  radiusM: number;
  triggerOnEnter: boolean;
  triggerOnExit: boolean;
  triggerOnDwell: boolean;
  dwellThresholdSeconds: number | null;
  schedule: GeofenceSchedule | null;
  scope: "org" | "user" | "device";
  userId: string | null;
  shapeRevision: number;
  /** The version of the organization's rules that brought this shape. */
  shapeVersion: number;
  createdAt: Date;
  updatedAt: Date;
  /** Of scope device; deleted devices are among them, they do not report. */
  links: FenceLink[];
}

export interface FenceLink {
  deviceId: string;
  linkedAt: Date;
}

const chunkSize = 5000;

/** All active fences of an organization, in chunks: a million of them is neither one answer nor one long statement. */
export async function* listFenceRules(db: Db, organizationId: string): AsyncGenerator<FenceRule[]> {
  for (let last = "00000000-0000-0000-0000-000000000000"; ; ) {
    const fences = await readFences(db, organizationId, sql`g.id > ${last} order by g.id limit ${chunkSize}`);
    if (fences.length > 0) yield withLinks(db, organizationId, fences);
    if (fences.length < chunkSize) return;
    last = (fences.at(-1) as FenceRule).id;
  }
}

/** Those of the given that are there and active; the others no longer apply to anything. */
export async function listFenceRulesById(db: Db, organizationId: string, ids: readonly string[]): Promise<FenceRule[]> {
  return withLinks(db, organizationId, await readFences(db, organizationId, sql`g.id = any(${ids}::uuid[])`));
}

async function readFences(db: Db, organizationId: string, condition: Sql): Promise<FenceRule[]> {
  const rows = await db.many<Omit<FenceRule, "links">>(sql`
    select g.id, g.name, g.lat, g.lng, g.radius_m as "radiusM", g.trigger_on_enter as "triggerOnEnter",
      g.trigger_on_exit as "triggerOnExit", g.trigger_on_dwell as "triggerOnDwell",
      g.dwell_threshold_seconds as "dwellThresholdSeconds", g.schedule, g.scope, g.user_id as "userId",
      g.shape_revision as "shapeRevision", g.shape_version as "shapeVersion", g.created_at as "createdAt",
      g.updated_at as "updatedAt"
    from geofences g
    where g.organization_id = ${organizationId} and g.is_active and g.deleted_at is null and ${condition}`);
  return rows.map((row) => ({ ...row, links: [] }));
}

async function withLinks(db: Db, organizationId: string, fences: FenceRule[]): Promise<FenceRule[]> {
  const byId = new Map(fences.filter(({ scope }) => scope === "device").map((fence) => [fence.id, fence]));
  if (byId.size === 0) return fences;
  const links = await db.many<FenceLink & { geofenceId: string }>`
    select geofence_id as "geofenceId", device_id as "deviceId", linked_at as "linkedAt" from geofence_devices
    where geofence_id = any(${[...byId.keys()]}::uuid[]) and organization_id = ${organizationId}`;
  for (const { geofenceId, deviceId, linkedAt } of links) byId.get(geofenceId)?.links.push({ deviceId, linkedAt });
  return fences;
}
