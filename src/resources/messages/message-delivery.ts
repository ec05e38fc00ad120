import type { Database, Db, Tx } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import { noOutcomes } from "../../outbox/outcome-metrics.ts";
import { recordGivenUp } from "./message-audit.ts";
import {
  type DeliveryStatus,
  type FailureReason,
  type MessageRow,
  type MessageType,
  messageColumns,
  messageEntry,
} from "./message-record.ts";

/**
 * The states of a message on its way to a device. Every move is a guarded update, so that a message reaches one final state
 * whatever happens twice or too late; its outbound events are written in the same transaction.
 */

/** The connection that sends: only the newest one of a device moves its messages. */
export interface Sender {
  deviceId: string;
  organizationId: string;
  epoch: number;
}

export interface ClaimedMessage {
  id: string;
  message_type: MessageType;
  text: string | null;
  sender_name: string;
  bytes: Buffer | null;
}

const isUnfinished = sql`m.status in ('pending', 'processing', 'ready', 'sending')`;

const isWaitingAt = (now: Date): Sql =>
  sql`${isUnfinished} and m.command_uuid is null and m.deleted_at is null and m.expires_at > ${now}`;

/** A look without a lock, for the many devices that connect and have nothing waiting. */
export const hasWaitingMessage = async (db: Db, { deviceId, organizationId }: Sender, now: Date): Promise<boolean> => {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from messages m
      where m.device_id = ${deviceId} and m.organization_id = ${organizationId} and ${isWaitingAt(now)}) as found`);
  return found;
};

/**
 * Takes the device's next message, in the order of creation: also one that an older connection was sending. Undefined: nothing
 * waits, or the next one is still being spoken.
 */
export const claimMessage = (db: Db, sender: Sender, serial: string, now: Date): Promise<ClaimedMessage | undefined> =>
  db.maybeOne<ClaimedMessage>(sql`
    with next as (
      select m.device_id, m.id from messages m
      where m.device_id = ${sender.deviceId} and m.organization_id = ${sender.organizationId} and ${isWaitingAt(now)}
      order by m.position limit 1
    )
    update messages m set status = 'sending', wire_epoch = ${sender.epoch}, wire_serial = ${serial}
    from next left join message_audio a on a.device_id = next.device_id and a.message_id = next.id
    where m.device_id = next.device_id and m.id = next.id and coalesce(m.wire_epoch, 0) <= ${sender.epoch}
      and (m.status in ('ready', 'sending') or (m.status = 'pending' and m.message_type = 'text'))
    returning m.id, m.message_type, m.text, m.sender_name, a.bytes`);

const isSentBy = ({ deviceId, organizationId, epoch }: Sender): Sql =>
  sql`m.device_id = ${deviceId} and m.organization_id = ${organizationId} and m.status = 'sending'
    and m.wire_epoch = ${epoch}`;

export const isBeingSent = async (db: Db, sender: Sender, messageId: string): Promise<boolean> =>
  (await db.maybeOne(sql`select from messages m where ${isSentBy(sender)} and m.id = ${messageId}`)) !== undefined;

/** All its frames are written, for the first time. */
export async function markSent(tx: Tx, sender: Sender, messageId: string, now: Date): Promise<OutboundEntry[]> {
  const row = await tx.maybeOne<MessageRow>(sql`
    update messages m set sent_at = ${now} from devices d
    where ${isSentBy(sender)} and m.id = ${messageId} and m.sent_at is null and d.id = m.device_id
    returning ${messageColumns}`);
  return row ? [messageEntry("message.sent", row, now.getTime())] : [];
}

/**
 * By the serial the device repeats, or by the kind where the protocol has none. Then an answer counts once: for the text of a
 * command that waits for it, and otherwise for the message.
 */
export type Answered = { serial: string } | { messageType: MessageType };

/**
 * The device has all of it. An answer that overtook the note of the writing stands for that too; one that came in before the time
 * in that note counts as of then, because partners order by these times.
 */
export async function markDelivered(db: Db, sender: Sender, answered: Answered, now: Date): Promise<OutboundEntry[]> {
  const condition =
    "serial" in answered
      ? sql`m.wire_serial = ${answered.serial}`
      : sql`m.message_type = ${answered.messageType} and m.command_uuid is null and not (m.message_type = 'text' and exists (
          select from commands c where c.device_id = m.device_id and c.organization_id = m.organization_id
            and c.command_type = 'send_message' and c.status in ('sending', 'sent')))`;
  const row = await db.maybeOne<MessageRow & { was_sent: boolean }>(sql`
    with before as (
      select m.device_id, m.id, m.sent_at is not null as was_sent from messages m
      where ${isSentBy(sender)} and ${condition} order by m.position limit 1 for update
    )
    update messages m set status = 'delivered', delivered_at = greatest(${now}::timestamptz, m.sent_at),
      sent_at = coalesce(m.sent_at, ${now})
    from before, devices d
    where m.device_id = before.device_id and m.id = before.id and d.id = m.device_id
    returning ${messageColumns}, before.was_sent`);
  if (!row) return [];
  const delivered = messageEntry("message.delivered", row, (row.delivered_at ?? now).getTime());
  return row.was_sent
    ? [delivered]
    : [messageEntry("message.sent", { ...row, status: "sending" }, now.getTime()), delivered];
}

export async function markFailed(
  tx: Tx,
  sender: Sender,
  messageId: string,
  reason: FailureReason,
  now: Date,
): Promise<OutboundEntry[]> {
  const row = await tx.maybeOne<MessageRow>(sql`
    update messages m set status = 'failed', failure_reason = ${reason} from devices d
    where ${isSentBy(sender)} and m.id = ${messageId} and d.id = m.device_id
    returning ${messageColumns}`);
  return row ? [messageEntry("message.failed", row, now.getTime())] : [];
}

const sweepRows = 500;

/** Messages that their devices never took. Returns how many. */
export async function expireMessages(db: Database, now: Date, outcomes = noOutcomes): Promise<number> {
  let total = 0;
  for (let count = sweepRows; count === sweepRows; total += count) {
    const { rows, entries } = await db.transaction(async (tx) => {
      const rows = await tx.many<MessageRow & { is_deleted: boolean; status_before: DeliveryStatus }>(sql`
        with due as (
          select m.device_id, m.id, m.status from messages m
          where m.expires_at <= ${now} and ${isUnfinished} and m.command_uuid is null
          order by m.device_id, m.id limit ${sweepRows} for update skip locked
        )
        update messages m set status = 'failed', failure_reason = 'device_offline_expired', speech_due_at = null
        from due, devices d
        where m.device_id = due.device_id and m.id = due.id and d.id = m.device_id
        returning ${messageColumns}, m.deleted_at is not null as is_deleted, due.status as status_before`);
      const visible = rows.filter(({ is_deleted }) => !is_deleted);
      for (const row of visible) await recordGivenUp(tx, row, row.status_before, now);
      const entries = visible.map((row) => messageEntry("message.failed", row, now.getTime()));
      await appendOutbound(tx, entries, now.getTime());
      return { rows, entries };
    });
    outcomes.countOutcomes(entries);
    count = rows.length;
  }
  return total;
}

/** Recordings of messages that were deleted while they were being sent. */
export const deleteHiddenAudio = (db: Db, deletedBefore: Date): Promise<number> =>
  db.run`
    delete from message_audio a using messages m
    where m.device_id = a.device_id and m.id = a.message_id and m.deleted_at < ${deletedBefore}`;

/** Devices that are connected to this process and have something waiting, for a wake-up that was lost. */
export const listWaitingDevices = async (db: Db, nodeId: string, now: Date): Promise<string[]> => {
  const rows = await db.many<{ device_id: string }>(sql`
    select s.device_id from device_sessions s
    where s.node_id = ${nodeId} and s.disconnected_at is null and exists (
      select from messages m
      where m.device_id = s.device_id and m.organization_id = s.organization_id and ${isWaitingAt(now)})`);
  return rows.map(({ device_id }) => device_id);
};

/** By status, of all organizations; without those that are the text of a command. */
export async function countOpenMessages(db: Db): Promise<Map<string, number>> {
  const rows = await db.many<{ status: string; count: number }>(sql`
    select m.status, count(*) as count from messages m
    where ${isUnfinished} and m.command_uuid is null and m.deleted_at is null group by m.status`);
  return new Map(rows.map(({ status, count }) => [status, count]));
}
