import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound } from "../../lib/errors.ts";
import { isAtLeast } from "../../oauth/roles.ts";

export interface DeviceRow {
  id: string;
  organization_id: string;
  uid: string;
  name: string;
}

export const findLiveDevice = (db: Db, organizationId: string, uid: string): Promise<DeviceRow | undefined> =>
  db.maybeOne<DeviceRow>`
    select id, organization_id, uid, name from devices
    where organization_id = ${organizationId} and uid = ${uid} and deleted_at is null`;

export async function getVisibleDevice(db: Db, principal: Principal, uid: string): Promise<DeviceRow> {
  const device = await findLiveDevice(db, principal.organization.id, uid);
  if (!device) throw notFound();
  if (principal.kind === "person" && !isAtLeast(principal.person.role, "ADMIN")) {
    const assigned = await db.maybeOne`
      select 1 from assignments
      where organization_id = ${principal.organization.id} and device_id = ${device.id} and user_id = ${principal.id}
        and is_active`;
    if (!assigned) throw notFound();
  }
  return device;
}
