import type { Tx } from "../../db/database.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { isImei, isUuid } from "../../lib/ids.ts";
import { holdOpenMember } from "../assignments/assignment-store.ts";
import type { ThresholdFields } from "./threshold-fields.ts";
import type { ThresholdRow } from "./threshold-record.ts";

export interface Target {
  user_id: string | null;
  device_id: string | null;
}

/**
 * Whose rule it is. What the row already names is kept, also when the device or the membership has come to its end; anything
 * else must be there, and stays there until the transaction ends.
 */
export async function resolveTarget(
  tx: Tx,
  organizationId: string,
  { user, device }: Pick<ThresholdFields, "user" | "device">,
  before: ThresholdRow | undefined,
): Promise<Target> {
  const errors: FieldErrors = {};
  const user_id = user === null ? null : await findUser(tx, organizationId, user.toLowerCase(), before);
  if (user_id === undefined) errors.user = ["User not found in this organization."];
  const device_id = device === null ? null : await findDevice(tx, organizationId, device.toLowerCase(), before);
  if (device_id === undefined) errors.device = ["Device not found in this organization."];
  if (user_id === undefined || device_id === undefined) throw validationError(errors);
  return { user_id, device_id };
}

async function findUser(
  tx: Tx,
  organizationId: string,
  userId: string,
  before: ThresholdRow | undefined,
): Promise<string | undefined> {
  if (userId === before?.user_id) return userId;
  return (await holdOpenMember(tx, organizationId, { userId }))?.user_id;
}

async function findDevice(
  tx: Tx,
  organizationId: string,
  device: string,
  before: ThresholdRow | undefined,
): Promise<string | undefined> {
  if (before?.device_id && (device === before.device_id || device === before.device_uid)) return before.device_id;
  const [uid, id] = [isImei(device) ? device : null, isUuid(device) ? device : null];
  if (uid === null && id === null) return undefined;
  const row = await tx.maybeOne<{ id: string }>`
    select id from devices
    where organization_id = ${organizationId} and (uid = ${uid} or id = ${id}) and deleted_at is null for key share`;
  return row?.id;
}
