import type { Database, Db, Tx } from "../db/database.ts";
import { deleteKeyedRows } from "../db/keyed-rows.ts";
import { rawSql, sql } from "../db/sql.ts";
import type { Actor } from "../oauth/actor.ts";
import { eraseFromAudit } from "../resources/audit/audit-erasure.ts";
import type { AuditModel } from "../resources/audit/audit-models.ts";
import { dropSession } from "../resources/devices/device-sessions.ts";
import { removeDevice } from "../resources/use-cases/device-removal.ts";
import { eraseDeviceRecord } from "./device-record-erasure.ts";
import { deviceTables, type HeldDevice, rowsOf } from "./device-tables.ts";
import type { ErasureReport } from "./erasure-report.ts";
import { eraseKeptAnswers } from "./kept-answers.ts";
import { eraseMailFiles } from "./mail-files.ts";
import { eraseAttempts, eraseFromLogs } from "./outbound-erasure.ts";

export interface Erasure {
  db: Database;
  /** In the organization of what is erased. */
  actorIn(organizationId: string): Actor;
  now: Date;
  /** The outbox folder of mails. */
  mailFolder: string;
  report: ErasureReport;
}

export interface FoundDevice extends HeldDevice {
  slug: string;
  isLive: boolean;
}

/** All records that an IMEI has or had, in one organization or in all. */
export const findDevices = (db: Db, uid: string, slug: string | undefined): Promise<FoundDevice[]> =>
  db.many<FoundDevice & Record<string, unknown>>`
    select d.id, d.organization_id as "organizationId", d.uid, o.slug, d.deleted_at is null as "isLive"
    from devices d join organizations o on o.id = d.organization_id
    where d.uid = ${uid} and (${slug ?? null}::text is null or o.slug = ${slug ?? null})
    order by o.slug, d.created_at, d.id`;

/** What is held of a device, by table; what would be counted by reading whole logs is not in it. */
export async function countRows(db: Db, device: HeldDevice): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of deviceTables) {
    const { where } = rowsOf(device, table);
    const { count } = await db.one<{ count: number }>(
      sql`select count(*) as count from ${rawSql(table.table)} where ${where}`,
    );
    if (count > 0) counts[table.table] = count;
  }
  return counts;
}

/** An entry about one of these that names the device is about it; an entry about a fence, say, may name other devices too. */
const ownModels: readonly AuditModel[] = [
  "device",
  "devicecapability",
  "command",
  "devicemessage",
  "event",
  "alertthreshold",
];

/**
 * Erases all that is held of a device. Each step is made of short transactions and finds what is left when it runs again; the
 * record of the device goes last, so an erasure that was killed is found by its IMEI and goes on.
 */
export async function eraseDevice(erasure: Erasure, device: HeldDevice): Promise<void> {
  const { db, now, report } = erasure;
  const { organizationId, uid } = device;
  const actor = erasure.actorIn(organizationId);
  await takeOutOfService(db, device, actor, now);
  await eraseHistory(erasure, device);
  // A login that was in progress when the device was deleted may have opened a connection since.
  await db.transaction((tx) => dropSession(tx, organizationId, device.id, now));
  await eraseHistory(erasure, device);
  const count = (table: string) => (rows: number) => report.add(table, rows);
  await eraseFromLogs(db, organizationId, { isWanted: sql`device_uid = ${uid}` }, count("outbound_events"));
  report.add("delivery_attempts", await eraseAttempts(db, organizationId, uid));
  const mailIds = new Set(await listInvitationMails(db, device));
  report.add("mail_files", await eraseMailFiles(erasure.mailFolder, { texts: [uid], mailIds }));
  const objectPks = [device.id, ...(await listOwnRules(db, device))];
  report.add("idempotency_keys", await eraseKeptAnswers(db, organizationId, { texts: [uid, ...objectPks] }));
  const subject = { organizationId, texts: [uid], objectPks, actorId: undefined };
  report.add("audit_log", await eraseFromAudit(db, subject, ownModels));
  await db.transaction((tx) => eraseDeviceRecord(tx, device, actor, now, report));
}

const takeOutOfService = (db: Database, { id, organizationId }: HeldDevice, actor: Actor, now: Date): Promise<void> =>
  db.transaction(async (tx: Tx) => {
    const live = await tx.maybeOne`
      select from devices where organization_id = ${organizationId} and id = ${id} and deleted_at is null for update`;
    if (live) await removeDevice(tx, organizationId, id, actor, now);
  });

async function eraseHistory({ db, report }: Erasure, device: HeldDevice): Promise<void> {
  for (const table of deviceTables) {
    await deleteKeyedRows(db, rowsOf(device, table), table.batchRows, (count) => report.add(table.table, count));
  }
}

const listInvitationMails = async (db: Db, { id, organizationId }: HeldDevice): Promise<string[]> => {
  const rows = await db.many<{ mail_id: string }>`
    select mail_id from invitations
    where organization_id = ${organizationId} and device_id = ${id} and mail_id is not null`;
  return rows.map(({ mail_id }) => mail_id);
};

/** Fences around the places of this device alone, and its thresholds. */
async function listOwnRules(db: Db, { id, organizationId }: HeldDevice): Promise<string[]> {
  const rows = await db.many<{ id: string }>`
    select id from alert_thresholds where organization_id = ${organizationId} and device_id = ${id}
    union all
    select geofence_id from geofence_devices l where organization_id = ${organizationId} and device_id = ${id}
      and not exists (
        select from geofence_devices other where other.geofence_id = l.geofence_id and other.device_id <> ${id})`;
  return rows.map((row) => row.id);
}
