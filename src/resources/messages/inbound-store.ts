import type { Db } from "../../db/database.ts";
import { uuidV7 } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { MessageRow } from "./message-record.ts";
import { findMessage, insertAudio, type Recording } from "./message-store.ts";

/** What a device said: a text or a recording. */
export interface InboundMessage {
  text: string | null;
  recording: Recording | null;
}

/** Named after the device, or its IMEI where it has no name. Undefined: the device is gone for good. */
export async function insertInbound(
  db: Db,
  device: { id: string; organization_id: string },
  { text, recording }: InboundMessage,
  receivedAt: Date,
): Promise<MessageRow | undefined> {
  const named = await db.maybeOne<{ name: string }>`
    select coalesce(nullif(name, ''), uid) as name from devices
    where organization_id = ${device.organization_id} and id = ${device.id}`;
  if (!named) return undefined;
  const id = uuidV7(receivedAt.getTime());
  await db.run`
    insert into messages (device_id, id, organization_id, direction, message_type, status, text, mime_type, duration_ms,
      size_bytes, sender_name, ts, created_at, delivered_at, search)
    values (${device.id}, ${id}, ${device.organization_id}, 'inbound', ${recording ? "voice" : "text"}, 'delivered', ${text},
      ${recording?.mimeType}, ${recording?.durationMs}, ${recording?.bytes.length}, ${named.name}, ${receivedAt},
      ${receivedAt}, ${receivedAt}, ${searchText([text ?? "", named.name])})`;
  if (recording) await insertAudio(db, device, id, recording.bytes);
  return findMessage(db, device, id);
}
