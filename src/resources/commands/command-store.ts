import type { Db, Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { commandInFlight, commandQueueFull, notFound } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { pick } from "../../lib/pick.ts";
import type { Actor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { wakeDevice } from "../devices/device-sessions.ts";
import { lockLiveDevice } from "../devices/device-store.ts";
import {
  type CommandRow,
  commandColumns,
  commandTables,
  isOpen,
  type VisibleCommandRow,
  visibleColumns,
} from "./command-record.ts";
import { askForSetting, settleSettings } from "./command-settings.ts";
import { privateTypes } from "./command-types.ts";
import { createMessageOfCommand, dropMessageOfCommand } from "./message-of-command.ts";

const queueLimit = 20;
const maxRetrySeconds = 3600;

export interface NewCommand {
  deviceId: string;
  type: string;
  params: Record<string, unknown>;
  expiresInSeconds: number;
  /** Who speaks, for a command that is a message too. */
  senderName: string;
  /** Refuses what the caller may not choose, once the record is known. */
  approve?(record: VisibleCommandRow): void;
}

/** What a new command has; the rest comes with what becomes of it. */
const newColumns = [
  "device_id",
  "id",
  "organization_id",
  "command_type",
  "params",
  "status",
  "sender_user_id",
  "created_at",
  "expires_at",
  "due_at",
] as const;
const commands = table<Pick<CommandRow, (typeof newColumns)[number]>>("commands");

/** The lock of the device makes the depth of its queue exact, and its order that of the numbers. */
export async function createCommand(
  tx: Tx,
  organizationId: string,
  wanted: NewCommand,
  actor: Actor,
  now: Date,
): Promise<VisibleCommandRow> {
  const device = await lockLiveDevice(tx, organizationId, wanted.deviceId);
  if (!device) throw notFound();
  const queue = await tx.one<{ length: number; next_due_at: Date | null }>(sql`
    select count(*) as length, min(c.due_at) as next_due_at from commands c where c.device_id = ${device.id} and ${isOpen}`);
  const row: Omit<VisibleCommandRow, "number"> = {
    id: newUuid(),
    organization_id: organizationId,
    device_id: device.id,
    device_uid: device.uid,
    protocol_slug: device.protocol_slug,
    command_type: wanted.type,
    params: wanted.params,
    status: "pending",
    attempts: 0,
    awaited: null,
    ack_wait_seconds: null,
    node_id: null,
    is_write_broken: false,
    result: null,
    error: null,
    sender_user_id: actor.by.type === "users" ? actor.by.id : null,
    created_at: now,
    sent_at: null,
    acked_at: null,
    completed_at: null,
    expires_at: new Date(now.getTime() + wanted.expiresInSeconds * 1000),
    due_at: new Date(now.getTime() + wanted.expiresInSeconds * 1000),
    queue_position: queue.length + 1,
  };
  wanted.approve?.({ ...row, number: 0 });
  if (queue.length >= queueLimit) {
    const seconds = queue.next_due_at === null ? 1 : (queue.next_due_at.getTime() - now.getTime()) / 1000;
    throw commandQueueFull(queueLimit, queue.length, Math.min(seconds, maxRetrySeconds));
  }
  const insert = commands.insert(pick(row, newColumns));
  const { number } = await tx.one<{ number: number }>(sql`${insert} returning number`);
  const command = { ...row, number };
  await askForSetting(tx, command, now);
  if (command.command_type === "send_message") await createMessageOfCommand(tx, command, wanted.senderName, actor);
  await audit(tx, "created", command, actor, now);
  await wakeDevice(tx, organizationId, device.id);
  return command;
}

export async function getCommand(
  db: Db,
  organizationId: string,
  deviceId: string,
  id: string,
): Promise<VisibleCommandRow> {
  const row = await db.maybeOne<VisibleCommandRow & Record<string, unknown>>(sql`
    select ${visibleColumns} from ${commandTables}
    where c.organization_id = ${organizationId} and c.device_id = ${deviceId} and c.id = ${id} and c.deleted_at is null`);
  if (!row) throw notFound();
  return row;
}

/** A pending command is deleted as if it had never existed; a final one is only hidden. */
export async function deleteCommand(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  id: string,
  actor: Actor,
  now: Date,
): Promise<void> {
  const row = await tx.maybeOne<CommandRow & Record<string, unknown>>(sql`
    select ${commandColumns} from ${commandTables}
    where c.organization_id = ${organizationId} and c.device_id = ${deviceId} and c.id = ${id} and c.deleted_at is null
    for update of c`);
  if (!row) throw notFound();
  if (row.status === "sending" || row.status === "sent") throw commandInFlight();
  if (row.status === "pending") {
    await tx.run`
      delete from commands where organization_id = ${organizationId} and device_id = ${deviceId} and id = ${id}`;
    await settleSettings(tx, [row], () => now);
    if (row.command_type === "send_message") await dropMessageOfCommand(tx, row, actor, now);
  } else {
    await tx.run`
      update commands set deleted_at = ${now}
      where organization_id = ${organizationId} and device_id = ${deviceId} and id = ${id}`;
  }
  await audit(tx, "deleted", row, actor, now);
}

const auditView = (row: CommandRow): Record<string, unknown> => ({
  device: row.device_uid,
  command_type: row.command_type,
  params: row.params,
  status: row.status,
  expires_at: row.expires_at.toISOString(),
});

function audit(tx: Tx, action: "created" | "deleted", row: CommandRow, actor: Actor, now: Date): Promise<void> {
  const view = auditView(row);
  const masked = privateTypes.includes(row.command_type) ? ["params"] : [];
  return recordAudit(tx, actor, now, {
    action,
    model: "command",
    objectPk: row.id,
    objectRepr: row.command_type,
    changes: changesBetween(action === "created" ? null : view, action === "created" ? view : null, masked),
  });
}
