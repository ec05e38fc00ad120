import type { AwaitedAnswer } from "../protocol-definition.ts";
import type { CommandAnswer, MessageAnswer, TrackerMessage } from "../tracker-message.ts";
import { readWholeNumber } from "../wire/numbers.ts";
import type { IwFrame, IwSession } from "./fields.ts";

/** Codes of commands: 11 to 40, and these. From the device they are always answers. */
const COMMAND_CODES: ReadonlySet<string> = new Set([
  ...Array.from({ length: 30 }, (_, index) => `AP${index + 11}`),
  ..."46 76 77 84 85 86 87 88 89 93 96 XL XY XZ XT JZ OX TE MC PH TF SM WL".split(" ").map((code) => `AP${code}`),
]);

const SERIAL = /^\s*\d{6}\s*$/;

/**
 * A frame that answers one of our commands must never be answered, or both sides go on forever: its first field is a serial
 * that waits, or six digits are all it says, or its code is that of a command.
 */
export function isAnswer(frame: IwFrame, { device }: IwSession): boolean {
  if (COMMAND_CODES.has(frame.code) || SERIAL.test(frame.body)) return true;
  if (device === undefined || device.outstandingSerials.size === 0) return false;
  return device.outstandingSerials.has(frame.fields[0]?.trim() ?? "");
}

/** Enough to be taken for an answer when the code is none that we know. */
export function startsWithSerial({ fields }: IwFrame): boolean {
  return SERIAL.test(fields[0] ?? "");
}

/** BP and AP of one code belong together; of those we send only BP33 is answered with the value it set. */
export function answerTo(frame: Buffer): AwaitedAnswer | undefined {
  const [, code, mode] = /^(?:IW|TRV)BP(\w\w)(?:,\d*,\d*,(\d)#)?/.exec(frame.toString("latin1", 0, 64)) ?? [];
  if (code === undefined) return undefined;
  return code === "33" && mode !== undefined ? { word: "AP33", echo: mode } : { word: `AP${code}` };
}

/** The answer to a command; also one to a message where the code is that of texts (AP40) or of voice parts (AP28). */
export function readAnswers(frame: IwFrame): TrackerMessage[] {
  const { code, fields } = frame;
  const all = fields.map((field) => field.trim());
  if (code === "AP28" && all.length >= 5) return readPartAnswer(all);
  const answer = readCommandAnswer(code, all);
  if (answer.serial === null || (code !== "AP28" && code !== "AP40")) return [answer];
  const isWhole = code === "AP40";
  return [answer, messageAnswer({ serial: answer.serial, isAccepted: true, sequence: null, isLast: isWhole })];
}

/** Name, serial, total, sequence, result. Texts of kids' watches are part 0 of 0. */
function readPartAnswer([, serial = "", ...fields]: readonly string[]): TrackerMessage[] {
  const [total, sequence, result] = fields;
  const isAccepted = result === "1";
  const answer: CommandAnswer = {
    kind: "command_answer",
    word: "AP28",
    serial: serial || null,
    isAccepted,
    fields,
  };
  if (serial === "") return [answer];
  const part = readWholeNumber(sequence);
  const isLast = part !== null && part === readWholeNumber(total);
  return [answer, messageAnswer({ serial, isAccepted, sequence: part, isLast })];
}

const messageAnswer = (answer: Omit<MessageAnswer, "kind" | "messageType">): MessageAnswer => ({
  kind: "message_answer",
  messageType: null,
  ...answer,
});

/** `fields` are those after the serial, such as the echo of AP33. */
function readCommandAnswer(code: string, all: readonly string[]): CommandAnswer {
  const [first = "", ...rest] = all;
  const hasSerial = /^\d{1,10}$/.test(first);
  // A mode is a number: firmware that pads it means the same one.
  if (code === "AP33" && /^0+\d/.test(rest[0] ?? "")) rest[0] = String(Number(rest[0]));
  return {
    kind: "command_answer",
    word: code,
    serial: hasSerial ? first : null,
    isAccepted: null,
    fields: hasSerial ? rest : all.filter((field) => field !== ""),
  };
}
