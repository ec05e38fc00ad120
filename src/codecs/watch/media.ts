import { createHash } from "node:crypto";
import type { MessageAnswer, Vitals, VoicePart } from "../tracker-message.ts";
import { readWholeNumber } from "../wire/numbers.ts";
import { messageAnswer } from "./answers.ts";
import { fieldsAndBytes, keptText } from "./content.ts";
import { unescapeBytes } from "./envelope.ts";

/** `TK,<recording>`, or the device's word on a recording of ours: `TK,1` has it, `TK,0` has not. */
export function readVoice(body: Buffer | undefined): VoicePart | MessageAnswer {
  const bytes = unescapeBytes(body ?? Buffer.alloc(0));
  if (bytes.length <= 1) {
    return messageAnswer("voice", bytes.toString("latin1").trim() !== "0");
  }
  // The frame has no name for it; the same recording sent again gets the same name.
  const transfer = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { kind: "voice_part", deviceTimeMs: null, transfer, total: 1, sequence: 1, bytes };
}

const maxVoiceParts = 1000;

/** `JXTK,0,<name>,<part>,<parts>,<bytes>`. */
export function readVoiceChunk(body: Buffer | undefined): VoicePart | undefined {
  const chunk = body === undefined ? undefined : fieldsAndBytes(body, 4);
  const sequence = readWholeNumber(chunk?.fields[2]);
  const total = readWholeNumber(chunk?.fields[3]);
  const transfer = keptText(chunk?.fields[1] ?? "").slice(0, 100);
  if (chunk === undefined || sequence === null || total === null || transfer === "") return undefined;
  if (sequence < 1 || sequence > total || total > maxVoiceParts) return undefined;
  return { kind: "voice_part", deviceTimeMs: null, transfer, total, sequence, bytes: chunk.bytes };
}

/** `img,<x>,<time>,<jpeg>`: only its size is kept. */
export function readPicture(body: Buffer | undefined): Vitals | undefined {
  const picture = body === undefined ? undefined : fieldsAndBytes(body, 2);
  if (picture === undefined) return undefined;
  return { kind: "vitals", deviceTimeMs: null, metrics: {}, extra: { picture_bytes: picture.bytes.length } };
}
