import { unescapeBytes } from "./envelope.ts";

const COMMA = 0x2c;

/** The word of a frame, and what follows it. Fields are cut before the escapes are undone: an escaped comma is no border. */
export interface Content {
  /** As sent; its case varies between makers. */
  word: string;
  /** Undefined when the frame is nothing but its word. */
  body: Buffer | undefined;
}

/** Undefined for what is no word: encrypted content, or none. */
export function readContent(content: Buffer): Content | undefined {
  const comma = content.indexOf(COMMA);
  const word = content.toString("latin1", 0, comma === -1 ? content.length : comma).trim();
  if (!/^[A-Za-z][\w.-]{0,31}$/.test(word)) return undefined;
  return { word, body: comma === -1 ? undefined : content.subarray(comma + 1) };
}

export function textFields(body: Buffer | undefined): string[] {
  if (body === undefined) return [];
  const plain = (field: string): string =>
    field.includes("}") ? unescapeBytes(Buffer.from(field, "latin1")).toString("latin1") : field;
  return body.toString("latin1").split(",").map(plain);
}

/** The first `count` fields as text and all after them as bytes; undefined when there are fewer. */
export function fieldsAndBytes(body: Buffer, count: number): { fields: string[]; bytes: Buffer } | undefined {
  let start = 0;
  for (let found = 0; found < count; found++) {
    const comma = body.indexOf(COMMA, start);
    if (comma === -1) return undefined;
    start = comma + 1;
  }
  const fields = count === 0 ? [] : textFields(body.subarray(0, start - 1));
  return { fields, bytes: unescapeBytes(body.subarray(start)) };
}

/** Text to keep: UTF-8 where it is, and without control characters. */
export function keptText(latin1: string): string {
  return Buffer.from(latin1, "latin1")
    .toString("utf8")
    .replace(/[\x00-\x1f\x7f]/g, "")
    .trim();
}
