/**
 * Cuts a stream of IW bytes into frames. A frame ends with `#`, except that media (AP07, AP42, IWnull) hold raw bytes and are
 * measured by their length field. What it answers depends only on the bytes up to the end of the piece, never on how many
 * follow, so a stream gives the same frames however it was cut. Every byte is looked at a bounded number of times.
 */

export const MAX_TEXT_FRAME_BYTES = 8192;
const MAX_MEDIA_HEADER_BYTES = 64;
/** The papers say 1024 bytes, or 2048 characters of hex; twice that is still taken. */
const MAX_MEDIA_FIELD_BYTES = 4096;

const HASH = 0x23;
const COMMA = 0x2c;
/** The server's own BP frames are known too, so that an echo is skipped as one frame. */
const START = /IW(?:[AB]P|null)|TRV[ABCY]P/g;
const STARTS = ["IWAP", "IWBP", "IWnull", "TRVAP", "TRVBP", "TRVCP", "TRVYP"];

export type Piece =
  /** Wait for more, and keep everything from `start`. */
  | { kind: "incomplete"; start: number }
  | { kind: "noise"; start: number; end: number }
  /** A frame that cannot be measured; `end` is where to go on. */
  | { kind: "malformed"; start: number; end: number; reason: string }
  /** The text between the prefix and the `#`, without both. */
  | { kind: "text"; start: number; end: number; prefix: string; text: string }
  | { kind: "media"; start: number; end: number; prefix: string; header: string; data: Buffer };

export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x0a || byte === 0;
}

/** The piece at `from`, behind blanks. */
export function nextPiece(bytes: Buffer, from: number): Piece {
  let start = from;
  while (start < bytes.length && isBlank(bytes[start])) start++;
  const head = bytes.toString("latin1", start, start + 6);
  if (STARTS.some((word) => word.length > head.length && word.startsWith(head))) return { kind: "incomplete", start };
  if (!STARTS.some((word) => head.startsWith(word))) return { kind: "noise", start, end: nextStart(bytes, start) };
  const prefix = head.startsWith("TRV") ? "TRV" : "IW";
  if (/^IW(?:AP07|AP42|null)/.test(head)) return mediaPiece(bytes, start) ?? textPiece(bytes, start, prefix);
  return textPiece(bytes, start, prefix);
}

export function hasStart(text: string): boolean {
  return text.search(START) >= 0;
}

/** The last start of a frame behind `start` and before `end`: a frame that lost its `#` swallows those that follow it. */
export function lastStartWithin(bytes: Buffer, start: number, end: number): number | undefined {
  const text = bytes.toString("latin1", start + 1, end);
  let last: number | undefined;
  for (const match of text.matchAll(START)) last = start + 1 + match.index;
  return last;
}

/** Where noise ends: at a start of a frame, at a tail that may become one, or at the end of the bytes. */
function nextStart(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== 0x49 && bytes[at] !== 0x54) continue;
    const head = bytes.toString("latin1", at, at + 6);
    if (STARTS.some((word) => head.startsWith(word) || word.startsWith(head))) return at;
  }
  return bytes.length;
}

function textPiece(bytes: Buffer, start: number, prefix: string): Piece {
  const window = bytes.subarray(start, start + MAX_TEXT_FRAME_BYTES);
  const hash = window.indexOf(HASH);
  if (hash >= 0) {
    const text = window.toString("utf8", prefix.length, hash);
    return { kind: "text", start, end: start + hash + 1, prefix, text };
  }
  if (window.length < MAX_TEXT_FRAME_BYTES) return { kind: "incomplete", start };
  return brokenFrame(bytes, start, start + window.length, "frame too long");
}

function brokenFrame(bytes: Buffer, start: number, end: number, reason: string): Piece {
  return { kind: "malformed", start, end: lastStartWithin(bytes, start, end) ?? end, reason };
}

/** Undefined when a `#` comes before the data: then it is a text frame. */
function mediaPiece(bytes: Buffer, start: number): Piece | undefined {
  const window = bytes.subarray(start, start + MAX_MEDIA_HEADER_BYTES);
  let at = -1;
  for (let commas = 0; commas < 5; commas++) {
    const comma = window.indexOf(COMMA, at + 1);
    const hash = window.indexOf(HASH, at + 1);
    if (hash >= 0 && (comma < 0 || hash < comma)) return undefined;
    if (comma < 0 && window.length < MAX_MEDIA_HEADER_BYTES) return { kind: "incomplete", start };
    if (comma < 0) {
      return brokenFrame(bytes, start, start + window.length, "media header too long");
    }
    at = comma;
  }
  const header = window.toString("latin1", 2, at);
  const dataStart = start + at + 1;
  const length = /,(\d{1,6})$/.exec(header)?.[1];
  if (length === undefined || Number(length) > MAX_MEDIA_FIELD_BYTES) {
    return brokenFrame(bytes, start, dataStart, "bad media length");
  }
  const dataEnd = dataStart + Number(length);
  if (dataEnd >= bytes.length) return { kind: "incomplete", start };
  if (bytes[dataEnd] === HASH) {
    return { kind: "media", start, end: dataEnd + 1, prefix: "IW", header, data: bytes.subarray(dataStart, dataEnd) };
  }
  return brokenFrame(bytes, start, dataStart, "media without end");
}
