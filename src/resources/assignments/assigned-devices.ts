import type { Db } from "../../db/database.ts";

export interface AssignedPerson {
  organizationId: string;
  userId: string;
}

export const assignedKey = ({ organizationId, userId }: AssignedPerson): string => `${organizationId} ${userId}`;

/** The ids of the devices that each person sees through an assignment, by `assignedKey`. */
export async function listAssignedDevices(
  db: Db,
  people: readonly AssignedPerson[],
): Promise<Map<string, ReadonlySet<string>>> {
  const rows = await db.many<AssignedPerson & { deviceId: string }>`
    select a.organization_id as "organizationId", a.user_id as "userId", a.device_id as "deviceId" from assignments a
    where (a.organization_id, a.user_id) in (
      select * from unnest(${people.map((one) => one.organizationId)}::uuid[], ${people.map((one) => one.userId)}::uuid[])
    ) and a.is_active`;
  const devices = new Map<string, Set<string>>();
  for (const row of rows) {
    const key = assignedKey(row);
    const own = devices.get(key) ?? new Set();
    devices.set(key, own.add(row.deviceId));
  }
  return devices;
}
