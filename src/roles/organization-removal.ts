import type { Database, Tx } from "../db/database.ts";
import { rawSql, sql } from "../db/sql.ts";
import type { Actor } from "../oauth/actor.ts";
import { announceIdentityChange } from "../oauth/identity-changes.ts";
import { removeDevice } from "../resources/use-cases/device-removal.ts";

/** Every table with a column for the organization, those that refer to others before them. */
export const tablesOfOrganizations = [
  "access_tokens",
  "activation_tokens",
  "alert_thresholds",
  "assignments",
  "audit_log",
  "browser_sessions",
  "commands",
  "dead_letters",
  "deliveries",
  "delivery_attempts",
  "delivery_hours",
  "delivery_lanes",
  "device_capability_overrides",
  "device_codes",
  "device_media_days",
  "device_sessions",
  "device_settings",
  "device_state",
  "ecg_parts",
  "ecg_recordings",
  "events",
  "geofence_devices",
  "geofences",
  "invitations",
  "live_change_floors",
  "live_changes",
  "locations",
  "mails",
  "memberships",
  "message_audio",
  "messages",
  "outbound_events",
  "outbound_lanes",
  "place_jobs",
  "poisoned_packets",
  "rule_changes",
  "rule_plans",
  "rule_states",
  "rule_versions",
  "telemetry",
  "voice_parts",
  "voice_transfers",
  "webhook_troubles",
  "integrations",
  "devices",
] as const;

export interface RemovedOrganization {
  devices: number;
  integrations: number;
  people: number;
  rows: number;
}

/**
 * Removes an organization and all that it holds. People who are members of another one stay. Devices are taken out of service
 * first, so that a gateway closes their connections and nothing more is written for them.
 */
export async function removeOrganization(
  db: Database,
  organizationId: string,
  actor: Actor,
  now: Date,
): Promise<RemovedOrganization> {
  const live = await db.many<{ id: string }>`
    select id from devices where organization_id = ${organizationId} and deleted_at is null order by id`;
  for (const { id } of live) await db.transaction((tx) => removeDevice(tx, organizationId, id, actor, now));
  return db.transaction((tx) => removeRows(tx, organizationId));
}

async function removeRows(tx: Tx, organizationId: string): Promise<RemovedOrganization> {
  // Years of history are one statement; the audit log is kept from all other transactions.
  await tx.run`select set_config('statement_timeout', '0', true), set_config('vigil.audit_erasure', 'on', true)`;
  await tx.run`select from organizations where id = ${organizationId} for update`;
  const members = await tx.many<{ user_id: string }>`
    select user_id from memberships where organization_id = ${organizationId}`;
  let rows = await removeBelow(tx, organizationId);
  const counts = { devices: 0, integrations: 0 };
  for (const table of tablesOfOrganizations) {
    const count = await tx.run(sql`delete from ${rawSql(table)} where organization_id = ${organizationId}`);
    if (table === "devices" || table === "integrations") counts[table] = count;
    rows += count;
  }
  const people = await removePeopleWithoutMembership(
    tx,
    members.map(({ user_id }) => user_id),
  );
  await tx.run`delete from organizations where id = ${organizationId}`;
  await announceIdentityChange(tx);
  return { ...counts, people, rows: rows + 1 };
}

/** What belongs to its devices, integrations and members without naming the organization. */
async function removeBelow(tx: Tx, organizationId: string): Promise<number> {
  const frames = await tx.run`
    delete from ingest_frames where device_id in (select id from devices where organization_id = ${organizationId})`;
  const secrets = await tx.run`
    delete from integration_secrets
    where integration_id in (select id from integrations where organization_id = ${organizationId})`;
  const principals = sql`
    select id from integrations where organization_id = ${organizationId}
    union all select id from memberships where organization_id = ${organizationId}`;
  const keys = await tx.run(sql`delete from idempotency_keys where principal_id in (${principals})`);
  const windows = await tx.run`
    delete from rate_windows where principal_id in (select id from integrations where organization_id = ${organizationId})`;
  return frames + secrets + keys + windows;
}

async function removePeopleWithoutMembership(tx: Tx, userIds: readonly string[]): Promise<number> {
  const alone = await tx.many<{ id: string }>`
    select id from users u where id = any(${userIds}::uuid[])
      and not exists (select from memberships m where m.user_id = u.id) and u.operator_since is null
    for update`;
  const ids = alone.map(({ id }) => id);
  // A person's calls are counted under their own id, whatever the organization: who stays keeps the count.
  await tx.run`delete from rate_windows where principal_id = any(${ids}::uuid[])`;
  for (const table of ["alarm_mail_windows", "password_resets", "recovery_codes", "second_factors"]) {
    await tx.run(sql`delete from ${rawSql(table)} where user_id = any(${ids}::uuid[])`);
  }
  return tx.run`delete from users where id = any(${ids}::uuid[])`;
}
