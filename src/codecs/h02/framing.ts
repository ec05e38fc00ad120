import type { Piece } from "../protocol-definition.ts";

/**
 * Text from `*` to `#`, and binary frames of a fixed length that begin with `$` or `X`. There is no checksum. Of binary frames
 * the first 32 bytes say everything that is read; the 13 to 16 bytes that some units add are skipped as stray, because nothing
 * in the frame announces them.
 */
export const maxFrameBytes = 1024;

const STAR = 0x2a;
const HASH = 0x23;
const DOLLAR = 0x24;
const X = 0x58;
const binaryBytes = 32;
/** Units that send their IMEI. */
const longBinaryBytes = 42;

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
const isDigitPair = (byte: number): boolean => byte >> 4 <= 9 && (byte & 0x0f) <= 9;
const isMaker = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/** True: a frame can only begin so. Undefined: too few bytes to say. */
export function startsFrame(bytes: Buffer, at = 0): boolean | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first === STAR) return startsText(bytes, at);
  return first === DOLLAR || first === X ? startsBinary(bytes, at) : false;
}

/** `*`, two letters, a comma. */
function startsText(bytes: Buffer, at: number): boolean | undefined {
  for (let step = 1; step < 4; step++) {
    const byte = bytes[at + step];
    if (byte === undefined) return undefined;
    if (step === 3 ? byte !== 0x2c : !isMaker(byte)) return false;
  }
  return true;
}

/** The marker, and an id of five bytes of digits. */
function startsBinary(bytes: Buffer, at: number): boolean | undefined {
  for (let step = 1; step < 6; step++) {
    const byte = bytes[at + step];
    if (byte === undefined) return undefined;
    if (!isDigitPair(byte)) return false;
  }
  return true;
}

/** Where the clock of a binary frame is: after an id of five bytes, or of eight. Undefined: nowhere. */
export function clockOffset(bytes: Buffer, at = 0): 6 | 9 | undefined {
  return ([6, 9] as const).find((offset) => isClock(bytes, at + offset));
}

/** Hour, minute, second, day, month and year as digits. */
function isClock(bytes: Buffer, at: number): boolean {
  const numbers = Array.from(bytes.subarray(at, at + 6), (byte) =>
    isDigitPair(byte) ? (byte >> 4) * 10 + (byte & 15) : 99,
  );
  const [hour = 99, minute = 99, second = 99, day = 99, month = 99, year = 0] = numbers;
  // Before the first fix the date is zero.
  return numbers.length === 6 && hour < 24 && minute < 60 && second < 60 && day < 32 && month < 13 && year <= 99;
}

export function nextPiece(bytes: Buffer, from: number, scannedTo: number): Piece {
  let at = from;
  while (isLineEnd(bytes[at])) at++;
  const isFrame = startsFrame(bytes, at);
  if (isFrame === undefined) return { kind: "incomplete", start: at, scannedTo: at };
  if (!isFrame) return strayPiece(bytes, at);
  return bytes[at] === STAR ? textPiece(bytes, at, Math.max(scannedTo, at + 4)) : binaryPiece(bytes, at);
}

function strayPiece(bytes: Buffer, start: number): Piece {
  let end = start + 1;
  while (end < bytes.length && !isLineEnd(bytes[end]) && startsFrame(bytes, end) === false) end++;
  return { kind: "stray", start, end };
}

function textPiece(bytes: Buffer, start: number, scannedTo: number): Piece {
  const limit = Math.min(bytes.length, start + maxFrameBytes);
  for (let at = scannedTo; at < limit; at++) {
    const byte = bytes[at];
    if (byte === HASH) return { kind: "frame", start, end: at + 1 };
    if (byte !== STAR) continue;
    const isNext = startsText(bytes, at);
    if (isNext === undefined && limit < start + maxFrameBytes) return { kind: "incomplete", start, scannedTo: at };
    if (isNext) return { kind: "broken", start, end: at, reason: "frame without an end" };
  }
  if (limit < start + maxFrameBytes) return { kind: "incomplete", start, scannedTo: limit };
  return { kind: "broken", start, end: limit, reason: "frame too long" };
}

function binaryPiece(bytes: Buffer, start: number): Piece {
  if (bytes.length - start < binaryBytes) {
    // A text frame inside: what began was none, or is cut off.
    const text = findText(bytes, start + 1, bytes.length);
    return text === undefined
      ? { kind: "incomplete", start, scannedTo: start }
      : { kind: "broken", start, end: text, reason: "frame without an end" };
  }
  const clock = clockOffset(bytes, start);
  const text = findText(bytes, start + 1, start + binaryBytes);
  if (text !== undefined) return { kind: "broken", start, end: text, reason: "frame without an end" };
  if (clock === undefined) return { kind: "stray", start, end: start + 1 };
  const length = clock === 6 ? binaryBytes : longBinaryBytes;
  if (bytes.length - start < length) return { kind: "incomplete", start, scannedTo: start };
  return { kind: "frame", start, end: start + length };
}

/** The first place in the range where a text frame begins for certain. */
function findText(bytes: Buffer, from: number, to: number): number | undefined {
  for (let at = bytes.indexOf(STAR, from); at !== -1 && at < to; at = bytes.indexOf(STAR, at + 1)) {
    if (startsText(bytes, at)) return at;
  }
  return undefined;
}
