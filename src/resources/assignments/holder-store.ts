import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { assignmentRoles } from "./assignment-record.ts";

/** An active owner or assigned user of a device: whoever the rules of scope user reach the device through. */
export interface Holder {
  deviceId: string;
  userId: string;
  assignedAt: Date;
}

/** Whether a user held a device before a change, as the log of rule changes keeps it. */
export interface FormerHold {
  userId: string;
  isHolder: boolean;
}

const list = (db: Db, organizationId: string, condition: Sql): Promise<Holder[]> =>
  db.many<Holder>(sql`
    select a.device_id as "deviceId", a.user_id as "userId", a.assigned_at as "assignedAt" from assignments a
    where a.organization_id = ${organizationId} and a.is_active and a.role > ${assignmentRoles.viewer} and ${condition}`);

/** The holders for whom there is a fence or a threshold. */
export const listHolders = (db: Db, organizationId: string): Promise<Holder[]> =>
  list(
    db,
    organizationId,
    sql`a.user_id in (
      select g.user_id from geofences g
      where g.organization_id = ${organizationId} and g.scope = 'user' and g.is_active and g.deleted_at is null
      union
      select t.user_id from alert_thresholds t
      where t.organization_id = ${organizationId} and t.scope = 20 and t.is_active and t.deleted_at is null)`,
  );

export const listHoldersOfDevices = (db: Db, organizationId: string, deviceIds: readonly string[]): Promise<Holder[]> =>
  list(db, organizationId, sql`a.device_id = any(${deviceIds}::uuid[])`);

export const listHoldersOfUsers = (db: Db, organizationId: string, userIds: readonly string[]): Promise<Holder[]> =>
  list(db, organizationId, sql`a.user_id = any(${userIds}::uuid[])`);
