import type { Database, Db } from "../db/database.ts";
import { deleteKeyedRows, readKeyedRows } from "../db/keyed-rows.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { ErasureReport } from "./erasure-report.ts";
import { eraseFromLogs } from "./outbound-erasure.ts";

/** What a person wrote to devices, of others too, or did about their alarms. These tables are read by device. */

const devicesPerPage = 50;
const batchRows = 1000;

/** Ids of all devices of an organization, deleted ones too, in pages. */
export async function* readDeviceIds(db: Db, organizationId: string): AsyncGenerator<string[]> {
  const rows = { table: "devices", key: [["id", "uuid"]] as const, where: sql`organization_id = ${organizationId}` };
  for await (const page of readKeyedRows<{ id: string }>(db, rows, { select: sql`id`, pageRows: devicesPerPage })) {
    yield page.map(({ id }) => id);
  }
}

/** Rows of a page of devices, with the tenant named too. */
export const ofDevices = (organizationId: string, deviceIds: readonly string[]): Sql =>
  sql`device_id = any(${deviceIds}::uuid[]) and organization_id = ${organizationId}`;

const messageTypes = ["message.sent", "message.delivered", "message.failed", "message.received"] as const;
const commandTypes = ["command.ack", "command.failed"] as const;

/** Messages that the person sent, also those sent by a command, and their name on commands and acknowledgements. */
export async function eraseSent(
  db: Database,
  organizationId: string,
  userId: string,
  report: ErasureReport,
): Promise<void> {
  // The log first: which of its rows are concerned is known by the commands, which go then.
  const commandIds = await listTextCommands(db, organizationId, userId);
  const onRows = (count: number) => report.add("outbound_events", count);
  const isSender = sql`body::jsonb->'data'->>'sender_user_id' = ${userId}`;
  await eraseFromLogs(db, organizationId, { isWanted: isSender, types: messageTypes }, onRows);
  if (commandIds.length > 0) {
    const isOfCommand = sql`body::jsonb->'data'->>'command_uuid' = any(${commandIds}::text[])`;
    await eraseFromLogs(db, organizationId, { isWanted: isOfCommand, types: commandTypes }, onRows);
  }
  for await (const deviceIds of readDeviceIds(db, organizationId)) {
    await eraseOfDevices(db, ofDevices(organizationId, deviceIds), userId, report);
  }
}

/** A command with a text of the person. Numbers that they set on a device are the device's. */
const isTextCommand = (userId: string): Sql => sql`sender_user_id = ${userId} and command_type = 'send_message'`;

async function listTextCommands(db: Db, organizationId: string, userId: string): Promise<string[]> {
  const found: string[] = [];
  for await (const deviceIds of readDeviceIds(db, organizationId)) {
    const rows = await db.many<{ id: string }>(sql`
      select id from commands where ${ofDevices(organizationId, deviceIds)} and ${isTextCommand(userId)}`);
    for (const { id } of rows) found.push(id);
  }
  return found;
}

async function eraseOfDevices(db: Database, ofPage: Sql, userId: string, report: ErasureReport): Promise<void> {
  const keyOf = (column: string) => [["device_id", "uuid"] as const, [column, "uuid"] as const];
  const sent = sql`${ofPage} and (sender_user_id = ${userId} or command_uuid in (
    select id from commands where ${ofPage} and ${isTextCommand(userId)}))`;
  const recordings = sql`${ofPage} and (device_id, message_id) in (select device_id, id from messages where ${sent})`;
  const erase = async (table: string, key: string, where: Sql): Promise<void> => {
    report.add(table, await deleteKeyedRows(db, { table, key: keyOf(key), where }, batchRows));
  };
  await erase("message_audio", "message_id", recordings);
  await erase("messages", "id", sent);
  await erase("commands", "id", sql`${ofPage} and ${isTextCommand(userId)}`);
  report.add(
    "commands",
    await db.run(sql`update commands set sender_user_id = null where ${ofPage} and sender_user_id = ${userId}`),
  );
  report.add(
    "events",
    await db.run(
      sql`update events set acknowledged_by = null, notes = null where ${ofPage} and acknowledged_by = ${userId}`,
    ),
  );
}
