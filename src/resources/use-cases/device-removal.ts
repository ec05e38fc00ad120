import type { Tx } from "../../db/database.ts";
import { notFound } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import { closeAssignmentsOfDevice } from "../assignments/assignment-store.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { cancelCommandsOfDevice } from "../commands/command-timeouts.ts";
import { dropSession } from "../devices/device-sessions.ts";
import { lockLiveDevice } from "../devices/device-store.ts";
import { auditView } from "../devices/device-writes.ts";
import { touchRules } from "../rule-versions/rule-version.ts";

/** Soft: the row and its history stay, the IMEI becomes free for any organization. The last write of a transaction. */
export async function removeDevice(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  actor: Actor,
  now: Date,
): Promise<void> {
  await appendOutbound(tx, await retireDevice(tx, organizationId, deviceId, actor, now), now.getTime());
}

/** For several devices in a transaction. Returns the outbound events, to be written last and at once for all of them. */
export async function retireDevice(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  actor: Actor,
  now: Date,
): Promise<OutboundEntry[]> {
  const device = await lockLiveDevice(tx, organizationId, deviceId);
  if (!device) throw notFound();
  await tx.run`
    update devices set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${deviceId}`;
  await dropSession(tx, organizationId, deviceId, now);
  await tx.run`
    update device_state set is_live = false, is_online = false,
      status_changed_at = case when is_online then ${now} else status_changed_at end
    where organization_id = ${organizationId} and device_id = ${deviceId}`;
  // Should it come back, its rules start again: where it was before says nothing of where it is then.
  await tx.run`delete from rule_states where organization_id = ${organizationId} and device_id = ${deviceId}`;
  await closeAssignmentsOfDevice(tx, organizationId, deviceId, actor, now);
  const cancelled = await cancelCommandsOfDevice(tx, organizationId, deviceId, actor, now);
  await recordAudit(tx, actor, now, {
    action: "deleted",
    model: "device",
    objectPk: device.id,
    objectRepr: device.uid,
    changes: changesBetween(auditView(device), null),
  });
  await touchRules(tx, organizationId, { kind: "device", id: deviceId });
  return cancelled;
}
