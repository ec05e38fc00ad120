import type { Db, Tx } from "../db/database.ts";
import { notify } from "../db/listener.ts";
import { uuidV7 } from "../lib/ids.ts";
import type { MailKind } from "./mail-texts.ts";

/**
 * The durable queue of mails. A mail is committed with what it belongs to, and leaves the queue only as sent or as failed; then
 * its parameters, which hold a token, are forgotten. It is sent at least once: a sender that dies after sending leaves it due again.
 */
export const mailChannel = "vigil_mail";

export interface NewMail {
  organizationId: string;
  to: string;
  locale: string;
  kind: MailKind;
  /** See MailParams; kept only until the mail is finished. */
  params: Record<string, string>;
  now: Date;
}

export async function enqueueMail(tx: Tx, mail: NewMail): Promise<string> {
  const id = uuidV7(mail.now.getTime());
  await tx.run`
    insert into mails (id, organization_id, kind, recipient, locale, params, status, next_attempt_at, created_at)
    values (${id}, ${mail.organizationId}, ${mail.kind}, ${mail.to}, ${mail.locale}, ${mail.params}, 'queued', ${mail.now}, ${mail.now})`;
  await notify(tx, mailChannel, "");
  return id;
}

export interface ClaimedMail {
  id: string;
  organizationId: string;
  /** A newer version of the program may have queued a kind that this one does not know. */
  kind: string;
  to: string;
  locale: string;
  params: Record<string, string>;
  /** This attempt included. Its number is the proof of ownership: a later claim has a higher one. */
  attempts: number;
  createdAt: Date;
}

interface MailRow {
  id: string;
  organization_id: string;
  kind: string;
  recipient: string;
  locale: string;
  params: Record<string, string>;
  attempts: number;
  created_at: Date;
}

/** Takes due mails of all organizations. Those that are not finished until the lease ends are due again. */
export async function claimMails(
  db: Db,
  { now, leaseMs, limit }: { now: Date; leaseMs: number; limit: number },
): Promise<ClaimedMail[]> {
  const rows = await db.many<MailRow>`
    with due as materialized (
      select id from mails where status = 'queued' and next_attempt_at <= ${now}
      order by next_attempt_at limit ${limit} for update skip locked
    )
    update mails set attempts = attempts + 1, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
    from due where mails.id = due.id
    returning mails.id, organization_id, kind, recipient, locale, params, attempts, created_at`;
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    kind: row.kind,
    to: row.recipient,
    locale: row.locale,
    params: row.params,
    attempts: row.attempts,
    createdAt: row.created_at,
  }));
}

/** Also when the lease was lost meanwhile: the mail is out, and another attempt that fails must not put it back. */
export const finishMail = (db: Db, { organizationId, id }: ClaimedMail, now: Date): Promise<number> =>
  db.run`
    update mails set status = 'sent', params = null, last_error = null, finished_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and status = 'queued'`;

/** Zero: the lease was lost, and the mail belongs to another sender. */
export const postponeMail = (
  db: Db,
  { organizationId, id, attempts }: ClaimedMail,
  { until, error }: { until: Date; error: string },
): Promise<number> =>
  db.run`
    update mails set next_attempt_at = ${until}, last_error = ${error}
    where organization_id = ${organizationId} and id = ${id} and status = 'queued' and attempts = ${attempts}`;

/** Zero: the lease was lost, and the mail belongs to another sender. */
export const giveUpMail = (
  db: Db,
  { organizationId, id, attempts }: ClaimedMail,
  { now, error }: { now: Date; error: string },
): Promise<number> =>
  db.run`
    update mails set status = 'failed', params = null, last_error = ${error}, finished_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and status = 'queued' and attempts = ${attempts}`;
