import { writeFrame } from "../../src/codecs/minifinder2/framing.ts";
import { writeItem } from "../../src/codecs/minifinder2/items.ts";
import { minifinder2 } from "../../src/codecs/minifinder2/protocol.ts";
import type { StreamCase } from "./stream-behaviour.ts";

/** For tests: a connection with an invented pendant, and frames of every kind it sends. */
export const imei = "490155500012348";
export const nowMs = Date.UTC(2026, 2, 1, 0, 0, 30);
export const atMs = Date.UTC(2026, 1, 28, 23, 59, 58);

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(" ", ""), "hex");
export const item = (key: number, digits: string): Buffer => writeItem(key, hex(digits));

export function u32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes.toString("hex");
}
export const i32 = (value: number): string => u32(value);
export const f32 = (value: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes.toString("hex");
};
export const time = u32(atMs / 1000);

export const idItem = writeItem(0x01, Buffer.from(imei));
/** Charging, buffered, moving, signal 19, battery 64. */
export const status = (bits: number): Buffer => item(0x24, `${time} ${u32(bits)}`);
export const plainStatus = ((64 << 24) | (19 << 19)) >>> 0;
export const gps = item(0x20, `${i32(419027820)} ${i32(124963660)} 0300 7600 2600 0a00 ${u32(2669)} 09`);

export const data = (...items: Buffer[]): Buffer => frame(0x01, [idItem, ...items]);
export const frame = (command: number, items: readonly Buffer[], sequence = 0x1234, version: 0 | 1 = 0): Buffer =>
  writeFrame(Buffer.concat([Buffer.from([command]), ...items]), sequence, version, true);

export const corpus: readonly Buffer[] = [
  data(status(plainStatus), gps),
  data(status(plainStatus), gps, item(0x02, `${u32(1 << 12)} ${time}`)),
  data(status(plainStatus), item(0x21, "de00 01 b5 4d01 6860"), item(0x22, "d0 a40b0c0d0e01 b0 a40b0c0d0e02")),
  data(item(0x29, "de00 01 b5 4d01 68600100"), item(0x19, "d0 a40b0c0d0e01 04 686f6d65 b0 a40b0c0d0e02 00")),
  data(item(0x2b, "de00 0100 b5 4d01 68600100"), item(0x14, "40 a20e")),
  data(item(0x30, `${time} ${u32(4210)}`), item(0x40, `${time} 48`), item(0x41, `${time} 61`)),
  data(status(plainStatus), item(0x23, `010e0d0c0ba4 ${i32(419027820)} ${i32(124963660)} 486f6d65`)),
  data(status(plainStatus), item(0x26, `010e0d0c0ba4 ${i32(419027820)} ${i32(124963660)} 0a00 2600`)),
  data(status(plainStatus), item(0x27, `${i32(419027820)} ${i32(124963660)} 0a00 2600`)),
  data(item(0x28, `c0 010e0d0c0ba4 b5 c5 ${i32(419027820)} ${i32(124963660)} 4f6666696365`)),
  data(item(0x2c, `c0 010e0d0c0ba4 b5 c5 40 ${i32(419027820)} ${i32(124963660)} 04 486f6d65 f100`)),
  data(item(0x2a, "00 a40b0c0d0e01 b5"), status(plainStatus)),
  data(item(0x2a, `c0 a40b0c0d0e01 b5 ${i32(419027820)} ${i32(124963660)} 486f6d65`)),
  data(item(0x25, `${time} 01 3c00 02 2b3339`), item(0x31, `${time} ${u32(10)}`), item(0x37, `${time} ${u32(3)}`)),
  frame(0x03, [idItem, item(0x10, "5a")]),
  frame(0x03, [idItem, item(0x12, "")]),
  frame(0x02, [item(0x03, Buffer.from(imei).toString("hex")), item(0x0e, "04"), item(0x64, "13 01000000 54494d")]),
  frame(0x7f, [hex("01 00")], 18),
  frame(0x04, [item(0x1f, "00 6f6b")], 18),
  frame(0x01, [idItem, item(0x11, `${time} 01 40 04 13 0300 14`), item(0x10, `${time} 01`)], 0xd001, 1),
];

export const minifinder2Case: StreamCase = {
  world: {
    protocol: minifinder2,
    nowMs,
    device: {
      imei,
      id: imei,
      utcOffsetMinutes: 60,
      traits: { protocol_version: 0 },
      locale: "it",
      outstandingSerials: new Set(),
    },
  },
  corpus,
  alphabet: "\xab\x10\x00\x01\x03\x12\x7f",
  endless: Buffer.concat([hex("ab10 ff3f 0000 0000 01"), Buffer.alloc(20 * 1024, 0x11)]),
};
