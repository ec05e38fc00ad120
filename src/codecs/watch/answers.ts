import type { AwaitedAnswer } from "../protocol-definition.ts";
import type { CommandAnswer, MessageAnswer } from "../tracker-message.ts";
import { keptText, readContent } from "./content.ts";
import { readEnvelope } from "./envelope.ts";

/** The device repeats the word. */
export function answerTo(bytes: Buffer): AwaitedAnswer | undefined {
  const frame = readEnvelope(bytes);
  const word = frame && readContent(frame.content)?.word;
  return word === undefined ? undefined : { word: word.toUpperCase() };
}

/** Words of ours that the device repeats when it has understood; some repeat the values too. */
const commandWords: ReadonlySet<string> = new Set(
  (
    "CR RG MESSAGE UPLOAD LZ RESET POWEROFF FACTORY HRTSTART BODYTEMP2 BTEMP2 OXYGEN SOS SOS1 SOS2 SOS3 SOSSMS PHB PHB2 " +
    "CENTER FIND CALL MONITOR LOWBAT REMOVE PEDO WALKTIME SLEEPTIME SILENCETIME REMIND FLOWER FALLDOWN FALLDET IP VERNO TS " +
    "LKSET HEALTHAUTOSET PROFILE RCAPTURE"
  ).split(" "),
);

export function readEcho(name: string, fields: readonly string[]): CommandAnswer | undefined {
  if (!commandWords.has(name)) return undefined;
  return { kind: "command_answer", word: name, serial: null, isAccepted: null, fields: fields.map(keptText) };
}

/** Messages go in one piece, and are answered by their kind alone. */
export const messageAnswer = (messageType: "text" | "voice", isAccepted: boolean): MessageAnswer => ({
  kind: "message_answer",
  serial: null,
  messageType,
  isAccepted,
  sequence: null,
  isLast: true,
});
