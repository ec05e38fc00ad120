import type { Db } from "../../db/database.ts";
import { assignmentRoles } from "../assignments/assignment-record.ts";
import type { FenceRow } from "./geofence-record.ts";

type Counted = Pick<FenceRow, "id" | "scope" | "user_id">;

/** How many live devices each fence applies to, in one statement per scope that there is. */
export async function countFenceDevices(
  db: Db,
  organizationId: string,
  fences: readonly Counted[],
): Promise<(fence: Counted) => number> {
  const linked = fences.filter(({ scope }) => scope === "device").map(({ id }) => id);
  const users = fences.flatMap(({ user_id }) => user_id ?? []);
  const [byFence, byUser, all] = await Promise.all([
    linked.length > 0 ? countLinked(db, organizationId, linked) : new Map<string, number>(),
    users.length > 0 ? countHeld(db, organizationId, users) : new Map<string, number>(),
    fences.some(({ scope }) => scope === "org") ? countAll(db, organizationId) : 0,
  ]);
  return ({ id, scope, user_id }) => {
    if (scope === "org") return all;
    return (scope === "device" ? byFence.get(id) : byUser.get(user_id ?? "")) ?? 0;
  };
}

interface Count {
  id: string;
  count: number;
}
const toMap = (rows: readonly Count[]): Map<string, number> => new Map(rows.map(({ id, count }) => [id, count]));

const countLinked = async (db: Db, organizationId: string, ids: readonly string[]): Promise<Map<string, number>> =>
  toMap(
    await db.many<Count>`
      select l.geofence_id as id, count(*) as count
      from geofence_devices l join devices d on d.id = l.device_id and d.organization_id = ${organizationId}
      where l.geofence_id = any(${ids}::uuid[]) and d.deleted_at is null
      group by l.geofence_id`,
  );

const countHeld = async (db: Db, organizationId: string, userIds: readonly string[]): Promise<Map<string, number>> =>
  toMap(
    await db.many<Count>`
      select a.user_id as id, count(*) as count
      from assignments a join devices d on d.id = a.device_id and d.organization_id = a.organization_id
      where a.organization_id = ${organizationId} and a.user_id = any(${userIds}::uuid[]) and a.is_active
        and a.role > ${assignmentRoles.viewer} and d.deleted_at is null
      group by a.user_id`,
  );

const countAll = async (db: Db, organizationId: string): Promise<number> =>
  (
    await db.one<{ count: number }>`
      select count(*) as count from devices where organization_id = ${organizationId} and deleted_at is null`
  ).count;
