import type { Db, Tx } from "../../db/database.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { hideMessageOfCommand, insertMessageOfCommand, moveMessageOfCommand } from "../messages/message-of-command.ts";
import type { FailureReason } from "../messages/message-record.ts";
import type { CommandErrorCode, CommandRow } from "./command-record.ts";

/**
 * The message that a send_message command is at the same time (section 8.2). It has no queue of its own: the command carries it,
 * and its delivery status follows the command's. One place, so that commands need not know what a message is.
 */

/** In the transaction that makes the command. */
export async function createMessageOfCommand(
  tx: Tx,
  command: CommandRow,
  senderName: string,
  actor: Actor,
): Promise<void> {
  await insertMessageOfCommand(
    tx,
    { id: command.device_id, organization_id: command.organization_id },
    {
      commandUuid: command.id,
      text: String(command.params.text ?? ""),
      senderName,
      senderUserId: command.sender_user_id,
    },
    actor,
    command.created_at,
  );
}

/** After its frames were written for the first time. Returns the outbound events about it. */
export const messageOfCommandSent = (tx: Tx, command: CommandRow, at: Date): Promise<OutboundEntry[]> =>
  moveMessageOfCommand(tx, messageOf(command), { to: "sent" }, at);

const reasons: Readonly<Record<CommandErrorCode, FailureReason>> = {
  device_rejected: "device_rejected",
  not_supported: "device_rejected",
  invalid_params: "device_rejected",
  ack_timeout: "no_ack",
  transport_error: "no_ack",
  expired: "device_offline_expired",
  cancelled: "device_offline_expired",
};

/** After commands have become final. Returns the outbound events about their messages. */
export async function messagesOfCommandsSettled(db: Db, commands: readonly CommandRow[]): Promise<OutboundEntry[]> {
  const entries: OutboundEntry[] = [];
  for (const command of commands) {
    const at = command.completed_at ?? command.created_at;
    const reason = reasons[command.error?.code ?? "ack_timeout"];
    const move = command.status === "ack_ok" ? ({ to: "delivered" } as const) : ({ to: "failed", reason } as const);
    entries.push(...(await moveMessageOfCommand(db, messageOf(command), move, at)));
  }
  return entries;
}

/** Of a command that is deleted before it was sent: the message will never be either. */
export const dropMessageOfCommand = (tx: Tx, command: CommandRow, actor: Actor, now: Date): Promise<void> =>
  hideMessageOfCommand(tx, messageOf(command), actor, now);

const messageOf = ({ organization_id, device_id, id }: CommandRow) => ({
  organizationId: organization_id,
  deviceId: device_id,
  commandUuid: id,
});
