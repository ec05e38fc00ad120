import type { Db, Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import type { OutboundEntry } from "../outbound-events/outbound-entry.ts";
import { type FailureReason, type MessageRow, messageColumns, messageEntry } from "./message-record.ts";
import { insertMessage } from "./message-store.ts";

/**
 * A `send_message` command is also a message (section 8.2). The command is what is sent, audited and answered; the message row
 * follows it, and the message lane leaves it alone.
 */
export interface MessageOfCommand {
  commandUuid: string;
  text: string;
  senderName: string;
  senderUserId: string | null;
}

type Target = Readonly<{ id: string; organization_id: string }>;

export const insertMessageOfCommand = (
  tx: Tx,
  device: Target,
  { commandUuid, text, senderName, senderUserId }: MessageOfCommand,
  now: Date,
): Promise<MessageRow> =>
  insertMessage(
    tx,
    device,
    {
      messageType: "text",
      text,
      speech: null,
      recording: null,
      senderName,
      senderUserId,
      commandUuid,
      expiresAt: null,
    },
    now,
  );

/**
 * Where the command has come to: `sent` written, `delivered` acknowledged, `failed` refused, timed out or cancelled, `deleted`
 * removed before it was sent.
 */
export type CommandMove = { to: "sent" | "delivered" | "deleted" } | { to: "failed"; reason: FailureReason };

/** Moves the message of a command, forward only. The entries are for the caller to append, last in its transaction. */
export async function moveMessageOfCommand(
  db: Db,
  { organizationId, deviceId, commandUuid }: { organizationId: string; deviceId: string; commandUuid: string },
  move: CommandMove,
  now: Date,
): Promise<OutboundEntry[]> {
  const which = sql`m.device_id = ${deviceId} and m.organization_id = ${organizationId}
    and m.command_uuid = ${commandUuid} and m.status in ('pending', 'sending')`;
  if (move.to === "deleted") {
    await db.run(sql`update messages m set deleted_at = ${now} where ${which}`);
    return [];
  }
  const status = move.to === "sent" ? "sending" : move.to;
  const isWritten = move.to === "sent" || move.to === "delivered";
  const row = await db.maybeOne<MessageRow & { was_sent: boolean }>(sql`
    with before as (
      select m.device_id, m.id, m.sent_at is not null as was_sent from messages m where ${which} for update
    )
    update messages m set status = ${status}, failure_reason = ${move.to === "failed" ? move.reason : null},
      sent_at = case when ${isWritten} then coalesce(m.sent_at, ${now}) else m.sent_at end,
      delivered_at = case when ${move.to === "delivered"} then ${now}::timestamptz end
    from before, devices d
    where m.device_id = before.device_id and m.id = before.id and d.id = m.device_id
    returning ${messageColumns}, before.was_sent`);
  if (!row) return [];
  const nowMs = now.getTime();
  const sent = isWritten && !row.was_sent ? [messageEntry("message.sent", { ...row, status: "sending" }, nowMs)] : [];
  if (move.to === "delivered") return [...sent, messageEntry("message.delivered", row, nowMs)];
  return move.to === "failed" ? [messageEntry("message.failed", row, nowMs)] : sent;
}
