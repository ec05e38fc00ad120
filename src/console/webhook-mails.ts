import type { Database, Tx } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { Clock } from "../lib/clock.ts";
import { enqueueMail } from "../mail/mail-outbox.ts";
import { roleNumbers } from "../oauth/roles.ts";

/** A webhook that has accepted nothing for so long is reported. */
export const failingAfterMs = 3_600_000;
const maxAtOnce = 100;

interface Due {
  integration_id: string;
  organization_id: string;
  integration_name: string;
  webhook_url: string;
  /** Null: it works again. */
  failing_since: Date | null;
  last_error: string | null;
}

interface Recipient {
  email: string;
  locale: string;
  timezone: string;
  organization_name: string;
}

/**
 * Queues a mail to the administrators of an organization when a webhook has failed for an hour, and one more when it works again.
 * What was mailed is noted in the transaction of the mails, so each goes out once, whatever worker dies. Returns their number.
 */
export async function queueWebhookMails(db: Database, clock: Clock, baseUrl: () => string): Promise<number> {
  // Webhooks that are off are left out here too: a hundred of them would keep the others from being looked at.
  const candidates = await db.many<{ integration_id: string }>`
    select t.integration_id from webhook_troubles t
    join integrations i on i.id = t.integration_id and i.organization_id = t.organization_id
    where ${dueAt(clock.now())} and ${isMailed} limit ${maxAtOnce}`;
  let queued = 0;
  // One transaction each: what keeps one from being mailed must not keep the others.
  for (const { integration_id } of candidates) {
    queued += await db.transaction((tx) => queueOne(tx, integration_id, clock.now(), baseUrl()));
  }
  return queued;
}

const dueAt = (now: Date): Sql =>
  sql`(mailed_at is null and failing_since <= ${new Date(now.getTime() - failingAfterMs)}
    or mailed_at is not null and failing_since is null)`;

const isMailed = sql`i.status = 'active' and i.webhook_url is not null and not i.webhook_paused`;

async function queueOne(tx: Tx, integrationId: string, now: Date, baseUrl: string): Promise<number> {
  // Undefined: another worker has it, or it has changed meanwhile.
  const due = await tx.maybeOne<Due & Record<string, unknown>>`
    select t.integration_id, t.organization_id, t.failing_since, i.name as integration_name, i.webhook_url,
      (select a.error from delivery_attempts a where a.integration_id = t.integration_id and a.error is not null
        order by a.id desc limit 1) as last_error
    from webhook_troubles t join integrations i on i.id = t.integration_id and i.organization_id = t.organization_id
    where t.integration_id = ${integrationId} and ${dueAt(now)} and ${isMailed}
    for update of t skip locked`;
  if (!due) return 0;
  if (due.failing_since === null) await tx.run`delete from webhook_troubles where integration_id = ${integrationId}`;
  else await tx.run`update webhook_troubles set mailed_at = ${now} where integration_id = ${integrationId}`;
  const recipients = await listAdministrators(tx, due.organization_id);
  for (const recipient of recipients) await enqueueMail(tx, mailTo(recipient, due, baseUrl, now));
  return recipients.length;
}

const listAdministrators = (tx: Tx, organizationId: string): Promise<Recipient[]> =>
  tx.many<Recipient & Record<string, unknown>>`
    select u.email, coalesce(u.locale, o.default_locale) as locale, coalesce(u.timezone, o.timezone) as timezone,
      o.name as organization_name
    from memberships m join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
    where m.organization_id = ${organizationId} and m.closed_at is null and m.role >= ${roleNumbers.ADMIN}
    order by u.id`;

const mailTo = (recipient: Recipient, due: Due, baseUrl: string, now: Date) => ({
  organizationId: due.organization_id,
  to: recipient.email,
  locale: recipient.locale,
  kind: due.failing_since === null ? ("webhook_recovered" as const) : ("webhook_failing" as const),
  params: {
    organization_name: recipient.organization_name,
    integration_name: due.integration_name,
    // The host alone: people put tokens into the paths of their webhooks, and a mail is read in the open.
    webhook_host: new URL(due.webhook_url).host,
    timezone: recipient.timezone,
    link: `${baseUrl}/console/integrations/${due.integration_id}`,
    ...(due.failing_since === null ? {} : { happened_at: due.failing_since.toISOString() }),
    ...(due.failing_since === null || due.last_error === null ? {} : { reason: due.last_error }),
  },
  now,
});
