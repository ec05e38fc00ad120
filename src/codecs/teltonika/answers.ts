import type { AwaitedAnswer } from "../protocol-definition.ts";
import type { CommandAnswer } from "../tracker-message.ts";

export const acceptance = Buffer.of(1);
export const refusal = Buffer.of(0);

/** The number of records that were stored. Another number makes the device send all of them again. */
export function countAnswer(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return bytes;
}

export function datagramAnswer(packetId: Buffer, dataId: number, count: number): Buffer {
  return Buffer.concat([Buffer.of(0, 5), packetId, Buffer.of(1, dataId, count)]);
}

/** Answers name no command: the one in progress is meant. */
const word = "TEXT";

export const answerTo = (): AwaitedAnswer => ({ word });

/** What devices write for what they do not know. */
const refusalText = /unknown command|invalid|not supported|error/i;

export function textAnswer(text: string, isRefused: boolean): CommandAnswer {
  const isAccepted = !isRefused && !refusalText.test(text);
  const refusal = /unknown|not supported/i.test(text) ? "not_supported" : "device_rejected";
  return {
    kind: "command_answer",
    word,
    serial: null,
    isAccepted,
    ...(isAccepted ? {} : { refusal }),
    fields: [text.slice(0, 200)],
  };
}
