import type { Db, Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { assignmentRoles } from "../assignments/assignment-record.ts";
import { visibleDevices } from "../devices/device-store.ts";
import {
  type FenceDetailRow,
  type FenceFields,
  type FenceRow,
  fenceDetailColumns,
  fenceTables,
  type GeofenceDevice,
} from "./geofence-record.ts";

/**
 * The fences a caller may see: those of the organization. People below ADMIN see those that apply to everybody, those linked to
 * a device assigned to them, and those of themselves or of whoever holds such a device.
 */
export function visibleFences(principal: Principal): Sql {
  const organizationId = principal.organization.id;
  const own = sql`g.organization_id = ${organizationId} and g.deleted_at is null`;
  if (principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN")) return own;
  const mine = sql`select a.device_id from assignments a
    where a.user_id = ${principal.id} and a.organization_id = ${organizationId} and a.is_active`;
  const holders = sql`select h.user_id from assignments h
    where h.organization_id = ${organizationId} and h.is_active and h.role > ${assignmentRoles.viewer}
      and h.device_id in (${mine})`;
  const live = sql`f.organization_id = ${organizationId} and f.deleted_at is null`;
  // Each part has an index; as alternatives of one condition they would be looked for in every fence of the organization.
  return sql`${own} and g.id in (
    select f.id from geofences f where ${live} and f.scope = 'org'
    union all
    select f.id from geofences f where ${live} and f.user_id in (select ${principal.id}::uuid union ${holders})
    union all
    select l.geofence_id from geofence_devices l where l.device_id in (${mine}))`;
}

export async function getVisibleFence(db: Db, principal: Principal, id: string): Promise<FenceDetailRow> {
  const row = await db.maybeOne<FenceDetailRow>(sql`
    select ${fenceDetailColumns} from ${fenceTables} where ${allOf([visibleFences(principal), sql`g.id = ${id}`])}`);
  if (!row) throw notFound();
  return row;
}

/** The live devices that are linked, as far as the caller sees them. */
export const listLinkedDevices = (db: Db, principal: Principal, fence: FenceRow): Promise<GeofenceDevice[]> =>
  fence.scope === "device"
    ? db.many<GeofenceDevice>(sql`
        select d.uid, d.name from geofence_devices l join devices d on d.id = l.device_id
        where l.geofence_id = ${fence.id} and ${visibleDevices(principal)} order by d.uid`)
    : Promise.resolve([]);

/** The IMEIs of the live devices that are linked, in order. */
export async function linkedUids(db: Db, { id, organization_id }: FenceRow): Promise<string[]> {
  const rows = await db.many<{ uid: string }>`
    select d.uid from geofence_devices l join devices d on d.id = l.device_id
    where l.geofence_id = ${id} and d.organization_id = ${organization_id} and d.deleted_at is null
    order by d.uid`;
  return rows.map(({ uid }) => uid);
}

export async function lockFence(tx: Tx, organizationId: string, id: string): Promise<FenceDetailRow> {
  const row = await tx.maybeOne<FenceDetailRow>(sql`
    select ${fenceDetailColumns} from ${fenceTables}
    where g.organization_id = ${organizationId} and g.id = ${id} and g.deleted_at is null for update of g`);
  if (!row) throw notFound();
  return row;
}

interface FenceTable extends FenceFields, Omit<FenceRow, keyof FenceFields> {
  search: string;
}
const fences = table<FenceTable>("geofences", "g");

const searchOf = ({ name, description }: FenceFields): string => searchText([name, description]);

export const insertFence = (
  tx: Tx,
  organizationId: string,
  fields: FenceFields,
  target: Pick<FenceRow, "scope" | "user_id">,
  now: Date,
): Promise<FenceDetailRow> => {
  const row = fences.insert({
    ...fields,
    id: newUuid(),
    organization_id: organizationId,
    scope: target.scope,
    user_id: target.user_id,
    shape_revision: 1,
    search: searchOf(fields),
    created_at: now,
    updated_at: now,
  });
  return tx.one<FenceDetailRow>(sql`${row} returning ${fenceDetailColumns}`);
};

/** Takes the fence as it was locked. */
export const storeFence = (
  tx: Tx,
  before: FenceRow,
  fields: FenceFields,
  shapeRevision: number,
  now: Date,
): Promise<FenceDetailRow> => {
  const values = { ...fields, shape_revision: shapeRevision, search: searchOf(fields), updated_at: now };
  return tx.one<FenceDetailRow>(sql`
    update geofences g set ${fences.assign(values)}
    where g.organization_id = ${before.organization_id} and g.id = ${before.id}
    returning ${fenceDetailColumns}`);
};
