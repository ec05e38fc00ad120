import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import {
  type CommandError,
  type CommandErrorCode,
  type CommandRow,
  commandColumns,
  commandData,
  type FinalStatus,
  isOpen,
} from "./command-record.ts";
import { settleReportIntervals, settleSettings } from "./command-settings.ts";
import { metricsOf, readingWaitMs } from "./command-types.ts";
import { messagesOfCommandsSettled } from "./message-of-command.ts";

/** How a command ends. */
export interface Settlement {
  command: Pick<CommandRow, "device_id" | "id" | "organization_id" | "command_type">;
  status: FinalStatus;
  result?: Record<string, unknown>;
  error?: CommandError;
  /** The time of the transition. */
  at: Date;
}

export const commandError = (code: CommandErrorCode, message: string): CommandError => ({ code, message, details: {} });

export const acknowledged = (
  command: Settlement["command"],
  at: Date,
  result?: Record<string, unknown>,
): Settlement => ({ command, status: "ack_ok", at, ...(result ? { result } : {}) });
export const refused = (
  command: Settlement["command"],
  at: Date,
  code: "device_rejected" | "not_supported" | "invalid_params",
): Settlement => ({ command, status: "ack_error", at, error: commandError(code, refusals[code]) });
const refusals = {
  device_rejected: "The device refused the command.",
  not_supported: "The device does not know the command.",
  invalid_params: "The device refused the parameters.",
};

export interface Settled {
  /** Those that this call has ended; others were final before. */
  commands: CommandRow[];
  /** For the outbound log, to be written last in the transaction. */
  outbound: OutboundEntry[];
}

/**
 * Moves open commands to their final status, each exactly once whoever else tries, with all that follows from it in the same
 * transaction. Where an acknowledgement may change the state row of the device, that row
 * must be locked before: packets lock it before the commands.
 */
export async function settleCommands(db: Db, settlements: readonly Settlement[]): Promise<Settled> {
  if (settlements.length === 0) return { commands: [], outbound: [] };
  const dueAt = (settlement: Settlement): Date | null =>
    settlement.status === "ack_ok" && !settlement.result && metricsOf(settlement.command.command_type)
      ? new Date(settlement.at.getTime() + readingWaitMs)
      : null;
  const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
  const commands = await db.many<CommandRow & Record<string, unknown>>(sql`
    update commands c set status = n.status, result = n.result::jsonb, error = n.error::jsonb, awaited = null, node_id = null,
      sent_at = case when c.attempts > 0 then coalesce(c.sent_at, n.at) end,
      acked_at = case when c.attempts > 0 and n.status <> 'timeout' then greatest(n.at, c.sent_at) end,
      completed_at = greatest(n.at, c.sent_at), due_at = n.due_at
    from devices d, unnest(${settlements.map(({ command }) => command.device_id)}::uuid[],
      ${settlements.map(({ command }) => command.id)}::uuid[],
      ${settlements.map(({ command }) => command.organization_id)}::uuid[],
      ${settlements.map(({ status }) => status)}::text[], ${settlements.map(({ result }) => json(result))}::text[],
      ${settlements.map(({ error }) => json(error))}::text[], ${settlements.map(dueAt)}::timestamptz[],
      ${settlements.map(({ at }) => at)}::timestamptz[])
      as n(device_id, id, organization_id, status, result, error, due_at, at)
    where c.device_id = n.device_id and c.id = n.id and c.organization_id = n.organization_id and ${isOpen}
      and d.id = c.device_id and d.organization_id = c.organization_id
    returning ${commandColumns}`);
  await settleReportIntervals(
    db,
    commands.filter(({ status }) => status === "ack_ok"),
  );
  await settleSettings(db, commands, timeOf);
  const messages = commands.filter(({ command_type }) => command_type === "send_message");
  const messageEntries = messages.length === 0 ? [] : await messagesOfCommandsSettled(db, messages);
  return { commands, outbound: [...commands.map(outboundOf), ...messageEntries] };
}

/** Of a command that is final. */
const timeOf = (row: CommandRow): Date => row.completed_at ?? row.created_at;

const outboundOf = (row: CommandRow): OutboundEntry => ({
  organizationId: row.organization_id,
  type: row.status === "ack_ok" ? "command.ack" : "command.failed",
  deviceUid: row.device_uid,
  occurredAtMs: timeOf(row).getTime(),
  data: commandData(row),
});
