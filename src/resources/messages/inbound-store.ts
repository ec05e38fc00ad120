import type { Db } from "../../db/database.ts";
import { uuidV7 } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { MessageRow } from "./message-record.ts";
import { findMessage, insertAudio, messages, type Recording, recordingColumns } from "./message-store.ts";

/** What a device said: a text or a recording. */
export interface InboundMessage {
  text: string | null;
  recording: Recording | null;
}

/** Named after the device, or its IMEI where it has no name. Undefined: the device no longer exists. */
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
  await db.run(
    messages.insert({
      ...recordingColumns(recording),
      device_id: device.id,
      id,
      organization_id: device.organization_id,
      direction: "inbound",
      message_type: recording ? "voice" : "text",
      status: "delivered",
      text,
      is_tts: false,
      language: null,
      voice: null,
      sender_user_id: null,
      sender_name: named.name,
      command_uuid: null,
      ts: receivedAt,
      created_at: receivedAt,
      delivered_at: receivedAt,
      expires_at: null,
      speech_due_at: null,
      search: searchText([text ?? "", named.name]),
    }),
  );
  if (recording) await insertAudio(db, device, id, recording.bytes);
  return findMessage(db, device, id);
}
