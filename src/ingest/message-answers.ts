import type { MessageAnswer } from "../codecs/tracker-message.ts";
import { onClient } from "../db/database.ts";
import { type Answered, markDelivered } from "../resources/messages/message-delivery.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";

/** Which message is answered; undefined when the answer names none. */
export function answeredBy({ serial, messageType }: MessageAnswer): Answered | undefined {
  if (serial !== null) return { serial };
  return messageType === null ? undefined : { messageType };
}

/** A message is delivered by the transaction of the packet that says so. */
export const messageAnswers: BatchStep = async (client, packets, rows, nowMs) => {
  const found = packets.flatMap(({ hold, messages }) =>
    messages.flatMap((message) => {
      const isDelivery = message.kind === "message_answer" && message.isAccepted && message.isLast;
      const answered = isDelivery ? answeredBy(message) : undefined;
      return answered ? [{ hold, answered }] : [];
    }),
  );
  if (found.length === 0) return;
  const db = onClient(client);
  const now = new Date(nowMs);
  for (const { hold, answered } of found.toSorted(byDeviceId)) {
    const { id: deviceId, organizationId } = hold.device;
    rows.outbound.push(...(await markDelivered(db, { deviceId, organizationId, epoch: hold.epoch }, answered, now)));
  }
};
