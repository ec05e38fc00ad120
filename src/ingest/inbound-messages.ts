import { onClient } from "../db/database.ts";
import { amrFrameMs, readAmrFrames } from "../lib/amr-frames.ts";
import { type InboundMessage, insertInbound } from "../resources/messages/inbound-store.ts";
import { messageEntry } from "../resources/messages/message-record.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";
import { storeVoiceParts } from "./voice-parts.ts";

/**
 * Texts and recordings of devices. A part is stored with the packet that brought it, and only then answered; the packet with the
 * last one that was missing makes the message.
 */
export const inboundMessages: BatchStep = async (client, packets, rows, nowMs) => {
  const found = packets.filter(({ messages }) => messages.some(({ kind }) => kind === "text" || kind === "voice_part"));
  if (found.length === 0) return;
  const db = onClient(client);
  const sorted = found.toSorted(byDeviceId);
  const parts = sorted.flatMap(({ hold, messages, refusal }) => {
    const device = { id: hold.device.id, organization_id: hold.device.organizationId };
    return refusal ? [] : messages.flatMap((part) => (part.kind === "voice_part" ? [{ device, part }] : []));
  });
  const finished = parts.length === 0 ? undefined : await storeVoiceParts(db, parts, new Date(nowMs));
  for (const { hold, messages, receivedAtMs } of sorted) {
    const device = { id: hold.device.id, organization_id: hold.device.organizationId };
    const made: InboundMessage[] = [];
    for (const message of messages) {
      if (message.kind === "text") made.push({ text: message.text, recording: null });
      const bytes = message.kind === "voice_part" ? finished?.get(message) : undefined;
      if (bytes) made.push({ text: null, recording: recordingOf(bytes) });
    }
    for (const message of made) {
      const row = await insertInbound(db, device, message, new Date(receivedAtMs));
      if (row) rows.outbound.push(messageEntry("message.received", row, receivedAtMs));
    }
  }
};

/** What a device sent is kept as it came, also when it cannot be read. */
function recordingOf(bytes: Buffer): NonNullable<InboundMessage["recording"]> {
  const frames = readAmrFrames(bytes);
  const mimeType = !frames ? "application/octet-stream" : frames.isWideband ? "audio/amr-wb" : "audio/amr";
  return { bytes, mimeType, durationMs: frames ? frames.count * amrFrameMs : null };
}
