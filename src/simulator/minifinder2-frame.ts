import { crc16Xmodem } from "../codecs/wire/crc16.ts";
import { Bytes } from "./little-endian.ts";

/** The frame of Eview devices, from the side of the device. */
export const commands = { data: 0x01, configuration: 0x02, services: 0x03, control: 0x04, response: 0x7f } as const;

const START = 0xab;
const headerBytes = 8;
const maxPayload = 16 * 1024;

/** `isIndicated`: the answer is awaited. */
export function writeFrame(payload: Buffer, sequence: number, version: 0 | 1, isIndicated: boolean): Buffer {
  const header = new Bytes().u8(START).u8(version | (isIndicated ? 0x10 : 0));
  return header.u16(payload.length).u16(crc16Xmodem(payload)).u16(sequence).raw(payload).done();
}

export const writeItem = (key: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([value.length + 1, key]), value]);

export interface HeardFrame {
  command: number;
  sequence: number;
  /** Of several items the first. */
  item: [key: number, value: Buffer] | undefined;
}

/** The first frame of the bytes, or the bytes that are none; undefined: not all of it is there. */
export function firstFrame(bytes: Buffer): { frame: HeardFrame | undefined; rest: Buffer } | undefined {
  if (bytes.length === 0) return undefined;
  const start = bytes.indexOf(START);
  if (start !== 0) return { frame: undefined, rest: start === -1 ? Buffer.alloc(0) : bytes.subarray(start) };
  if (bytes.length < headerBytes) return undefined;
  const length = bytes.readUInt16LE(2);
  if (length > maxPayload) return { frame: undefined, rest: bytes.subarray(1) };
  const end = headerBytes + length;
  if (bytes.length < end) return undefined;
  const payload = bytes.subarray(headerBytes, end);
  const isWhole = length > 0 && crc16Xmodem(payload) === bytes.readUInt16LE(4);
  return { frame: isWhole ? heard(payload, bytes.readUInt16LE(6)) : undefined, rest: bytes.subarray(end) };
}

function heard(payload: Buffer, sequence: number): HeardFrame {
  const [command = 0, length = 0, key] = payload;
  const item: HeardFrame["item"] = key === undefined ? undefined : [key, payload.subarray(3, 2 + length)];
  return { command, sequence, item };
}
