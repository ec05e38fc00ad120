import type { Db } from "../../db/database.ts";

/** The codes by which devices prove themselves, in protocols where the server hands them out. */

export async function findDeviceCode(db: Db, organizationId: string, deviceId: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ code: string }>`
    select code from device_codes where organization_id = ${organizationId} and device_id = ${deviceId}`;
  return row?.code;
}

/** A device keeps the first code it got. */
export function storeDeviceCode(
  db: Db,
  organizationId: string,
  deviceId: string,
  code: string,
  now: Date,
): Promise<number> {
  return db.run`
    insert into device_codes (device_id, organization_id, code, created_at)
    values (${deviceId}, ${organizationId}, ${code}, ${now})
    on conflict (device_id) do nothing`;
}

export function dropDeviceCode(db: Db, organizationId: string, deviceId: string): Promise<number> {
  return db.run`delete from device_codes where organization_id = ${organizationId} and device_id = ${deviceId}`;
}
