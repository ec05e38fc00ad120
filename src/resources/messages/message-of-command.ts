import type { Db, Tx } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { recordMessage } from "./message-audit.ts";
import { type FailureReason, type MessageRow, messageColumns, messageEntry } from "./message-record.ts";
import { insertMessage } from "./message-store.ts";

/**
 * A `send_message` command is also a message (section 8.2). The command is what is sent and answered; the message row follows it,
 * and the message lane leaves it alone.
 */
export interface MessageOfCommand {
  commandUuid: string;
  text: string;
  senderName: string;
  senderUserId: string | null;
}

type Target = Readonly<{ id: string; organization_id: string }>;

export async function insertMessageOfCommand(
  tx: Tx,
  device: Target,
  { commandUuid, text, senderName, senderUserId }: MessageOfCommand,
  actor: Actor,
  now: Date,
): Promise<void> {
  const message = { text, speech: null, recording: null, senderName, senderUserId, commandUuid, expiresAt: null };
  const row = await insertMessage(tx, device, { messageType: "text", ...message }, now);
  await recordMessage(tx, "created", row, actor, now);
}

interface CommandKey {
  organizationId: string;
  deviceId: string;
  commandUuid: string;
}

const openMessageOf = ({ organizationId, deviceId, commandUuid }: CommandKey): Sql =>
  sql`m.device_id = ${deviceId} and m.organization_id = ${organizationId} and m.command_uuid = ${commandUuid}
    and m.status in ('pending', 'sending')`;

/** Hides the message of a command that was removed before it was sent. */
export async function hideMessageOfCommand(tx: Tx, command: CommandKey, actor: Actor, now: Date): Promise<void> {
  const row = await tx.maybeOne<MessageRow>(sql`
    update messages m set deleted_at = ${now} from devices d
    where ${openMessageOf(command)} and m.deleted_at is null and d.id = m.device_id
    returning ${messageColumns}`);
  if (row) await recordMessage(tx, "deleted", row, actor, now);
}

/** Where the command has come to: `sent` written, `delivered` acknowledged, `failed` refused, timed out or cancelled. */
export type CommandMove = { to: "sent" | "delivered" } | { to: "failed"; reason: FailureReason };

/** Moves the message of a command, forward only. The entries are for the caller to append, last in its transaction. */
export async function moveMessageOfCommand(
  db: Db,
  command: CommandKey,
  move: CommandMove,
  now: Date,
): Promise<OutboundEntry[]> {
  const status = move.to === "sent" ? "sending" : move.to;
  const isWritten = move.to === "sent" || move.to === "delivered";
  const row = await db.maybeOne<MessageRow & { was_sent: boolean }>(sql`
    with before as (
      select m.device_id, m.id, m.sent_at is not null as was_sent from messages m
      where ${openMessageOf(command)} for update
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
