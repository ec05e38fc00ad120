import type { TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { textAnswer } from "./answers.ts";

const CODEC_12 = 0x0c;
const CODEC_13 = 0x0d;
const CODEC_14 = 0x0e;

export const textCodecs: ReadonlySet<number> = new Set([CODEC_12, CODEC_13, CODEC_14]);

const ANSWER = 0x06;
const REFUSAL = 0x11;

/** Codecs 12, 13 and 14: texts, and pictures of cameras. 13 has the time before the text, 14 the IMEI. */
export function readTexts(content: Buffer): TrackerMessage[] {
  const reader = new ByteReader(content);
  const codec = reader.u8();
  const messages: TrackerMessage[] = [];
  for (let left = reader.u8(); left > 0; left--) messages.push(...readOne(reader, codec));
  return messages.length > 0 ? messages : [{ kind: "heartbeat" }];
}

function readOne(reader: ByteReader, codec: number): TrackerMessage[] {
  const kind = reader.u8();
  const content = new ByteReader(reader.bytes(reader.u32()));
  const deviceTimeMs = codec === CODEC_13 && content.remaining >= 4 ? content.u32() * 1000 : null;
  if (codec === CODEC_14) content.skip(Math.min(8, content.remaining));
  if (kind !== ANSWER && kind !== REFUSAL) return [];
  const text = content
    .text(content.remaining)
    .replace(/[^\x20-\x7e]/g, "")
    .trim();
  // Codec 13 sends what the serial port of the device has received: that is nobody's answer.
  const answer = codec === CODEC_13 ? [] : [textAnswer(text, kind === REFUSAL)];
  const driver = /^GTSL\|[^|]*\|[^|]*\|[^|]*\|([^|]+)\|/.exec(text)?.[1];
  const extra = { result: text, ...(driver === undefined ? {} : { driver_id: driver }) };
  return [...answer, { kind: "vitals", deviceTimeMs, metrics: {}, extra }];
}
