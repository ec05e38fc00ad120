import { MalformedFrame } from "../malformed-frame.ts";
import type { Piece } from "../protocol-definition.ts";
import { crc16X25 } from "../wire/crc16.ts";

/**
 * Finds frames by their length, confirmed by the stop bytes. Some units send a wrong length, or a count in its place: their
 * frames end at the first stop bytes. A whole frame with a right checksum is always found, also inside of what claims to be
 * a longer one.
 */

/** Long frames declare up to 64 KB; no known one is above 2 KB. */
export const maxFrameBytes = 4096;
/** How far the stop bytes of a frame with a wrong length may be. */
const maxIrregularBytes = 512;

const stopBytes = Buffer.from("\r\n");

export interface Frame {
  /** 7979, with a length of two bytes. */
  isLong: boolean;
  type: number;
  content: Buffer;
  /** Undefined in frames of units that send neither serial nor checksum. */
  serial: number | undefined;
  hasRightChecksum: boolean;
  /** The byte that should be the length; some units count access points with it. */
  lengthByte: number;
}

const startByte = (byte: number | undefined): boolean => byte === 0x78 || byte === 0x79;

/** True: two start bytes. Undefined: too few bytes to say. */
export function startsFrame(bytes: Buffer, at = 0): boolean | undefined {
  const [first, second] = [bytes[at], bytes[at + 1]];
  if (first === undefined) return undefined;
  if (!startByte(first)) return false;
  return second === undefined ? undefined : first === second;
}

export function nextPiece(bytes: Buffer, at: number, scannedTo: number): Piece {
  const start = findStart(bytes, at);
  if (start > at) return { kind: "stray", start: at, end: start };
  const declaredEnd = endOf(bytes, at);
  if (declaredEnd === undefined) return { kind: "incomplete", start: at, scannedTo: at };
  if (declaredEnd - at > maxFrameBytes) return { kind: "stray", start: at, end: at + 2 };
  const hasEnd = declaredEnd <= bytes.length;
  if (hasEnd && isChecked(bytes, at, declaredEnd)) return { kind: "frame", start: at, end: declaredEnd };
  const inside = findChecked(bytes, Math.max(at + 1, scannedTo), declaredEnd);
  if (inside.found) return { kind: "broken", start: at, end: inside.at, reason: "frame without an end" };
  if (!hasEnd) return { kind: "incomplete", start: at, scannedTo: inside.at };
  return hasStop(bytes, declaredEnd) ? { kind: "frame", start: at, end: declaredEnd } : irregularPiece(bytes, at);
}

/** The length does not lead to stop bytes. */
function irregularPiece(bytes: Buffer, at: number): Piece {
  const limit = Math.min(bytes.length, at + maxIrregularBytes);
  const stop = bytes.subarray(0, limit).indexOf(stopBytes, at + 4);
  if (stop === -1) {
    if (limit - at === maxIrregularBytes) return { kind: "stray", start: at, end: at + 2 };
    return { kind: "incomplete", start: at, scannedTo: at };
  }
  const inside = findChecked(bytes, at + 1, stop + 2);
  if (inside.found) return { kind: "broken", start: at, end: inside.at, reason: "frame without an end" };
  return { kind: "frame", start: at, end: stop + 2 };
}

/** The first place at or after `at` where a frame may start; the end of the bytes when there is none. */
function findStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.length && startsFrame(bytes, start) === false) start++;
  return start;
}

/** Where a frame ends by its length. Undefined: too few bytes to say. */
function endOf(bytes: Buffer, at: number): number | undefined {
  const headerBytes = bytes[at] === 0x79 ? 4 : 3;
  if (bytes.length - at < headerBytes) return undefined;
  return at + headerBytes + lengthAt(bytes, at) + 2;
}

const lengthAt = (bytes: Buffer, at: number): number =>
  bytes[at] === 0x79 ? bytes.readUInt16BE(at + 2) : bytes.readUInt8(at + 2);

const hasStop = (bytes: Buffer, end: number): boolean => bytes[end - 2] === 0x0d && bytes[end - 1] === 0x0a;

/** Type, serial and checksum. */
const minLength = 5;

function isChecked(bytes: Buffer, at: number, end: number): boolean {
  if (!hasStop(bytes, end) || lengthAt(bytes, at) < minLength) return false;
  return crc16X25(bytes.subarray(at + 2, end - 4)) === bytes.readUInt16BE(end - 4);
}

/**
 * The first whole frame with a right checksum between `from` and `to`. Not found: `at` is the first start that could not be
 * judged for want of bytes.
 */
function findChecked(bytes: Buffer, from: number, to: number): { found: boolean; at: number } {
  let unjudged: number | undefined;
  const limit = Math.min(to, bytes.length);
  for (let at = from; at < limit; at++) {
    const isStart = startsFrame(bytes, at);
    if (isStart === false) continue;
    const end = isStart ? endOf(bytes, at) : undefined;
    if (end !== undefined && end > to) continue;
    if (end === undefined || end > bytes.length) unjudged ??= at;
    else if (isChecked(bytes, at, end)) return { found: true, at };
  }
  return { found: false, at: unjudged ?? Math.max(from, limit) };
}

/** The envelope of a frame that `nextPiece` has found. */
export function openFrame(raw: Buffer): Frame {
  const isLong = raw[0] === 0x79;
  const headerBytes = isLong ? 4 : 3;
  const type = raw[headerBytes];
  if (type === undefined || raw.length < headerBytes + 3) throw new MalformedFrame("frame without a type");
  const lengthByte = raw.readUInt8(2);
  const length = lengthAt(raw, 0);
  const body = raw.subarray(headerBytes + 1, -2);
  if (length !== body.length + 1 || length < minLength) {
    return { isLong, type, content: body, serial: undefined, hasRightChecksum: false, lengthByte };
  }
  return {
    isLong,
    type,
    content: body.subarray(0, -4),
    serial: body.readUInt16BE(body.length - 4),
    hasRightChecksum: isChecked(raw, 0, raw.length),
    lengthByte,
  };
}

export function writeFrame(type: number, content: Buffer, serial: number, isLong = false): Buffer {
  const length = content.length + minLength;
  const header = isLong ? [0x79, 0x79, length >> 8, length & 0xff, type] : [0x78, 0x78, length, type];
  const body = Buffer.concat([Buffer.from(header), content, Buffer.from([serial >> 8, serial & 0xff])]);
  const crc = crc16X25(body.subarray(2));
  return Buffer.concat([body, Buffer.from([crc >> 8, crc & 0xff]), stopBytes]);
}
