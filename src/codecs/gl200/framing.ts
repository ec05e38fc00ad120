import type { Piece } from "../protocol-definition.ts";

/**
 * Finds reports in a stream. Text ends with `$` or NUL; the binary forms tell their length. A report that never ends is given
 * up where the next one begins.
 */
export const maxFrameBytes = 8 * 1024;

const PLUS = 0x2b;
const DOLLAR = 0x24;

const textHeads = ["+RESP:GT", "+BUFF:GT", "+ACK:GT"] as const;

/** Where a binary form tells its length, by its first four bytes. */
interface BinaryHead {
  head: string;
  lengthAt: number;
  lengthBytes: 1 | 2;
}

const binaryHeads: readonly BinaryHead[] = [
  ...["+RSP", "+BSP", "+EVT", "+BVT"].map((head) => ({ head, lengthAt: 9, lengthBytes: 2 }) as const),
  ...["+INF", "+BNF"].map((head) => ({ head, lengthAt: 7, lengthBytes: 2 }) as const),
  ...["+CRD", "+BRD", "+LGN"].map((head) => ({ head, lengthAt: 6, lengthBytes: 2 }) as const),
  { head: "+ACK", lengthAt: 6, lengthBytes: 1 },
  { head: "+HBD", lengthAt: 5, lengthBytes: 1 },
  { head: "+\0", lengthAt: 2, lengthBytes: 2 },
];

/** Header, time, count, checksum and tail leave no room for less. */
const minBinaryBytes = 16;

export type Start = "text" | BinaryHead;

/** What begins at `at`; false: no report, undefined: too few bytes to say. */
export function startOf(bytes: Buffer, at: number): Start | false | undefined {
  if (bytes[at] !== PLUS) return at < bytes.length ? false : undefined;
  let isOpen = false;
  for (const head of textHeads) {
    const verdict = beginsWith(bytes, at, head);
    if (verdict) return "text";
    if (verdict === undefined) isOpen = true;
  }
  for (const binary of binaryHeads) {
    const verdict = beginsWith(bytes, at, binary.head);
    // The text form of an answer has a colon where the binary one has the number of the command.
    const isText = binary.head === "+ACK" && bytes[at + 4] === 0x3a;
    if (verdict && !isText && !isOpen) return binary;
    if (verdict === undefined) isOpen = true;
  }
  return isOpen ? undefined : false;
}

function beginsWith(bytes: Buffer, at: number, head: string): boolean | undefined {
  for (let index = 0; index < head.length; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    if (byte !== head.charCodeAt(index)) return false;
  }
  return true;
}

const isFiller = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a || byte === 0;

export function nextPiece(bytes: Buffer, at: number, scannedTo: number): Piece {
  let start = at;
  while (isFiller(bytes[start])) start++;
  const found = startOf(bytes, start);
  if (found === undefined) return { kind: "incomplete", start, scannedTo: start };
  if (found === false) return strayPiece(bytes, start);
  return found === "text" ? textPiece(bytes, start, scannedTo) : binaryPiece(bytes, start, found);
}

function strayPiece(bytes: Buffer, start: number): Piece {
  const next = nextStart(bytes, start + 1, bytes.length);
  return { kind: "stray", start, end: next ?? bytes.length };
}

/** Where a report begins or may begin, from `from` up to `to`. */
function nextStart(bytes: Buffer, from: number, to: number): number | undefined {
  for (let at = bytes.indexOf(PLUS, from); at !== -1 && at < to; at = bytes.indexOf(PLUS, at + 1)) {
    if (startOf(bytes, at) !== false) return at;
  }
  return undefined;
}

function textPiece(bytes: Buffer, start: number, scannedTo: number): Piece {
  const limit = Math.min(bytes.length, start + maxFrameBytes);
  for (let at = Math.max(start + 1, scannedTo); at < limit; at++) {
    const byte = bytes[at];
    if (byte === DOLLAR || byte === 0) return { kind: "frame", start, end: at + 1 };
    if (byte !== PLUS) continue;
    const next = startOf(bytes, at);
    // A plus in the name of a device looks the same until more has come.
    if (next === undefined && bytes.length < start + maxFrameBytes) return { kind: "incomplete", start, scannedTo: at };
    if (next === "text") return { kind: "broken", start, end: at, reason: "report without an end" };
  }
  if (limit - start < maxFrameBytes) return { kind: "incomplete", start, scannedTo: limit };
  return { kind: "broken", start, end: limit, reason: "report longer than 8 KB" };
}

function binaryPiece(bytes: Buffer, start: number, { head, lengthAt, lengthBytes }: BinaryHead): Piece {
  if (bytes.length < start + lengthAt + lengthBytes) return { kind: "incomplete", start, scannedTo: start };
  const length = bytes.readUIntBE(start + lengthAt, lengthBytes);
  // What a damaged length spans may hold good reports: only the head is skipped.
  const broken = (reason: string): Piece => ({ kind: "broken", start, end: start + head.length, reason });
  if (length < minBinaryBytes || length > maxFrameBytes) return broken("binary report of an impossible length");
  const end = start + length;
  if (bytes.length < end) return { kind: "incomplete", start, scannedTo: start };
  const hasTail = head === "+\0" ? bytes[end - 1] === DOLLAR : bytes[end - 2] === 0x0d && bytes[end - 1] === 0x0a;
  return hasTail ? { kind: "frame", start, end } : broken("binary report without its end");
}
