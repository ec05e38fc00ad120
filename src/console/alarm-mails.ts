import type { Database, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { enqueueMail } from "../mail/mail-outbox.ts";
import { eventTypeLabel } from "../resources/events/event-record.ts";
import { severities } from "../resources/events/event-types.ts";
import { findTop, numberChanges } from "./stream/change-store.ts";

const reader = "alarm_mails";
const maxChangesAtOnce = 1000;
/** A device that raises alarm after alarm must not fill a mailbox. */
export const maxMailsPerHour = 20;
const windowMs = 3_600_000;

interface Recipient {
  user_id: string;
  email: string;
  locale: string;
  timezone: string;
  organization_id: string;
  organization_name: string;
  device_uid: string;
  device_name: string;
  event_type: number;
  ts: Date;
}

/**
 * Queues a mail to everybody who holds the device of a new alarm and has asked for mails of its severity. The position moves in
 * the transaction of the mails, so an event is mailed once, whatever worker dies. Returns the number of mails.
 */
export async function queueAlarmMails(db: Database, clock: Clock, baseUrl: () => string): Promise<number> {
  await numberChanges(db);
  let queued = 0;
  while (true) {
    const round = await db.transaction((tx) => queueNext(tx, clock.now(), baseUrl()));
    queued += round.queued;
    if (round.isDone) return queued;
  }
}

async function queueNext(tx: Tx, now: Date, baseUrl: string): Promise<{ queued: number; isDone: boolean }> {
  // Undefined: another worker is at it.
  const position = await tx.maybeOne<{ seq: number }>`
    select seq from live_readers where name = ${reader} for update skip locked`;
  if (!position || position.seq >= (await findTop(tx))) return { queued: 0, isDone: true };
  const { last, count } = await tx.one<{ last: number | null; count: number }>`
    select max(seq) as last, count(*) as count from (
      select seq from live_changes where seq > ${position.seq} order by seq limit ${maxChangesAtOnce}) next`;
  if (last === null) return { queued: 0, isDone: true };
  let queued = 0;
  for (const recipient of await listRecipients(tx, position.seq, last)) {
    const number = await countMail(tx, recipient.user_id, now);
    if (number > maxMailsPerHour) continue;
    await enqueueMail(tx, mailTo(recipient, number === maxMailsPerHour, baseUrl, now));
    queued++;
  }
  await tx.run`update live_readers set seq = ${last} where name = ${reader}`;
  return { queued, isDone: count < maxChangesAtOnce };
}

const listRecipients = (tx: Tx, after: number, upTo: number): Promise<Recipient[]> =>
  tx.many<Recipient>`
    select u.id as user_id, u.email, coalesce(u.locale, o.default_locale) as locale,
      coalesce(u.timezone, o.timezone) as timezone, o.id as organization_id, o.name as organization_name,
      d.uid as device_uid, d.name as device_name, e.event_type, e.ts
    from live_changes c
    join events e on e.organization_id = c.organization_id and e.device_id = c.device_id and e.id = c.object_id
      and e.deleted_at is null
    join devices d on d.id = e.device_id and d.organization_id = e.organization_id and d.deleted_at is null
    join organizations o on o.id = e.organization_id
    join assignments a on a.device_id = e.device_id and a.organization_id = e.organization_id and a.is_active
    join memberships m on m.organization_id = e.organization_id and m.user_id = a.user_id and m.closed_at is null
    join users u on u.id = a.user_id
    where c.seq > ${after} and c.seq <= ${upTo} and c.kind = 'event'
      and (u.alarm_mail = 'warning' and e.severity >= ${severities.warning}
        or u.alarm_mail = 'critical' and e.severity >= ${severities.critical})
    order by c.seq, u.id`;

/** Which mail of the running hour this is, from 1. */
async function countMail(tx: Tx, userId: string, now: Date): Promise<number> {
  const hourAgo = new Date(now.getTime() - windowMs);
  const { count } = await tx.one<{ count: number }>`
    insert into alarm_mail_windows as w (user_id, started_at, count) values (${userId}, ${now}, 1)
    on conflict (user_id) do update set
      started_at = case when w.started_at <= ${hourAgo} then excluded.started_at else w.started_at end,
      count = case when w.started_at <= ${hourAgo} then 1 else w.count + 1 end
    returning count`;
  return count;
}

const mailTo = (recipient: Recipient, isLast: boolean, baseUrl: string, now: Date) => ({
  organizationId: recipient.organization_id,
  to: recipient.email,
  locale: recipient.locale,
  kind: "alarm" as const,
  // What happened and to which device; never a value of somebody's health, which a mail carries in the open.
  params: {
    organization_name: recipient.organization_name,
    device_name: recipient.device_name,
    event_type: eventTypeLabel(recipient.event_type),
    happened_at: recipient.ts.toISOString(),
    timezone: recipient.timezone,
    link: `${baseUrl}/console/devices/${recipient.device_uid}`,
    ...(isLast ? { is_last: "true" } : {}),
  },
  now,
});
