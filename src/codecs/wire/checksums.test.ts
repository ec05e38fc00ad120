import { expect, it } from "vitest";
import { sum8, xor8 } from "./checksums.ts";

it("a checksum combines bytes with exclusive or", () => {
  expect(xor8(Buffer.from([0x7d, 0x01, 0xff]))).toBe(0x83);
  expect(xor8(Buffer.alloc(0))).toBe(0);
});

it("a checksum keeps the low byte of a sum", () => {
  expect(sum8(Buffer.from([0xff, 0x02, 0x80]))).toBe(0x81);
  expect(sum8(Buffer.alloc(0))).toBe(0);
});
