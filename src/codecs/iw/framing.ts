import type { Piece } from "../protocol-definition.ts";

/**
 * Cuts a stream of IW bytes into frames. A frame ends with `#`, except that media (AP07, AP42, IWnull) hold raw bytes and are
 * measured by their length field. What it answers depends only on the bytes up to the end of the piece, never on how many
 * follow, so a stream gives the same frames however it was cut.
 */

export const maxTextFrameBytes = 8192;
const maxMediaHeaderBytes = 64;
/** The papers say 1024 bytes, or 2048 characters of hex; twice that is still taken. */
const maxMediaFieldBytes = 4096;

const HASH = 0x23;
const COMMA = 0x2c;
/** Frames begin with IW or TRV. */
const [LETTER_I, LETTER_T] = [0x49, 0x54];
/** The server's own BP frames are known too, so that an echo is skipped as one frame. */
const startPattern = /IW(?:[AB]P|null)|TRV[ABCY]P/g;
const starts = ["IWAP", "IWBP", "IWnull", "TRVAP", "TRVBP", "TRVCP", "TRVYP"];
const mediaStarts = ["IWAP07", "IWAP42", "IWnull"];

export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x0a || byte === 0;
}

export function recognizes(start: Buffer): boolean | undefined {
  let at = 0;
  while (at < start.length && isBlank(start[at])) at++;
  const head = start.toString("latin1", at, at + 3);
  if (head.startsWith("IW") || head === "TRV") return true;
  return "IW".startsWith(head) || "TRV".startsWith(head) ? undefined : false;
}

/** The piece after the blanks at `from`. `mediaBytes`: a media frame is at `from` and ends after that many bytes. */
export function nextPiece(
  bytes: Buffer,
  from: number,
  scannedTo: number,
  _session: unknown,
  mediaBytes: number,
): Piece {
  if (from + mediaBytes > bytes.length) return { kind: "incomplete", start: from, scannedTo, carried: mediaBytes };
  let start = from;
  while (start < bytes.length && isBlank(bytes[start])) start++;
  const isStart = isAnyAt(starts, bytes, start);
  if (isStart === undefined) return { kind: "incomplete", start, scannedTo: start };
  if (!isStart) return { kind: "stray", start, end: nextStart(bytes, start) };
  return (isAnyAt(mediaStarts, bytes, start) && mediaPiece(bytes, start)) || textPiece(bytes, start, scannedTo);
}

/** Whether one of the words is there. Undefined: the bytes end too early to say. Compares bytes, so that nothing is allocated. */
function isAnyAt(words: readonly string[], bytes: Buffer, at: number): boolean | undefined {
  let isOpen = false;
  for (const word of words) {
    let matched = 0;
    while (matched < word.length && bytes[at + matched] === word.charCodeAt(matched)) matched++;
    if (matched === word.length) return true;
    if (at + matched >= bytes.length) isOpen = true;
  }
  return isOpen ? undefined : false;
}

export function hasStart(text: string): boolean {
  return text.search(startPattern) >= 0;
}

/** The last start of a frame between `start` and `end`: a frame that lost its `#` swallows those that follow it. */
export function lastStartWithin(bytes: Buffer, start: number, end: number): number | undefined {
  const text = bytes.toString("latin1", start + 1, end);
  let last: number | undefined;
  for (const match of text.matchAll(startPattern)) last = start + 1 + match.index;
  return last;
}

/** Where stray bytes end: at a start of a frame, at a tail that may become one, or at the end of the bytes. */
function nextStart(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const isPossible = bytes[at] === LETTER_I || bytes[at] === LETTER_T;
    if (isPossible && isAnyAt(starts, bytes, at) !== false) return at;
  }
  return bytes.length;
}

function textPiece(bytes: Buffer, start: number, scannedTo: number): Piece {
  const limit = Math.min(bytes.length, start + maxTextFrameBytes);
  const from = Math.max(start, scannedTo);
  const hash = (limit === bytes.length ? bytes : bytes.subarray(0, limit)).indexOf(HASH, from);
  if (hash >= 0) return { kind: "frame", start, end: hash + 1 };
  if (limit - start < maxTextFrameBytes) return { kind: "incomplete", start, scannedTo: limit };
  return brokenFrame(bytes, start, limit, "frame too long");
}

function brokenFrame(bytes: Buffer, start: number, end: number, reason: string): Piece {
  return { kind: "broken", start, end: lastStartWithin(bytes, start, end) ?? end, reason };
}

function mediaPiece(bytes: Buffer, start: number): Piece | undefined {
  const header = mediaHeader(bytes, start);
  if (header === "text") return undefined;
  if (header === "incomplete") return { kind: "incomplete", start, scannedTo: start };
  if (header === "too long") return brokenFrame(bytes, start, start + maxMediaHeaderBytes, "media header too long");
  const { dataStart, length } = header;
  if (length === undefined) return brokenFrame(bytes, start, dataStart, "bad media length");
  const dataEnd = dataStart + length;
  if (dataEnd >= bytes.length) {
    return { kind: "incomplete", start, scannedTo: start, carried: dataEnd + 1 - start };
  }
  if (bytes[dataEnd] === HASH) return { kind: "frame", start, end: dataEnd + 1 };
  return brokenFrame(bytes, start, dataStart, "media without end");
}

interface MediaHeader {
  /** Behind the prefix and before the comma in front of the data. */
  text: string;
  dataStart: number;
  /** Undefined when it is no length, or too large. */
  length: number | undefined;
}

/** "text" when a `#` comes before the data: then it is a text frame. Reads at most 64 bytes. */
function mediaHeader(bytes: Buffer, start: number): MediaHeader | "text" | "incomplete" | "too long" {
  const window = bytes.subarray(start, start + maxMediaHeaderBytes);
  let at = -1;
  for (let commas = 0; commas < 5; commas++) {
    const comma = window.indexOf(COMMA, at + 1);
    const hash = window.indexOf(HASH, at + 1);
    if (hash >= 0 && (comma < 0 || hash < comma)) return "text";
    if (comma < 0) return window.length < maxMediaHeaderBytes ? "incomplete" : "too long";
    at = comma;
  }
  const text = window.toString("latin1", 2, at);
  const digits = /,(\d{1,6})$/.exec(text)?.[1];
  const length = digits === undefined || Number(digits) > maxMediaFieldBytes ? undefined : Number(digits);
  return { text, dataStart: start + at + 1, length };
}

export type IwPiece =
  /** The text between the prefix and the `#`, without both. */
  { kind: "text"; prefix: string; text: string } | { kind: "media"; header: string; data: Buffer };

/** The parts of a whole frame. */
export function readParts(raw: Buffer): IwPiece {
  const header = isAnyAt(mediaStarts, raw, 0) ? mediaHeader(raw, 0) : "text";
  if (typeof header === "object")
    return { kind: "media", header: header.text, data: raw.subarray(header.dataStart, -1) };
  const prefix = raw[0] === LETTER_T ? "TRV" : "IW";
  return { kind: "text", prefix, text: raw.toString("utf8", prefix.length, raw.length - 1) };
}
