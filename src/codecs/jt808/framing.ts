import type { Piece, Session } from "../protocol-definition.ts";

/**
 * Frames stand between two delimiters, 7E or, of some makers, E7; inside, the delimiter is escaped. Electronic locks also send
 * texts in round brackets on the same connection.
 */

/** A body of 1,023 bytes with the longest header, every byte escaped. */
export const maxFrameBytes = 2 * (1023 + 24) + 2;
const maxTextBytes = 512;

export const DELIMITER = 0x7e;
export const OTHER_DELIMITER = 0xe7;
export const OPEN = 0x28;
const CLOSE = 0x29;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** One byte tells the binary frames; texts begin with a bracket and the number of the terminal. */
export function recognizes(start: Buffer): boolean | undefined {
  if (start[0] === DELIMITER || start[0] === OTHER_DELIMITER) return true;
  if (start[0] !== OPEN) return start.length > 0 ? false : undefined;
  return start.length > 1 ? isDigit(start[1]) : undefined;
}

export function nextPiece(bytes: Buffer, at: number, scannedTo: number, session: Pick<Session, "memory">): Piece {
  if (at >= bytes.length) return { kind: "incomplete", start: at, scannedTo: at };
  const delimiter = delimiterOf(session, bytes[at] as number);
  if (bytes[at] === delimiter) return scanFrame(bytes, at, scannedTo, delimiter);
  const text = bytes[at] === OPEN ? scanText(bytes, at) : undefined;
  return text ?? scanStray(bytes, at, delimiter);
}

/** A connection keeps to the delimiter of its first frame: the other one is a byte like any other there. */
function delimiterOf({ memory }: Pick<Session, "memory">, first: number): number {
  const known = memory.get("delimiter");
  if (known !== undefined) return Number.parseInt(known, 16);
  return first === OTHER_DELIMITER ? OTHER_DELIMITER : DELIMITER;
}

function scanFrame(bytes: Buffer, at: number, scannedTo: number, delimiter: number): Piece {
  // Two delimiters in a row: the end of something that was skipped, and the beginning of this frame.
  let start = at;
  while (bytes[start + 1] === delimiter) start++;
  const found = bytes.indexOf(delimiter, Math.max(start + 1, scannedTo));
  const length = (found === -1 ? bytes.length : found + 1) - start;
  if (length > maxFrameBytes) {
    return { kind: "broken", start, end: start + maxFrameBytes, reason: "frame that is too long" };
  }
  return found === -1
    ? { kind: "incomplete", start, scannedTo: bytes.length }
    : { kind: "frame", start, end: found + 1 };
}

/** Undefined: no text, but a stray bracket. */
function scanText(bytes: Buffer, start: number): Piece | undefined {
  for (let at = start + 1; at < Math.min(bytes.length, start + maxTextBytes); at++) {
    const byte = bytes[at] as number;
    if (byte === CLOSE) return { kind: "frame", start, end: at + 1 };
    const isText = at === start + 1 ? isDigit(byte) : byte >= 0x20 && byte < 0x7f;
    if (!isText) return undefined;
  }
  return bytes.length - start >= maxTextBytes ? undefined : { kind: "incomplete", start, scannedTo: start };
}

function scanStray(bytes: Buffer, start: number, delimiter: number): Piece {
  let end = start + 1;
  while (end < bytes.length && bytes[end] !== delimiter && bytes[end] !== OPEN) end++;
  return { kind: "stray", start, end };
}

/** What an escape byte and the byte after it stand for. */
const escapesOf: ReadonlyMap<number, ReadonlyMap<number, number>> = new Map([
  [
    DELIMITER,
    new Map([
      [0x7d01, 0x7d],
      [0x7d02, 0x7e],
    ]),
  ],
  [
    OTHER_DELIMITER,
    new Map([
      [0xe601, 0xe6],
      [0xe602, 0xe7],
      [0x3e01, 0x3e],
      [0x3e02, 0x3d],
    ]),
  ],
]);

/** What stands between the delimiters, without escapes. */
export function unescapeFrame(raw: Buffer): Buffer {
  const escapes = escapesOf.get(raw[0] as number) ?? new Map<number, number>();
  const content = Buffer.allocUnsafe(raw.length - 2);
  let length = 0;
  for (let at = 1; at < raw.length - 1; at++) {
    const byte = raw[at] as number;
    const meant = at + 1 < raw.length - 1 ? escapes.get((byte << 8) | (raw[at + 1] as number)) : undefined;
    if (meant !== undefined) at++;
    content[length++] = meant ?? byte;
  }
  return content.subarray(0, length);
}

export function escapeFrame(content: Uint8Array, delimiter: number): Buffer {
  const pairs = new Map([...(escapesOf.get(delimiter) ?? [])].map(([pair, byte]) => [byte, pair]));
  const bytes = [delimiter];
  for (const byte of content) {
    const pair = pairs.get(byte);
    if (pair === undefined) bytes.push(byte);
    else bytes.push(pair >> 8, pair & 0xff);
  }
  bytes.push(delimiter);
  return Buffer.from(bytes);
}
