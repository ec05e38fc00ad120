import type { Database, Db, Tx } from "../db/database.ts";
import { rawSql, sql } from "../db/sql.ts";
import { hashSecret } from "../oauth/client-secrets.ts";
import { announceIdentityChange } from "../oauth/identity-changes.ts";
import { erasedText, eraseFromAudit } from "../resources/audit/audit-erasure.ts";
import { recordAudit } from "../resources/audit/audit-store.ts";
import { deleteFence } from "../resources/geofences/geofence-writes.ts";
import { deleteThreshold } from "../resources/thresholds/threshold-writes.ts";
import { withdrawInvitations } from "../resources/use-cases/withdrawn-invitations.ts";
import { closeMember, lockMember } from "../resources/users/member-changes.ts";
import { type Erasure, eraseDevice } from "./device-erasure.ts";
import { eraseKeptAnswers } from "./kept-answers.ts";
import { eraseMailFiles } from "./mail-files.ts";
import { listOwnedDevices, type Membership, type Person } from "./person.ts";
import { eraseSent } from "./sent-rows.ts";

/** Rows that belong to a person, whatever the organization; the record of the person goes after them. */
const tablesOfPeople = [
  "browser_sessions",
  "activation_tokens",
  "password_resets",
  "recovery_codes",
  "second_factors",
  "alarm_mail_windows",
] as const;

/**
 * Erases a person in all organizations, and with `isWithDevices` the devices they own. The record of the person goes last: an
 * erasure that was killed is found by the e-mail address and goes on.
 */
export async function erasePerson(erasure: Erasure, person: Person, isWithDevices: boolean): Promise<void> {
  const { db, report } = erasure;
  const { email, userId, memberships } = person;
  // While the person still owns them: the assignments tell which they are.
  if (isWithDevices) for (const device of await listOwnedDevices(db, person)) await eraseDevice(erasure, device);
  if (userId !== undefined) {
    await endAccess(db, userId);
    for (const membership of memberships) await leave(erasure, userId, membership);
    for (const { organizationId } of memberships) await eraseSent(db, organizationId, userId, report);
  }
  await eraseMails(erasure, person);
  const principalIds = memberships.map(({ id }) => id);
  const objectPks = userId === undefined ? [] : [userId, ...(await listRules(db, userId))];
  const texts = [email, ...objectPks];
  report.add("idempotency_keys", await eraseKeptAnswers(db, undefined, { texts, principalIds }));
  const subject = { organizationId: undefined, texts: [email], objectPks, actorId: userId };
  report.add("audit_log", await eraseFromAudit(db, subject, ["user", "invitation"]));
  await db.transaction((tx) => eraseRecord(tx, erasure, person));
}

/** From here on nobody signs in as the person. */
const endAccess = (db: Database, userId: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.run`update users set password_hash = null where id = ${userId}`;
    for (const table of ["browser_sessions", "activation_tokens", "password_resets"]) {
      await tx.run(sql`delete from ${rawSql(table)} where user_id = ${userId}`);
    }
  });

/** Rules and membership end as if somebody had deleted them, so that running processes hear of it. */
async function leave({ db, actorIn, now }: Erasure, userId: string, { organizationId }: Membership): Promise<void> {
  const writer = { organizationId, actor: actorIn(organizationId), now };
  const fences = await db.many<{ id: string }>`
    select id from geofences where organization_id = ${organizationId} and user_id = ${userId} and deleted_at is null`;
  for (const { id } of fences) await db.transaction((tx) => deleteFence(tx, writer, id));
  const thresholds = await db.many<{ id: string }>`
    select id from alert_thresholds
    where organization_id = ${organizationId} and user_id = ${userId} and deleted_at is null`;
  for (const { id } of thresholds) await db.transaction((tx) => deleteThreshold(tx, writer, id));
  await db.transaction(async (tx) => {
    const locked = await lockMember(tx, organizationId, userId);
    if (!locked) return;
    await closeMember(tx, organizationId, locked.user, writer.actor, now);
    await withdrawInvitations(tx, organizationId, { userId, role: null }, writer.actor, now);
  });
}

/** Mails to the person, and the person's name in invitations to others that were not sent yet. */
async function eraseMails({ db, report, mailFolder }: Erasure, { email, userId }: Person): Promise<void> {
  const invited = await db.many<{ mail_id: string }>`
    select mail_id from invitations where invited_by = ${userId ?? null} and mail_id is not null`;
  const mailIds = new Set(invited.map(({ mail_id }) => mail_id));
  report.add("mail_files", await eraseMailFiles(mailFolder, { texts: [email], mailIds }));
  report.add("invitations", await db.run`delete from invitations where email = ${email}`);
  report.add("mails", await db.run`delete from mails where recipient = ${email}`);
  report.add(
    "mails",
    await db.run`
      update mails set params = params - 'inviter_name'
      where id = any(${[...mailIds]}::uuid[]) and params ? 'inviter_name'`,
  );
}

const listRules = async (db: Db, userId: string): Promise<string[]> => {
  const rows = await db.many<{ id: string }>`
    select id from geofences where user_id = ${userId}
    union all select id from alert_thresholds where user_id = ${userId}`;
  return rows.map(({ id }) => id);
};

async function eraseRecord(tx: Tx, { actorIn, now, report }: Erasure, person: Person): Promise<void> {
  const { email, userId, memberships } = person;
  const subjects = [hashSecret(email).toString("hex"), ...(userId === undefined ? [] : [userId])];
  report.add("failed_attempts", await tx.run`delete from failed_attempts where subject = any(${subjects}::text[])`);
  if (userId === undefined) return;
  report.add(
    "geofence_devices",
    await tx.run`
      delete from geofence_devices where geofence_id in (select id from geofences where user_id = ${userId})`,
  );
  const tables = [...tablesOfPeople, "geofences", "alert_thresholds", "assignments", "memberships"];
  for (const table of tables) {
    report.add(table, await tx.run(sql`delete from ${rawSql(table)} where user_id = ${userId}`));
  }
  report.add(
    "rate_windows",
    await tx.run`delete from rate_windows where principal_id = any(${[userId, ...memberships.map(({ id }) => id)]}::uuid[])`,
  );
  report.add("invitations", await tx.run`update invitations set invited_by = null where invited_by = ${userId}`);
  report.add(
    "operator_log",
    await tx.run`
      update operator_log set operator_email = ${erasedText}, remote_addr = null where operator_id = ${userId}`,
  );
  report.add("users", await tx.run`delete from users where id = ${userId}`);
  for (const { organizationId } of memberships) {
    await recordAudit(tx, actorIn(organizationId), now, {
      action: "deleted",
      model: "user",
      objectPk: userId,
      objectRepr: erasedText,
      changes: {},
      additionalData: { erased: true },
    });
  }
  await announceIdentityChange(tx);
}
