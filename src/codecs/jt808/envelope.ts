import { MalformedFrame } from "../malformed-frame.ts";
import { type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import { readBcd } from "../wire/bcd.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { xor8 } from "../wire/checksums.ts";
import { DELIMITER, escapeFrame, OTHER_DELIMITER, unescapeFrame } from "./framing.ts";

/** How the frames of one terminal are addressed. Ours to it look the same. */
export interface Address {
  delimiter: number;
  /** Of the 2019 header; undefined in those of 2011 and 2013. */
  version: number | undefined;
  /** The terminal number as it stands in the header. */
  terminal: Buffer;
}

export interface Envelope {
  address: Address;
  /** The terminal number, or the IMEI that it stands for. */
  id: string;
  messageId: number;
  /** Bit 15 of the attributes: some terminals ask for an answer by it. */
  wantsAnswer: boolean;
  serial: number;
  /** Of a message that was split. */
  part: { total: number; index: number } | undefined;
  body: Buffer;
}

/** Reports of electronic locks, with a header of their own: a serial of one byte, other attributes. */
export const lockReports: ReadonlySet<number> = new Set([0x5501, 0x5502]);

export function readEnvelope(raw: Buffer): Envelope {
  // What closes a broken frame may be what opens the next one.
  const resumeAt = raw.length - 1;
  const content = unescapeFrame(raw);
  if (content.length < 12) throw new MalformedFrame("frame that is too short", resumeAt);
  if (xor8(content) !== 0) throw new MalformedFrame("wrong checksum", resumeAt);
  const reader = new ByteReader(content.subarray(0, -1));
  const messageId = reader.u16();
  const attributes = reader.u16();
  const isLock = lockReports.has(messageId);
  if (!isLock && (attributes & 0x1c00) !== 0) throw new MalformedFrame("encrypted message");
  const delimiter = raw[0] as number;
  const version = !isLock && (attributes & 0x4000) !== 0 ? reader.u8() : undefined;
  const terminal = Buffer.from(reader.bytes(version !== undefined ? 10 : delimiter === OTHER_DELIMITER ? 7 : 6));
  const serial = isLock ? reader.u8() : reader.u16();
  const isPart = !isLock && (attributes & 0x2000) !== 0;
  const part = isPart ? { total: reader.u16(), index: reader.u16() } : undefined;
  return {
    address: { delimiter, version, terminal },
    id: terminalIdOf(terminal),
    messageId,
    wantsAnswer: (attributes & 0x8000) !== 0,
    serial,
    part,
    body: reader.rest(),
  };
}

/** Digits without the zeros in front; six bytes that are no digits are the first 14 digits of an IMEI as one number. */
function terminalIdOf(terminal: Buffer): string {
  const digits = readBcd(terminal);
  if (digits !== undefined) return digits.replace(/^0+(?=.)/, "");
  if (terminal.length !== 6) return terminal.toString("hex");
  const number = String(terminal.readUIntBE(0, 6));
  return number + luhnDigit(number);
}

function luhnDigit(digits: string): number {
  let sum = 0;
  for (const [index, digit] of [...digits].reverse().entries()) {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return (10 - (sum % 10)) % 10;
}

const maxBodyBytes = 1023;

export function writeFrame(address: Address, messageId: number, serial: number, body: Buffer): Buffer {
  if (body.length > maxBodyBytes) throw new UnsupportedDownlink("longer than a message can be");
  return frameOf(address, messageId, Buffer.of(serial >> 8, serial & 0xff), body);
}

/** To locks, whose serials have one byte. */
export const writeLockFrame = (address: Address, messageId: number, body: Buffer): Buffer =>
  frameOf(address, messageId, Buffer.of(1), body);

function frameOf({ delimiter, version, terminal }: Address, messageId: number, serial: Buffer, body: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(messageId, 0);
  head.writeUInt16BE(body.length | (version === undefined ? 0 : 0x4000), 2);
  const content = Buffer.concat([head, Buffer.from(version === undefined ? [] : [version]), terminal, serial, body]);
  return escapeFrame(Buffer.concat([content, Buffer.of(xor8(content))]), delimiter);
}

export function rememberAddress({ memory }: Pick<Session, "memory">, { delimiter, version, terminal }: Address): void {
  memory.set("delimiter", delimiter.toString(16));
  memory.set("version", version === undefined ? "" : String(version));
  memory.set("terminal", terminal.toString("hex"));
}

/** Undefined: nothing but a text was received yet. */
export function addressOf({ memory }: Pick<Session, "memory">): Address | undefined {
  const terminal = memory.get("terminal");
  if (terminal === undefined) return undefined;
  const version = memory.get("version") ?? "";
  return {
    delimiter: Number.parseInt(memory.get("delimiter") ?? DELIMITER.toString(16), 16),
    version: version === "" ? undefined : Number(version),
    terminal: Buffer.from(terminal, "hex"),
  };
}
