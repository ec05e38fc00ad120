import type { AwaitedAnswer } from "../protocol-definition.ts";
import type { CommandAnswer } from "../tracker-message.ts";

/** What the server says to a frame, and what the device says to a command. */

export interface TextFrame {
  /** Two letters; answers repeat them. */
  maker: string;
  id: string;
  type: string;
  fields: string[];
}

const textPattern = /^\*([A-Za-z0-9]{2}),(\d{1,20}),([^,#*]{0,20})(?:,([^#]*))?#$/s;

export function openText(text: string): TextFrame | undefined {
  const [, maker, id, type, rest] = textPattern.exec(text) ?? [];
  if (maker === undefined || id === undefined || type === undefined) return undefined;
  return { maker, id, type: type.trim(), fields: rest === undefined ? [] : rest.split(",") };
}

/** Positions `V1` and cells `NBR` get the time, heartbeats their own beginning; for others devices wait for nothing. */
export function repliesTo({ maker, id, type }: TextFrame, nowMs: number): Buffer[] {
  switch (type) {
    case "V1":
    case "NBR":
      return [Buffer.from(`*${maker},${id},V4,${type},${timeDigits(nowMs)}#`)];
    case "V0":
    case "HTBT":
      return [Buffer.from(`*${maker},${id},${type}#`)];
    default:
      return [];
  }
}

/** yyyymmddhhmmss, UTC. */
const timeDigits = (nowMs: number): string => new Date(nowMs).toISOString().replace(/\D/g, "").slice(0, 14);

/** `V4,<command>,<result…>,<time sent>[,<position>]`: the time that was sent is the serial of the command. */
export function readAnswer(fields: readonly string[]): { answer: CommandAnswer; position: string[] } {
  const word = (fields[0] ?? "").trim().toUpperCase();
  const positionAt = fields.findIndex(
    (field, at) => at > 1 && /^(\d{6})?$/.test(field.trim()) && /^[ABV]$/.test(fields[at + 1]?.trim() ?? ""),
  );
  const head = fields.slice(1, positionAt === -1 ? undefined : positionAt).map((field) => field.trim());
  const serialAt = head.findLastIndex((field) => /^\d{6}$/.test(field));
  const results = head.filter((_, at) => at !== serialAt);
  const isRefused = results.some((result) => /^(error|fail|failed|unsupport\w*|no)$/i.test(result));
  const answer: CommandAnswer = {
    kind: "command_answer",
    word,
    serial: serialAt === -1 ? null : (head[serialAt] ?? null),
    isAccepted: !isRefused,
    fields: results,
  };
  return { answer, position: positionAt === -1 ? [] : fields.slice(positionAt) };
}

/** The device repeats the word of the command. */
export function answerTo(frame: Buffer): AwaitedAnswer | undefined {
  const word = openText(frame.toString("latin1"))?.type;
  return word === undefined || word === "" ? undefined : { word: word.toUpperCase() };
}
