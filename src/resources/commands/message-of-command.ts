import type { Db, Tx } from "../../db/database.ts";
import type { OutboundEntry } from "../outbound-events/outbound-entry.ts";
import type { CommandRow } from "./command-record.ts";

/**
 * The message that a send_message command is at the same time (section 8.2). It has no queue of its own: the command carries it,
 * and its delivery status follows the command's. One place, so that commands need not know what a message is.
 */

/** In the transaction that makes the command. */
export async function createMessageOfCommand(_tx: Tx, _command: CommandRow, _senderName: string): Promise<void> {}

/** After its frames were written for the first time. Returns what partners are told of it. */
export async function messageOfCommandSent(_tx: Tx, _command: CommandRow, _at: Date): Promise<OutboundEntry[]> {
  return [];
}

/** After commands have become final. Returns what partners are told of their messages. */
export async function messagesOfCommandsSettled(_db: Db, _commands: readonly CommandRow[]): Promise<OutboundEntry[]> {
  return [];
}

/** Of a command that is deleted before it was sent: the message will never be either. */
export async function dropMessageOfCommand(_tx: Tx, _command: CommandRow, _now: Date): Promise<void> {}
