import { onClient } from "../db/database.ts";
import { amrFrameMs, readAmrFrames } from "../lib/amr-frames.ts";
import { type InboundMessage, insertInbound } from "../resources/messages/inbound-store.ts";
import { messageEntry } from "../resources/messages/message-record.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";
import { storeVoicePart } from "./voice-parts.ts";

/**
 * Texts and recordings of devices. A part is stored with the packet that brought it, and only then answered; the packet with the
 * last one that was missing makes the message.
 */
export const inboundMessages: BatchStep = async (client, packets, rows, nowMs) => {
  const found = packets.filter(({ messages }) => messages.some(({ kind }) => kind === "text" || kind === "voice_part"));
  if (found.length === 0) return;
  const db = onClient(client);
  const now = new Date(nowMs);
  for (const { hold, messages, receivedAtMs } of found.toSorted(byDeviceId)) {
    const device = { id: hold.device.id, organization_id: hold.device.organizationId };
    const made: InboundMessage[] = [];
    for (const message of messages) {
      if (message.kind === "text") made.push({ text: message.text, recording: null });
      if (message.kind !== "voice_part") continue;
      const bytes = await storeVoicePart(db, device, message, now);
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
