import type { Piece, Session } from "../protocol-definition.ts";

/**
 * Three forms: the login (a length and the IMEI), data (four zero bytes and a length), and the datagram of UDP, which has the
 * IMEI in every packet. A single FF keeps the connection open.
 */
export const maxFrameBytes = 16 * 1024;

export const KEEP_ALIVE = 0xff;
export const imeiDigits = 15;
/** Codec, twice the number of records, and the checksum, around at least something. */
const minDataBytes = 8;
const knownCodecs: ReadonlySet<number> = new Set([0x07, 0x08, 0x0c, 0x0d, 0x0e, 0x10, 0x8e]);
/** Packet number, kind, number of the data in it, the IMEI with its length, codec and number of records. */
const minDatagramBytes = 2 + 1 + 1 + 2 + imeiDigits + 2;

/** What fits into a packet of the network; fewer first bytes are those of no other protocol. */
const maxDatagramBytes = 2047;

export type FrameForm = "login" | "data" | "datagram";

/** Undefined: too few bytes to say. False: no frame begins here. */
export function formAt(bytes: Buffer, at: number): FrameForm | false | undefined {
  const left = bytes.length - at;
  if (left < 1) return undefined;
  if (left < 2) return (bytes[at] as number) > maxDatagramBytes >> 8 ? false : undefined;
  const length = bytes.readUInt16BE(at);
  if (length === imeiDigits) return digitsFrom(bytes, at + 2, "login");
  return length === 0 ? dataAt(bytes, at) : datagramAt(bytes, at, length);
}

function digitsFrom(bytes: Buffer, at: number, form: FrameForm): FrameForm | false | undefined {
  for (let step = at; step < at + imeiDigits; step++) {
    const byte = bytes[step];
    if (byte === undefined) return undefined;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return form;
}

function dataAt(bytes: Buffer, at: number): FrameForm | false | undefined {
  for (let step = at + 2; step < at + 4; step++) {
    if (bytes[step] === undefined) return undefined;
    if (bytes[step] !== 0) return false;
  }
  const codec = bytes[at + 8];
  if (codec === undefined) return undefined;
  const length = bytes.readUInt32BE(at + 4);
  return length >= minDataBytes && length <= maxFrameBytes - 12 && knownCodecs.has(codec) ? "data" : false;
}

function datagramAt(bytes: Buffer, at: number, length: number): FrameForm | false | undefined {
  if (length < minDatagramBytes || length > maxDatagramBytes) return false;
  if (bytes[at + 4] !== undefined && bytes[at + 4] !== 1) return false;
  if (bytes[at + 6] !== undefined && bytes[at + 6] !== 0) return false;
  if (bytes[at + 7] !== undefined && bytes[at + 7] !== imeiDigits) return false;
  return digitsFrom(bytes, at + 8, "datagram");
}

/** A connection begins with a login or a datagram, at times after a keep-alive. */
export function recognizes(start: Buffer): boolean | undefined {
  let at = 0;
  while (start[at] === KEEP_ALIVE) at++;
  const form = formAt(start, at);
  if (form === undefined) return at < 8 ? undefined : false;
  return form === "login" || form === "datagram";
}

export function nextPiece(
  bytes: Buffer,
  at: number,
  _scannedTo: number,
  { device, memory }: Pick<Session, "device" | "memory">,
): Piece {
  // Between frames it keeps the connection open; before the login and in garbage it means nothing.
  if (bytes[at] === KEEP_ALIVE && device && !memory.has("lost")) return { kind: "frame", start: at, end: at + 1 };
  const form = formAt(bytes, at);
  if (form === undefined) return { kind: "incomplete", start: at, scannedTo: at };
  if (form === false) {
    memory.set("lost", "1");
    return scanStray(bytes, at);
  }
  const end = at + lengthOf(bytes, at, form);
  if (end > bytes.length) return { kind: "incomplete", start: at, scannedTo: at };
  memory.delete("lost");
  return { kind: "frame", start: at, end };
}

function lengthOf(bytes: Buffer, at: number, form: FrameForm): number {
  return form === "data" ? bytes.readUInt32BE(at + 4) + 12 : bytes.readUInt16BE(at) + 2;
}

function scanStray(bytes: Buffer, start: number): Piece {
  let end = start + 1;
  while (end < bytes.length && formAt(bytes, end) === false) end++;
  return { kind: "stray", start, end };
}
