import type { Db, Tx } from "../../db/database.ts";
import { notify } from "../../db/listener.ts";
import { table } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { notFound } from "../../lib/errors.ts";
import { uuidV7 } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { Actor } from "../../oauth/actor.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { wakeDevice } from "../devices/device-sessions.ts";
import { recordMessage } from "./message-audit.ts";
import {
  type DeliveryStatus,
  type MessageRow,
  type MessageType,
  messageColumns,
  messageTables,
} from "./message-record.ts";

/** Hears that a text waits to be spoken. A wake-up that is lost is made up for by polling. */
export const speechChannel = "vigil_speech";

export interface Recording {
  bytes: Buffer;
  mimeType: string;
  /** Null when the recording cannot be read. */
  durationMs: number | null;
}

/** A message to a device, as its sender gave it. */
export interface NewMessage {
  messageType: MessageType;
  text: string | null;
  /** Of a text that the service is to speak. */
  speech: { language: string; voice: string } | null;
  recording: Recording | null;
  senderName: string;
  senderUserId: string | null;
  commandUuid: string | null;
  expiresAt: Date | null;
}

type Target = Readonly<{ id: string; organization_id: string }>;

export const findMessage = (db: Db, device: Target, id: string): Promise<MessageRow | undefined> =>
  db.maybeOne<MessageRow>(sql`
    select ${messageColumns} from ${messageTables}
    where m.organization_id = ${device.organization_id} and m.device_id = ${device.id} and m.id = ${id}
      and m.deleted_at is null`);

export async function getMessage(db: Db, device: Target, id: string): Promise<MessageRow> {
  const row = await findMessage(db, device, id);
  if (!row) throw notFound();
  return row;
}

interface MessageTable extends Omit<MessageRow, "device_uid" | "failure_reason" | "read_at"> {
  language: string | null;
  voice: string | null;
  expires_at: Date | null;
  speech_due_at: Date | null;
  search: string;
}
export const messages = table<MessageTable>("messages");

export const recordingColumns = (recording: Recording | null) => ({
  mime_type: recording?.mimeType ?? null,
  duration_ms: recording?.durationMs ?? null,
  size_bytes: recording?.bytes.length ?? null,
});

/** Without an audit entry: what makes the message says who did. */
export async function insertMessage(tx: Tx, device: Target, message: NewMessage, now: Date): Promise<MessageRow> {
  const id = uuidV7(now.getTime());
  const { speech, recording } = message;
  // A recording is brought into the device's form before its message exists, so there is nothing left to process.
  const status: DeliveryStatus = recording ? "ready" : "pending";
  await tx.run(
    messages.insert({
      ...recordingColumns(recording),
      device_id: device.id,
      id,
      organization_id: device.organization_id,
      direction: "outbound",
      message_type: message.messageType,
      status,
      text: message.text,
      is_tts: speech !== null,
      language: speech?.language,
      voice: speech?.voice,
      sender_user_id: message.senderUserId,
      sender_name: message.senderName,
      command_uuid: message.commandUuid,
      ts: now,
      created_at: now,
      delivered_at: null,
      expires_at: message.expiresAt,
      speech_due_at: speech ? now : null,
      search: searchText([message.text ?? "", message.senderName]),
    }),
  );
  if (recording) await insertAudio(tx, device, id, recording.bytes);
  return getMessage(tx, device, id);
}

export const insertAudio = (db: Db, device: Target, messageId: string, bytes: Buffer): Promise<number> =>
  db.run`
    insert into message_audio (device_id, message_id, organization_id, bytes)
    values (${device.id}, ${messageId}, ${device.organization_id}, ${bytes})`;

/** Texts of one organization that may wait to be spoken; organizations take turns, so more would only wait longer. */
export const maxWaitingTexts = 500;

/** Whether the organization has as many texts waiting as it may. */
export async function isSpeechFull(db: Db, organizationId: string): Promise<boolean> {
  const { waiting } = await db.one<{ waiting: number }>`
    select count(*) as waiting from (
      select from messages where organization_id = ${organizationId} and speech_due_at is not null limit ${maxWaitingTexts}
    ) waiting`;
  return waiting >= maxWaitingTexts;
}

export async function createMessage(
  tx: Tx,
  device: Target,
  message: NewMessage,
  actor: Actor,
  now: Date,
): Promise<MessageRow> {
  const row = await insertMessage(tx, device, message, now);
  await recordMessage(tx, "created", row, actor, now);
  if (message.speech) await notify(tx, speechChannel, "");
  else await wakeDevice(tx, device.organization_id, device.id);
  return row;
}

/** The recording of a message that is still shown. */
export const findAudio = (
  db: Db,
  device: Target,
  messageId: string,
): Promise<{ bytes: Buffer; mime_type: string } | undefined> =>
  db.maybeOne<{ bytes: Buffer; mime_type: string }>`
    select a.bytes, m.mime_type from messages m
    join message_audio a on a.device_id = m.device_id and a.message_id = m.id
    where m.organization_id = ${device.organization_id} and m.device_id = ${device.id} and m.id = ${messageId}
      and m.deleted_at is null`;

/**
 * Hides messages and gives back those that were there. One that waits is not sent any more; one that is being sent goes on, so
 * its recording stays until the sweep.
 */
export async function deleteMessages(
  tx: Tx,
  device: Target,
  ids: readonly string[],
  actor: Actor,
  now: Date,
): Promise<MessageRow[]> {
  // A command that would send one is locked before its message, as by those who move it.
  const commands = await tx.many<{ id: string; command_type: string }>`
    delete from commands c using messages m
    where m.organization_id = ${device.organization_id} and m.device_id = ${device.id} and m.id = any(${ids}::uuid[])
      and m.deleted_at is null and c.device_id = m.device_id and c.id = m.command_uuid and c.status = 'pending'
    returning c.id, c.command_type`;
  const rows = await tx.many<MessageRow>(sql`
    select ${messageColumns} from ${messageTables}
    where m.organization_id = ${device.organization_id} and m.device_id = ${device.id} and m.id = any(${ids}::uuid[])
      and m.deleted_at is null
    order by m.id for update of m`);
  if (rows.length === 0) return rows;
  const deleted = rows.map(({ id }) => id);
  await tx.run`
    update messages set deleted_at = ${now}, speech_due_at = null
    where organization_id = ${device.organization_id} and device_id = ${device.id} and id = any(${deleted}::uuid[])`;
  const unused = rows.filter(({ status }) => status !== "sending").map(({ id }) => id);
  await tx.run`
    delete from message_audio
    where organization_id = ${device.organization_id} and device_id = ${device.id} and message_id = any(${unused}::uuid[])`;
  for (const row of rows) await recordMessage(tx, "deleted", row, actor, now);
  for (const { id, command_type } of commands) {
    const changes = changesBetween({ device: rows[0]?.device_uid, command_type, status: "pending" }, null);
    await recordAudit(tx, actor, now, {
      action: "deleted",
      model: "command",
      objectPk: id,
      objectRepr: command_type,
      changes,
    });
  }
  // What waited after them may be sent now.
  await wakeDevice(tx, device.organization_id, device.id);
  return rows;
}
