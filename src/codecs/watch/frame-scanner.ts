import { readHeader } from "./frame.ts";

/**
 * Finds frames in a stream by their brackets, in one pass. Brackets nest, because names of networks may contain them; inside
 * recordings and pictures they are escaped. The result does not depend on where the stream was cut.
 */
export const longestFrame = 64 * 1024;

export type Piece =
  | { kind: "frame"; start: number; end: number }
  | { kind: "broken"; start: number; end: number; reason: string }
  | { kind: "stray"; start: number; end: number }
  /** Not all there yet. */
  | { kind: "tail"; start: number };

const OPEN = 0x5b;
const CLOSE = 0x5d;
const STAR = 0x2a;
const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;

/** True: `[`, two characters and `*`. Undefined: too few bytes to say. */
export function startsFrame(bytes: Buffer, at: number): boolean | undefined {
  for (let step = 0; step < 4; step++) {
    const byte = bytes[at + step];
    if (byte === undefined) return undefined;
    if (step === 0 ? byte !== OPEN : step === 3 ? byte !== STAR : !isMaker(byte)) return false;
  }
  return true;
}

const isMaker = (byte: number): boolean =>
  byte > 0x20 && byte < 0x7f && byte !== OPEN && byte !== CLOSE && byte !== STAR;

/** The next piece at or behind `from`; undefined at the end. Line ends between frames are no piece. */
export function nextPiece(bytes: Buffer, from: number): Piece | undefined {
  let start = from;
  while (isLineEnd(bytes[start])) start++;
  if (start >= bytes.length) return undefined;
  const isFrame = startsFrame(bytes, start);
  if (isFrame === undefined) return { kind: "tail", start };
  return isFrame ? scanFrame(bytes, start) : scanStray(bytes, start);
}

function scanStray(bytes: Buffer, start: number): Piece {
  let end = start + 1;
  while (end < bytes.length && startsFrame(bytes, end) === false) end++;
  return { kind: "stray", start, end };
}

function scanFrame(bytes: Buffer, start: number): Piece {
  const limit = Math.min(bytes.length, start + longestFrame);
  const header = readHeader(bytes, start, limit);
  let depth = 1;
  for (let at = start + 4; at < limit; at++) {
    const byte = bytes[at];
    if (byte === OPEN) {
      if (readHeader(bytes, at, limit) !== undefined) return cutShort(bytes, start, at);
      depth++;
    } else if (byte === CLOSE) {
      depth--;
      // A name with a single opening bracket leaves one open; here the length is believed, as it speaks for the end.
      const hasDeclaredLength = header !== undefined && at - start - header.size === header.declaredLength;
      if (depth === 0 || hasDeclaredLength) return { kind: "frame", start, end: at + 1 };
    }
  }
  if (bytes.length - start < longestFrame) return { kind: "tail", start };
  return { kind: "broken", start, end: limit, reason: "frame longer than 64 KB" };
}

/** Another frame begins before this one has closed all its brackets: it lost its end, or has a bracket too many. */
function cutShort(bytes: Buffer, start: number, next: number): Piece {
  let end = next;
  while (isLineEnd(bytes[end - 1])) end--;
  return bytes[end - 1] === CLOSE
    ? { kind: "frame", start, end }
    : { kind: "broken", start, end: next, reason: "frame without an end" };
}
