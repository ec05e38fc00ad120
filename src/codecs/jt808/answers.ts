import type { AwaitedAnswer, RefusalReason, Session } from "../protocol-definition.ts";
import { sixteenBitSerial } from "../serials.ts";
import type { CommandAnswer, TrackerMessage } from "../tracker-message.ts";
import { type Address, addressOf, readEnvelope, writeFrame, writeLockFrame } from "./envelope.ts";
import { REGISTER } from "./registration.ts";

export const resultOk = 0;
export const resultFailure = 1;
const resultUnknownTerminal = 4;

/** The general answer, 8001. Answers have no serial of their own: nobody answers them. */
export function generalAnswer(address: Address, serial: number, messageId: number, result: number): Buffer {
  return writeFrame(address, 0x8001, 0, Buffer.concat([word(serial), word(messageId), Buffer.of(result)]));
}

export const lockAnswer = (address: Address, messageId: number): Buffer =>
  writeLockFrame(address, 0x4401, Buffer.concat([word(messageId), Buffer.of(resultOk)]));

export function registrationAnswer(address: Address, serial: number, result: number, code = ""): Buffer {
  return writeFrame(address, 0x8100, 0, Buffer.concat([word(serial), Buffer.of(result), Buffer.from(code, "latin1")]));
}

/** UTC, to the millisecond. */
export function timeAnswer(address: Address, nowMs: number): Buffer {
  const now = new Date(nowMs);
  const clock = [now.getUTCMonth() + 1, now.getUTCDate(), now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()];
  const millis = word(now.getUTCMilliseconds());
  return writeFrame(address, 0x8109, 0, Buffer.concat([word(now.getUTCFullYear()), Buffer.from(clock), millis]));
}

export function mediaAnswer(address: Address, mediaId: number): Buffer {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(mediaId);
  return writeFrame(address, 0x8800, 0, body);
}

/** Told to a terminal that nobody registered, or whose code is wrong: by the standard it registers then. */
export function refuse(_reason: RefusalReason, session: Pick<Session, "memory">): Buffer | undefined {
  const address = addressOf(session);
  const [messageId = 0, serial = 0] = (session.memory.get("first") ?? "").split("/").map(Number);
  if (address === undefined || messageId === 0) return undefined;
  return messageId === REGISTER
    ? registrationAnswer(address, serial, resultUnknownTerminal)
    : generalAnswer(address, serial, messageId, resultFailure);
}

/** The terminal's answer to a message of ours. Results as in the general answer; 4 confirms an alarm. */
export function readAnswer(messageId: number, onWire: number | null, result: number): TrackerMessage[] {
  const isAccepted = result === 0 || result === 4;
  const answer: CommandAnswer = {
    kind: "command_answer",
    word: wordOf(messageId),
    serial: onWire === null ? null : sixteenBitSerial(onWire),
    isAccepted,
    ...(isAccepted ? {} : { refusal: refusals[result] ?? "device_rejected" }),
    fields: [],
  };
  if (messageId !== textMessage) return [answer];
  // Texts are sent as commands and as messages; the serial says which one this was.
  const { serial } = answer;
  return [
    answer,
    {
      kind: "message_answer",
      serial,
      messageType: serial === null ? "text" : null,
      isAccepted,
      sequence: null,
      isLast: true,
    },
  ];
}

const textMessage = 0x8300;
const refusals: Readonly<Record<number, CommandAnswer["refusal"]>> = { 2: "invalid_params", 3: "not_supported" };

const wordOf = (messageId: number): string => messageId.toString(16).toUpperCase().padStart(4, "0");

export const answerTo = (frame: Buffer): AwaitedAnswer => ({ word: wordOf(readEnvelope(frame).messageId) });

const word = (value: number): Buffer => Buffer.of((value >> 8) & 0xff, value & 0xff);
