import type { Piece } from "../protocol-definition.ts";
import { findHeader, type Header, readHeader } from "./envelope.ts";

/**
 * Finds frames in a stream by their brackets, in one pass. Brackets nest, because names of networks may contain them; inside
 * recordings and pictures they are escaped. The result does not depend on where the stream was cut.
 */
export const maxFrameBytes = 64 * 1024;

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

/** The next piece at or after `from`. Line ends between frames are no piece. `depth` is the number of open brackets. */
export function nextPiece(bytes: Buffer, from: number, scannedTo: number, _session: unknown, depth: number): Piece {
  let start = from;
  while (isLineEnd(bytes[start])) start++;
  const isFrame = startsFrame(bytes, start);
  if (isFrame === undefined) return { kind: "incomplete", start, scannedTo: start };
  if (!isFrame) return scanStray(bytes, start);
  // Nothing of the frame was scanned yet, unless the brackets are counted.
  return depth === 0 ? scanFrame(bytes, start, start + 4, 1) : scanFrame(bytes, start, scannedTo, depth);
}

function scanStray(bytes: Buffer, start: number): Piece {
  let end = start + 1;
  while (end < bytes.length && startsFrame(bytes, end) === false) end++;
  return { kind: "stray", start, end };
}

function scanFrame(bytes: Buffer, start: number, scannedTo: number, openBrackets: number): Piece {
  const limit = Math.min(bytes.length, start + maxFrameBytes);
  const isTooLong = bytes.length - start >= maxFrameBytes;
  let header: Header | undefined;
  let depth = openBrackets;
  for (let at = scannedTo; at < limit; at++) {
    const byte = bytes[at];
    if (byte === OPEN) {
      const inner = findHeader(bytes, at, limit);
      if (inner === true) return cutShort(bytes, start, at);
      if (inner === undefined && !isTooLong) return { kind: "incomplete", start, scannedTo: at, carried: depth };
      depth++;
    } else if (byte === CLOSE) {
      depth--;
      // A name with a single opening bracket leaves one open; here the length is believed, as it speaks for the end.
      if (depth > 0) header ??= readHeader(bytes, start, limit);
      const hasDeclaredLength = header !== undefined && at - start - header.size === header.declaredLength;
      if (depth === 0 || hasDeclaredLength) return { kind: "frame", start, end: at + 1 };
    }
  }
  if (!isTooLong) return { kind: "incomplete", start, scannedTo: limit, carried: depth };
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
