import { expect, it } from "vitest";
import { MalformedFrame } from "../malformed-frame.ts";
import { ByteReader } from "./byte-reader.ts";

it("a byte reader reads numbers of both byte orders, bytes and text in order", () => {
  const reader = new ByteReader(Buffer.from("ff0102030405060708fffe0201414243aabb00000001000000020a", "hex"));
  expect(reader.i8()).toBe(-1);
  expect(reader.u8()).toBe(1);
  expect(reader.u16()).toBe(0x0203);
  expect(reader.u24()).toBe(0x040506);
  expect(reader.u16le()).toBe(0x0807);
  expect(reader.i16()).toBe(-2);
  expect(reader.i16le()).toBe(0x0102);
  expect(reader.text(3)).toBe("ABC");
  expect(reader.hex(2)).toBe("aabb");
  expect(reader.u64()).toBe(0x1_0000_0002n);
  expect([reader.offset, reader.remaining]).toEqual([26, 1]);
  expect(reader.rest()).toEqual(Buffer.from([0x0a]));
});

it("a byte reader calls a frame malformed that ends too early, and reads nothing of it", () => {
  const reader = new ByteReader(Buffer.from([1, 2, 3]));
  for (const read of [
    () => reader.u32(),
    () => reader.i64(),
    () => reader.bytes(4),
    () => reader.skip(-1),
    () => reader.skip(Number.NaN),
  ]) {
    expect(read).toThrow(MalformedFrame);
  }
  expect(reader.remaining).toBe(3);
});
