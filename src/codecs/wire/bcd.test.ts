import { expect, it } from "vitest";
import { readBcd, writeBcd } from "./bcd.ts";

it("BCD reads two digits from each byte", () => expect(readBcd(Buffer.from("0186530099", "hex"))).toBe("0186530099"));

it("BCD reads nothing from bytes that are no digits", () => {
  expect(readBcd(Buffer.from("1a", "hex"))).toBeUndefined();
  expect(readBcd(Buffer.from("f1", "hex"))).toBeUndefined();
});

it("BCD writes digits with zeros in front", () => expect(writeBcd("12345", 4).toString("hex")).toBe("00012345"));

it("BCD refuses to write what does not fit or is no number", () => {
  expect(() => writeBcd("12345", 2)).toThrow(RangeError);
  expect(() => writeBcd("1a", 2)).toThrow(RangeError);
});
