import type { Piece } from "../protocol-definition.ts";
import { readHead } from "./request.ts";

/** Frames are HTTP requests. Head and body together: more than any phone sends, and no more than a stranger may fill. */
export const maxFrameBytes = 8 * 1024;

/** Any method is HTTP and gets an answer, if only that it cannot be read. */
const starts = ["GET /", "POST /", "PUT /", "HEAD /", "PATCH /", "DELETE /", "OPTIONS /", "OPTIONS *"];
const headEnd = "\r\n\r\n";
const CR = 0x0d;
const LF = 0x0a;

/** True: a method and a path. Undefined: too few bytes to say. */
export function startsRequest(bytes: Buffer, at: number): boolean | undefined {
  let isOpen = false;
  for (const start of starts) {
    const verdict = beginsWith(bytes, at, start);
    if (verdict) return true;
    if (verdict === undefined) isOpen = true;
  }
  return isOpen ? undefined : false;
}

function beginsWith(bytes: Buffer, at: number, start: string): boolean | undefined {
  for (let index = 0; index < start.length; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    if (byte !== start.charCodeAt(index)) return false;
  }
  return true;
}

/** `carried` is the length of a request whose head was read before all of its body had come. */
export function nextPiece(bytes: Buffer, at: number, scannedTo: number, _session: unknown, carried: number): Piece {
  let start = at;
  // Old clients end a body with an empty line that no length counts.
  while (bytes[start] === CR || bytes[start] === LF) start++;
  if (carried > 0) return wholePiece(bytes, start, carried);
  const isRequest = startsRequest(bytes, start);
  if (isRequest === undefined) return { kind: "incomplete", start, scannedTo: start };
  if (!isRequest) return { kind: "stray", start, end: nextStart(bytes, start + 1) };
  const limit = Math.min(bytes.length, start + maxFrameBytes);
  const found = bytes.subarray(0, limit).indexOf(headEnd, Math.max(start, scannedTo));
  if (found === -1) {
    if (limit - start < maxFrameBytes) {
      return { kind: "incomplete", start, scannedTo: Math.max(start, limit - headEnd.length + 1) };
    }
    return { kind: "broken", start, end: limit, reason: "request longer than 8 KB" };
  }
  const bodyAt = found + headEnd.length;
  const length = readHead(bytes.subarray(start, bodyAt)).bodyBytes;
  if (typeof length === "string") return { kind: "broken", start, end: bodyAt, reason: length };
  const total = bodyAt - start + length;
  if (total > maxFrameBytes) return { kind: "broken", start, end: bodyAt, reason: "request longer than 8 KB" };
  return wholePiece(bytes, start, total);
}

function wholePiece(bytes: Buffer, start: number, total: number): Piece {
  const end = start + total;
  if (bytes.length < end) return { kind: "incomplete", start, scannedTo: bytes.length, carried: total };
  return { kind: "frame", start, end };
}

function nextStart(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (startsRequest(bytes, at) !== false) return at;
  return bytes.length;
}
