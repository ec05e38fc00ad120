/**
 * The envelope of a frame, `[maker*id*(index*)length*content]`, as bytes and back.
 * The length is written but never trusted: many devices count wrongly.
 */
export interface Frame {
  /** Two characters; answers repeat them. */
  maker: string;
  id: string;
  /** The counter some makers put before the length; answers repeat it. */
  index: string | undefined;
  /** Still escaped. */
  content: Buffer;
}

export interface Header {
  maker: string;
  id: string;
  index: string | undefined;
  declaredLength: number;
  /** Bytes before the content. */
  size: number;
}

/** Undefined for what is no frame. */
export function readEnvelope(raw: Buffer): Frame | undefined {
  const header = readHeader(raw, 0, raw.length);
  if (header === undefined) return undefined;
  const { maker, id, index, size } = header;
  return { maker, id, index, content: raw.subarray(size, -1) };
}

/** `[` + 2 + `*` + id of up to 20 + `*` + index + `*` + length + `*`. */
const maxHeaderBytes = 36;
const headerPattern = /^\[([^[\]*]{2})\*([0-9A-Za-z]{1,20})\*(?:([0-9A-Fa-f]{4})\*)?([0-9A-Fa-f]{4})\*/;

/** The header that begins at `offset`, read no further than `limit`. */
export function readHeader(bytes: Buffer, offset: number, limit: number): Header | undefined {
  const match = headerPattern.exec(bytes.toString("latin1", offset, Math.min(offset + maxHeaderBytes, limit)));
  if (match === null) return undefined;
  const [all, maker, id, index, length] = match as unknown as [string, string, string, string | undefined, string];
  return { maker, id, index, declaredLength: Number.parseInt(length, 16), size: all.length };
}

const headerStart =
  /^\[(?:[^[\]*]{0,2}|[^[\]*]{2}\*(?:[0-9A-Za-z]{0,20}|[0-9A-Za-z]{1,20}\*(?:[0-9A-Fa-f]{4}\*)?[0-9A-Fa-f]{0,4}))$/;

/** True: a header begins at `offset`. Undefined: it may, with more bytes than those before `limit`. */
export function findHeader(bytes: Buffer, offset: number, limit: number): boolean | undefined {
  const text = bytes.toString("latin1", offset, Math.min(offset + maxHeaderBytes, limit));
  if (headerPattern.test(text)) return true;
  return headerStart.test(text) ? undefined : false;
}

const ESCAPE = 0x7d;
const escapedBytes = [0x7d, 0x5b, 0x5d, 0x2c, 0x2a];

export function unescapeBytes(bytes: Buffer): Buffer {
  const plain = Buffer.alloc(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const meant = bytes[at] === ESCAPE ? escapedBytes[(bytes[at + 1] ?? 0) - 1] : undefined;
    if (meant !== undefined) at++;
    plain[size++] = meant ?? (bytes[at] as number);
  }
  return plain.subarray(0, size);
}

export function escapeBytes(bytes: Buffer): Buffer {
  const escaped = Buffer.alloc(bytes.length * 2);
  let size = 0;
  for (const byte of bytes) {
    const code = escapedBytes.indexOf(byte);
    if (code === -1) {
      escaped[size++] = byte;
    } else {
      escaped[size++] = ESCAPE;
      escaped[size++] = code + 1;
    }
  }
  return escaped.subarray(0, size);
}

/** A word and its fields, each escaped, with the commas between them plain. */
export function joinContent(word: string, fields: readonly (string | Buffer)[]): Buffer {
  const comma = Buffer.from(",");
  return Buffer.concat([
    Buffer.from(word, "latin1"),
    ...fields.flatMap((field) => [comma, escapeBytes(typeof field === "string" ? Buffer.from(field) : field)]),
  ]);
}

export const maxContentBytes = 0xffff;

/** The length counts the bytes as they are sent, escapes included. */
export function writeFrame({ maker, id, index, content }: Frame): Buffer {
  const length = content.length.toString(16).toUpperCase().padStart(4, "0");
  const header = [`[${maker}`, id, ...(index === undefined ? [] : [index]), length, ""].join("*");
  return Buffer.concat([Buffer.from(header, "latin1"), content, Buffer.from("]")]);
}
