import type { CommandAnswer, TrackerMessage } from "../codecs/tracker-message.ts";
import { onClient } from "../db/database.ts";
import { type Answered, markDelivered } from "../resources/messages/message-delivery.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";

/** What a device says of a message, or of one part of a recording, that it was sent. */
export interface MessageAnswer {
  answered: Answered;
  isAccepted: boolean;
  /** The part that is meant; null where messages go in one piece. */
  sequence: number | null;
  isLast: boolean;
}

/** The words by which devices answer messages: IW by the serial, watches by the kind alone. */
const kindsByWord: Readonly<Record<string, "text" | "voice">> = { MESSAGE: "text", TK: "voice" };

export function messageAnswerOf(message: TrackerMessage): MessageAnswer | undefined {
  if (message.kind !== "command_answer") return undefined;
  const { word, serial } = message;
  const isAccepted = message.isAccepted !== false;
  if (word === "AP28" && serial !== null) return { answered: { serial }, isAccepted, ...partOf(message) };
  if (word === "AP40" && serial !== null) return { answered: { serial }, isAccepted, sequence: null, isLast: true };
  const messageType = serial === null ? kindsByWord[word] : undefined;
  return messageType && { answered: { messageType }, isAccepted, sequence: null, isLast: true };
}

/** `<total>,<sequence>,<result>`; texts of kids' watches are part 0 of 0. */
function partOf({ fields: [total, sequence] }: CommandAnswer): Pick<MessageAnswer, "sequence" | "isLast"> {
  return { sequence: Number(sequence), isLast: Number(total) === Number(sequence) };
}

/** A message is delivered by the transaction of the packet that says so. */
export const messageAnswers: BatchStep = async (client, packets, rows, nowMs) => {
  const found = packets.flatMap(({ hold, messages }) =>
    messages.flatMap((message) => {
      const answer = messageAnswerOf(message);
      return answer?.isAccepted && answer.isLast ? [{ hold, answered: answer.answered }] : [];
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
