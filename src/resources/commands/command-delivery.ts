import type { Database, Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import { type CommandRow, commandColumns, commandTables, isInFlight, isOpen } from "./command-record.ts";
import { type Settlement, settleCommands } from "./command-settling.ts";
import { timeOutCommands } from "./command-timeouts.ts";
import { reportIntervalOf } from "./command-types.ts";
import { messageOfCommandSent } from "./message-of-command.ts";

/**
 * The way of a command to its device, as guarded steps: whoever is second finds the step done. The gateway that holds the
 * connection takes them; what is not in the row is forgotten when it dies.
 */

/** Who writes: a process, and the connection of the device that it holds. */
export interface Writer {
  nodeId: string;
  epoch: number;
}

/** Of these devices those for whom something waits. */
export const findWaiting = (
  db: Db,
  deviceIds: readonly string[],
): Promise<{ device_id: string; is_measuring: boolean }[]> =>
  db.many`
    select device_id, bool_or(status = 'ack_ok') as is_measuring from (
      select device_id, status from commands
      where device_id = any(${deviceIds}::uuid[]) and status in ('pending', 'sending', 'sent')
      union all
      select device_id, status from commands
      where device_id = any(${deviceIds}::uuid[]) and status = 'ack_ok' and due_at is not null) as waiting
    group by device_id`;

/** The command whose turn it is: one in progress, else the oldest that waits. */
export const findHead = (db: Db, organizationId: string, deviceId: string): Promise<CommandRow | undefined> =>
  db.maybeOne<CommandRow & Record<string, unknown>>(sql`
    select ${commandColumns} from ${commandTables}
    where c.organization_id = ${organizationId} and c.device_id = ${deviceId} and ${isOpen}
    order by c.number limit 1`);

export interface Claim {
  ackWaitSeconds: number;
  /** Words that the device must say; those that it has said to an earlier write stay said. */
  awaited: readonly { word: string; echo?: string }[];
}

/**
 * Takes a pending command in charge. The attempt counts from here on: after a crash nobody knows whether it was written.
 * False: it was deleted, taken or expired meanwhile, or the device is connected elsewhere.
 */
export async function claimCommand(
  db: Db,
  { organization_id, device_id, id }: CommandRow,
  writer: Writer,
  claim: Claim,
  now: Date,
): Promise<boolean> {
  const claimed = await db.run`
    update commands set status = 'sending', attempts = attempts + 1, node_id = ${writer.nodeId},
      awaited = ${JSON.stringify(claim.awaited)}, ack_wait_seconds = ${claim.ackWaitSeconds},
      due_at = ${new Date(now.getTime() + claim.ackWaitSeconds * 1000)}
    where organization_id = ${organization_id} and device_id = ${device_id} and id = ${id}
      and status = 'pending' and expires_at > ${now}
      and exists (select from device_sessions s where s.device_id = ${device_id} and s.epoch = ${writer.epoch})`;
  return claimed === 1;
}

/** The second write of a command that was not acknowledged in time. False: an answer or somebody else was faster. */
export async function claimSecondWrite(
  db: Db,
  { organization_id, device_id, id }: CommandRow,
  writer: Writer,
  ackWaitSeconds: number,
  now: Date,
): Promise<boolean> {
  const claimed = await db.run`
    update commands set attempts = attempts + 1, node_id = ${writer.nodeId}, ack_wait_seconds = ${ackWaitSeconds},
      due_at = ${new Date(now.getTime() + ackWaitSeconds * 1000)}
    where organization_id = ${organization_id} and device_id = ${device_id} and id = ${id}
      and status in ('sending', 'sent') and attempts = 1 and due_at <= ${now}
      and exists (select from device_sessions s where s.device_id = ${device_id} and s.epoch = ${writer.epoch})`;
  return claimed === 1;
}

/** After a write. One whose connection broke counts as sent too: the device may have it. The wait is counted from here. */
export async function markSent(db: Database, command: CommandRow, isBroken: boolean, now: Date): Promise<void> {
  const { organization_id, device_id, id } = command;
  const mark = (on: Db): Promise<number> => on.run`
    update commands set status = 'sent', sent_at = coalesce(sent_at, ${now}), is_write_broken = ${isBroken},
      due_at = ${now}::timestamptz + ack_wait_seconds * interval '1 second'
    where organization_id = ${organization_id} and device_id = ${device_id} and id = ${id} and status in ('sending', 'sent')`;
  if (isBroken || command.command_type !== "send_message") {
    await mark(db);
    return;
  }
  await db.transaction(async (tx) => {
    if ((await mark(tx)) === 0) return;
    await appendOutbound(tx, await messageOfCommandSent(tx, command, now), now.getTime());
  });
}

/** Ends a command outside of a batch of packets. Returns the outbound events about it. */
export function settleNow(db: Database, settlement: Settlement, command: CommandRow): Promise<OutboundEntry[]> {
  return db.transaction(async (tx) => {
    const { command_type, params, protocol_slug, device_id, organization_id } = command;
    if (settlement.status === "ack_ok" && reportIntervalOf(command_type, params, protocol_slug) !== undefined) {
      // Packets lock the state of a device before its commands.
      await tx.many`
        select from device_state where device_id = ${device_id} and organization_id = ${organization_id} for update`;
    }
    const { outbound } = await settleCommands(tx, [settlement]);
    await appendOutbound(tx, outbound, settlement.at.getTime());
    return outbound;
  });
}

/** The end of the wait for one command, if it still waits and its time is still over. Returns the outbound events about it. */
export function timeOutNow(
  db: Database,
  { organization_id, device_id, id }: CommandRow,
  now: Date,
): Promise<OutboundEntry[]> {
  return db.transaction(async (tx) => {
    const rows = await tx.many<CommandRow & Record<string, unknown>>(sql`
      select ${commandColumns} from ${commandTables}
      where c.organization_id = ${organization_id} and c.device_id = ${device_id} and c.id = ${id} and ${isOpen}
        and c.due_at <= ${now}
      for update of c`);
    const outbound = await timeOutCommands(tx, rows, now);
    await appendOutbound(tx, outbound, now.getTime());
    return outbound;
  });
}

/** Devices connected to the process whose wait is over. */
export const findOverdue = (db: Db, nodeId: string, now: Date): Promise<{ device_id: string }[]> =>
  db.many`
    select c.device_id from commands c join device_sessions s on s.device_id = c.device_id
    where c.due_at <= ${now} and ${isInFlight} and s.node_id = ${nodeId} and s.disconnected_at is null limit 1000`;

/** Devices connected to the process that have a command whose turn it is, though nobody has begun with it. */
export const findOverlooked = (db: Db, nodeId: string): Promise<{ device_id: string }[]> =>
  db.many`
    select c.device_id from commands c join device_sessions s on s.device_id = c.device_id
    where ${isOpen} and s.node_id = ${nodeId} and s.disconnected_at is null
    group by c.device_id having bool_and(c.status = 'pending') limit 1000`;

/** By status, of all organizations. */
export async function countOpenCommands(db: Db): Promise<Map<string, number>> {
  const rows = await db.many<{ status: string; count: number }>(sql`
    select c.status, count(*) as count from commands c where ${isOpen} group by c.status`);
  return new Map(rows.map(({ status, count }) => [status, count]));
}
