import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { notFound, roleNotAllowed } from "../../lib/errors.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { assignmentRoles } from "./assignment-record.ts";
import { findActiveAssignment } from "./assignment-store.ts";

/** Who holds a device as viewer looks at it, and neither commands it nor writes to it (section 18.3). */
export async function refuseViewer(
  db: Db,
  principal: Principal,
  device: { id: string; organization_id: string },
): Promise<void> {
  if (principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN")) return;
  const held = await findActiveAssignment(db, device.organization_id, device.id, principal.id);
  if (!held) throw notFound();
  if (held.role === assignmentRoles.viewer) throw roleNotAllowed();
}

/** A device that the caller may command and write to. One that the caller may not see is not found. */
export async function getOperableDevice(db: Db, principal: Principal, uid: string): Promise<DeviceRow> {
  const device = await getVisibleDevice(db, principal, uid);
  await refuseViewer(db, principal, device);
  return device;
}
