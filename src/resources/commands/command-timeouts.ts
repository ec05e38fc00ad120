import type { Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type Actor, taskActor } from "../../oauth/actor.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { recordAudit } from "../audit/audit-store.ts";
import { type CommandError, type CommandRow, commandColumns, commandTables, isOpen } from "./command-record.ts";
import { commandError, settleCommands } from "./command-settling.ts";

/** Commands that the service itself gives up, which the audit log tells. */

const errorOf = ({ status, is_write_broken, ack_wait_seconds }: CommandRow): CommandError => {
  if (status === "pending") return commandError("expired", "The device was not reached in time.");
  return is_write_broken
    ? commandError("transport_error", "The connection broke during the write, and no acknowledgement came in time.")
    : commandError("ack_timeout", `No acknowledgement within ${ack_wait_seconds} s.`);
};

/** Locked rows of commands whose time is over. Returns the outbound events, to be written last in the transaction. */
export async function timeOutCommands(tx: Tx, rows: readonly CommandRow[], now: Date): Promise<OutboundEntry[]> {
  return end(tx, rows, errorOf, now, (row) => taskActor(row.organization_id));
}

/** The device is deleted: what waits for it will never be sent, and what is in progress will never be answered. */
export async function cancelCommandsOfDevice(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  actor: Actor,
  now: Date,
): Promise<OutboundEntry[]> {
  const rows = await tx.many<CommandRow & Record<string, unknown>>(sql`
    select ${commandColumns} from ${commandTables}
    where c.organization_id = ${organizationId} and c.device_id = ${deviceId} and ${isOpen}
    order by c.number for update of c`);
  return end(
    tx,
    rows,
    () => commandError("cancelled", "The device was deleted."),
    now,
    () => actor,
  );
}

async function end(
  tx: Tx,
  rows: readonly CommandRow[],
  reason: (row: CommandRow) => CommandError,
  now: Date,
  actorOf: (row: CommandRow) => Actor,
): Promise<OutboundEntry[]> {
  const settlements = rows.map((row) => ({ command: row, status: "timeout" as const, error: reason(row), at: now }));
  const { commands, outbound } = await settleCommands(tx, settlements);
  for (const command of commands) {
    const before = rows.find(({ id }) => id === command.id);
    await recordAudit(tx, actorOf(command), now, {
      action: "updated",
      model: "command",
      objectPk: command.id,
      objectRepr: command.command_type,
      changes: { status: [before?.status, command.status], error: [null, command.error?.code] },
    });
  }
  return outbound;
}
