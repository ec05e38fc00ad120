import type { Piece } from "../protocol-definition.ts";
import { crc16Xmodem } from "../wire/crc16.ts";

/** `AB`, flags, payload length, CRC of the payload, sequence id; then the payload: a command and its items. */
export const headerBytes = 8;
export const maxFrameBytes = 16 * 1024;

const START = 0xab;
/** Flag bits. */
const answerWanted = 0x10;
const versionBits = 0x0f;

export const commands = {
  data: 0x01,
  configuration: 0x02,
  services: 0x03,
  control: 0x04,
  firmware: 0x7e,
  response: 0x7f,
} as const;

const knownCommands: ReadonlySet<number> = new Set(Object.values(commands));

export interface Frame {
  /** 1 is the renumbered protocol of the watches; pendants send 0, and some of them 8. */
  version: 0 | 1;
  isAnswerWanted: boolean;
  sequence: number;
  command: number;
  /** The payload after the command. */
  items: Buffer;
}

/** The version that some pendants write means the same as 0. */
const versions: ReadonlySet<number> = new Set([0, 1, 8]);

/** Whether the header of a frame can begin here; undefined: not all of it is there. */
export function startsFrame(bytes: Buffer, at: number): boolean | undefined {
  const [start, flags] = [bytes[at], bytes[at + 1]];
  if (start !== undefined && start !== START) return false;
  if (flags !== undefined && ((flags & 0xc0) !== 0 || !versions.has(flags & versionBits))) return false;
  if (bytes.length < at + 4) return undefined;
  const length = bytes.readUInt16LE(at + 2);
  if (length < 1 || length > maxFrameBytes - headerBytes) return false;
  const command = bytes[at + headerBytes];
  return command === undefined ? undefined : knownCommands.has(command);
}

/** A frame with a wrong CRC may have a wrong length too, so the next header is looked for inside it. */
export function nextPiece(bytes: Buffer, at: number): Piece {
  const isStart = startsFrame(bytes, at);
  if (isStart === undefined) return { kind: "incomplete", start: at, scannedTo: at };
  if (!isStart) return { kind: "stray", start: at, end: nextStart(bytes, at + 1) };
  const end = at + headerBytes + bytes.readUInt16LE(at + 2);
  if (bytes.length < end) return { kind: "incomplete", start: at, scannedTo: at };
  if (crc16Xmodem(bytes.subarray(at + headerBytes, end)) === bytes.readUInt16LE(at + 4)) {
    return { kind: "frame", start: at, end };
  }
  return {
    kind: "broken",
    start: at,
    end: Math.min(end, nextStart(bytes, at + 1)),
    reason: "frame with a wrong checksum",
  };
}

function nextStart(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(START, from);
  while (at !== -1 && startsFrame(bytes, at) === false) at = bytes.indexOf(START, at + 1);
  return at === -1 ? bytes.length : at;
}

export function readHeader(raw: Buffer): Frame {
  const flags = raw[1] as number;
  return {
    version: (flags & versionBits) === 1 ? 1 : 0,
    isAnswerWanted: (flags & answerWanted) !== 0,
    sequence: raw.readUInt16LE(6),
    command: raw[headerBytes] as number,
    items: raw.subarray(headerBytes + 1),
  };
}

/** `isIndicated`: bit 4, which asks a pendant for an answer, and is set in every answer to a watch. */
export function writeFrame(payload: Buffer, sequence: number, version: 0 | 1, isIndicated: boolean): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = START;
  header[1] = version | (isIndicated ? answerWanted : 0);
  header.writeUInt16LE(payload.length, 2);
  header.writeUInt16LE(crc16Xmodem(payload), 4);
  header.writeUInt16LE(sequence, 6);
  return Buffer.concat([header, payload]);
}
