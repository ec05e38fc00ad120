import type { Tx } from "../../db/database.ts";
import { invalidScope, notFound } from "../../lib/errors.ts";
import { recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import type { FenceRow } from "./geofence-record.ts";
import { linkedUids, lockFence } from "./geofence-store.ts";
import { auditedFence, type FenceWriter } from "./geofence-writes.ts";

export interface LinkResult {
  linked: string[];
  already_linked: string[];
  not_found: string[];
  device_count: number;
}

/**
 * Links devices by their IMEIs. The fence is locked, so that each parallel call learns what it has done itself; a device cannot be
 * deleted in between.
 */
export async function linkDevices(
  tx: Tx,
  writer: FenceWriter,
  fenceId: string,
  deviceUids: readonly string[],
): Promise<LinkResult> {
  const { organizationId, now } = writer;
  const fence = await lockFence(tx, organizationId, fenceId);
  if (fence.scope !== "device") throw invalidScope();
  const uids = [...new Set(deviceUids)];
  const found = await tx.many<{ id: string; uid: string }>`
    select id, uid from devices
    where organization_id = ${organizationId} and uid = any(${uids}::text[]) and deleted_at is null
    order by id for key share`;
  const before = await linkedUids(tx, fence);
  const inserted = await tx.many<{ device_id: string }>`
    insert into geofence_devices (geofence_id, device_id, organization_id, linked_at)
    select ${fenceId}, device_id, ${organizationId}, ${now} from unnest(${found.map(({ id }) => id)}::uuid[]) as n (device_id)
    on conflict do nothing
    returning device_id`;
  const isNew = new Set(inserted.map(({ device_id }) => device_id));
  const idOf = new Map(found.map(({ id, uid }) => [uid, id]));
  const linked = uids.filter((uid) => isNew.has(idOf.get(uid) ?? ""));
  const after = [...before, ...linked].sort();
  if (linked.length > 0) await noteLinks(tx, writer, fence, before, after);
  return {
    linked,
    already_linked: uids.filter((uid) => idOf.has(uid) && !isNew.has(idOf.get(uid) ?? "")),
    not_found: uids.filter((uid) => !idOf.has(uid)),
    device_count: after.length,
  };
}

export async function unlinkDevice(tx: Tx, writer: FenceWriter, fenceId: string, deviceUid: string): Promise<void> {
  const fence = await lockFence(tx, writer.organizationId, fenceId);
  const before = await linkedUids(tx, fence);
  if (!before.includes(deviceUid)) throw notFound();
  await tx.run`
    delete from geofence_devices l using devices d
    where l.geofence_id = ${fenceId} and l.organization_id = ${writer.organizationId} and d.id = l.device_id
      and d.uid = ${deviceUid} and d.deleted_at is null`;
  await noteLinks(
    tx,
    writer,
    fence,
    before,
    before.filter((uid) => uid !== deviceUid),
  );
}

async function noteLinks(
  tx: Tx,
  { organizationId, actor, now }: FenceWriter,
  fence: FenceRow,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  await tx.run`update geofences set updated_at = ${now} where organization_id = ${organizationId} and id = ${fence.id}`;
  const changes: Record<string, [unknown, unknown]> = { devices: [before, after] };
  await recordAudit(tx, actor, now, { action: "updated", ...auditedFence(fence), changes });
  await touchRules(tx, organizationId, { kind: "geofence", id: fence.id });
}
