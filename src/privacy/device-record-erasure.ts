import type { Tx } from "../db/database.ts";
import type { Actor } from "../oauth/actor.ts";
import { announceIdentityChange } from "../oauth/identity-changes.ts";
import { erasedText } from "../resources/audit/audit-erasure.ts";
import { recordAudit } from "../resources/audit/audit-store.ts";
import { touchRules } from "../resources/rule-versions/rule-version.ts";
import type { HeldDevice } from "./device-tables.ts";
import type { ErasureReport } from "./erasure-report.ts";

/** The IMEI of no device. A filter that became empty would let the integration receive the events of all devices. */
export const noDeviceUid = "000000000000000";

/** The record itself, and the few rows that refer to it. In one transaction: without it nothing would find the rest again. */
export async function eraseDeviceRecord(
  tx: Tx,
  device: HeldDevice,
  actor: Actor,
  now: Date,
  report: ErasureReport,
): Promise<void> {
  const { id, organizationId, uid } = device;
  const found = await tx.maybeOne<{ terminals: (string | null)[] }>`
    select array[terminal_id, terminal_key, terminal_default_key] as terminals from devices
    where organization_id = ${organizationId} and id = ${id} for update`;
  if (!found) return;
  const thresholds = await tx.many<{ id: string }>`
    delete from alert_thresholds where organization_id = ${organizationId} and device_id = ${id} returning id`;
  const fences = await eraseFences(tx, device);
  report.add("alert_thresholds", thresholds.length);
  report.add("geofences", fences.length);
  report.add(
    "assignments",
    await tx.run`delete from assignments where organization_id = ${organizationId} and device_id = ${id}`,
  );
  await eraseInvitations(tx, device, report);
  report.add(
    "integrations",
    await tx.run`
      update integrations set webhook_device_filter = case when webhook_device_filter = array[${uid}] then array[${noDeviceUid}]
        else array_remove(webhook_device_filter, ${uid}) end
      where organization_id = ${organizationId} and ${uid} = any(webhook_device_filter)`,
  );
  await announceIdentityChange(tx);
  const wireIds = [uid, ...found.terminals.filter((terminal) => terminal !== null)];
  report.add("unknown_devices", await tx.run`delete from unknown_devices where imei = any(${wireIds}::text[])`);
  await eraseState(tx, device, report);
  report.add("devices", await tx.run`delete from devices where organization_id = ${organizationId} and id = ${id}`);
  await recordAudit(tx, actor, now, {
    action: "deleted",
    model: "device",
    objectPk: id,
    objectRepr: erasedText,
    changes: {},
    additionalData: { erased: true },
  });
  await touchRules(
    tx,
    organizationId,
    { kind: "device", id },
    ...fences.map((fence) => ({ kind: "geofence", id: fence }) as const),
    ...thresholds.map((threshold) => ({ kind: "threshold", id: threshold.id, before: null }) as const),
  );
}

/** Fences of this device alone: they show where somebody lives. Those of other devices too lose the link. */
async function eraseFences(tx: Tx, { id, organizationId }: HeldDevice): Promise<string[]> {
  const linked = await tx.many<{ geofence_id: string }>`
    delete from geofence_devices where organization_id = ${organizationId} and device_id = ${id} returning geofence_id`;
  const erased = await tx.many<{ id: string }>`
    delete from geofences g
    where organization_id = ${organizationId} and scope = 'device'
      and id = any(${linked.map(({ geofence_id }) => geofence_id)}::uuid[])
      and not exists (select from geofence_devices l where l.geofence_id = g.id)
    returning id`;
  return erased.map((fence) => fence.id);
}

/** Shares of the device, and mails that name it and were not sent yet. */
async function eraseInvitations(tx: Tx, { id, organizationId, uid }: HeldDevice, report: ErasureReport): Promise<void> {
  const invitations = await tx.many<{ mail_id: string | null }>`
    delete from invitations where organization_id = ${organizationId} and device_id = ${id} returning mail_id`;
  const mailIds = invitations.flatMap(({ mail_id }) => mail_id ?? []);
  report.add("invitations", invitations.length);
  report.add(
    "mails",
    await tx.run`
      delete from mails where organization_id = ${organizationId} and status = 'queued'
        and (id = any(${mailIds}::uuid[]) or params->>'link' like ${`%/devices/${uid}%`})`,
  );
}

/**
 * The state row stays, empty: a gateway that has not heard of the deletion writes it before it stores packets, and is refused by
 * its epoch.
 */
async function eraseState(tx: Tx, { id, organizationId }: HeldDevice, report: ErasureReport): Promise<void> {
  report.add(
    "device_sessions",
    await tx.run`delete from device_sessions where organization_id = ${organizationId} and device_id = ${id}`,
  );
  await tx.run`
    update device_state set is_online = false, is_live = false, was_online = false, last_seen_at = null,
      status_changed_at = null, previous_change_at = null, firmware_version = null, last_status = '{}', last_location = null,
      report_interval_seconds = null, battery_band = null, located_at = null, newest_report_at = null, sim_iccid = null, sim_imsi = null, sim_refused_at = null
    where organization_id = ${organizationId} and device_id = ${id}`;
}
