import type { Db, Tx } from "../db/database.ts";
import { type ClaimedRow, isHeld, type JobTable } from "../db/job-table.ts";
import { notify } from "../db/listener.ts";
import { type Sql, sql } from "../db/sql.ts";
import { inviteRateLimited } from "../lib/errors.ts";
import { uuidV7 } from "../lib/ids.ts";
import type { MailKind } from "./mail-texts.ts";

/**
 * The durable queue of mails. A mail is committed with what it belongs to, and leaves the queue only as sent or as failed; then
 * its parameters, which hold a token, are forgotten. It is sent at least once: a sender that dies after sending leaves it due again.
 */
export const mailChannel = "vigil_mail";

export interface NewMail {
  organizationId: string;
  /** The integration whose call causes the mail. */
  integrationId?: string | undefined;
  to: string;
  locale: string;
  kind: MailKind;
  /** See MailParams; kept only until the mail is finished. */
  params: Record<string, string>;
  now: Date;
}

/** Mails that one integration may cause to one person in a day. */
export const maxMailsPerRecipient = 20;
const dayMs = 86_400_000;

/** Refuses with 429 when an integration has written to the recipient too often. */
export async function enqueueMail(tx: Tx, mail: NewMail): Promise<string> {
  if (mail.integrationId !== undefined) await refuseTooMany(tx, mail, mail.integrationId);
  const id = uuidV7(mail.now.getTime());
  await tx.run`
    insert into mails (id, organization_id, integration_id, kind, recipient, locale, params, status, next_attempt_at, created_at)
    values (${id}, ${mail.organizationId}, ${mail.integrationId ?? null}, ${mail.kind}, ${mail.to}, ${mail.locale}, ${mail.params}, 'queued', ${mail.now}, ${mail.now})`;
  await notify(tx, mailChannel, "");
  return id;
}

async function refuseTooMany(tx: Tx, { organizationId, to, now }: NewMail, integrationId: string): Promise<void> {
  const since = new Date(now.getTime() - dayMs);
  const { count, oldest } = await tx.one<{ count: number; oldest: Date | null }>`
    select count(*) as count, min(created_at) as oldest from mails
    where organization_id = ${organizationId} and recipient = ${to} and integration_id = ${integrationId}
      and created_at > ${since}`;
  if (count < maxMailsPerRecipient || !oldest) return;
  throw inviteRateLimited(Math.max(1, Math.ceil((oldest.getTime() + dayMs - now.getTime()) / 1000)));
}

export interface ClaimedMail extends ClaimedRow {
  id: string;
  /** A newer version of the program may have queued a kind that this one does not know. */
  kind: string;
  to: string;
  locale: string;
  params: Record<string, string>;
  createdAt: Date;
}

export const mailJobs: JobTable = {
  table: "mails",
  key: ["id"],
  dueAt: "next_attempt_at",
  attempts: "attempts",
  where: sql`job.status = 'queued'`,
  select: sql`job.kind, job.recipient as "to", job.locale, job.params, job.created_at as "createdAt"`,
};

const isHeldMail = (mail: ClaimedMail): Sql => isHeld(mailJobs, { ...mail });

/** Also when the lease was lost meanwhile: the mail is out, and another attempt that fails must not put it back. */
export const finishMail = (db: Db, { organization_id, id }: ClaimedMail, now: Date): Promise<number> =>
  db.run`
    update mails set status = 'sent', params = null, last_error = null, finished_at = ${now}
    where organization_id = ${organization_id} and id = ${id} and status = 'queued'`;

/** Zero: the lease was lost, and the mail belongs to another sender. */
export const postponeMail = (
  db: Db,
  mail: ClaimedMail,
  { until, error }: { until: Date; error: string },
): Promise<number> =>
  db.run(sql`update mails job set next_attempt_at = ${until}, last_error = ${error} where ${isHeldMail(mail)}`);

/** Zero: the lease was lost, and the mail belongs to another sender. */
export const giveUpMail = (db: Db, mail: ClaimedMail, { now, error }: { now: Date; error: string }): Promise<number> =>
  db.run(sql`
    update mails job set status = 'failed', params = null, last_error = ${error}, finished_at = ${now}
    where ${isHeldMail(mail)}`);
