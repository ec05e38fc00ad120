import { expect, it } from "vitest";
import { crc16Arc, crc16CcittFalse, crc16X25, crc16Xmodem } from "./crc16.ts";

const check = Buffer.from("123456789");

it("each CRC gives the published check values", () => {
  expect(crc16X25(check)).toBe(0x906e);
  expect(crc16Arc(check)).toBe(0xbb3d);
  expect(crc16Xmodem(check)).toBe(0x31c3);
  expect(crc16CcittFalse(check)).toBe(0x29b1);
});

it("each CRC gives the start values for no bytes", () => {
  expect([crc16X25, crc16Arc, crc16Xmodem].map((crc) => crc(Buffer.alloc(0)))).toEqual([0, 0, 0]);
});
