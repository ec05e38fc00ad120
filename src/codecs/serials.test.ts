import { expect, it } from "vitest";
import { protocolRules } from "./protocols.ts";
import { sixDigitSerial, sixteenBitSerial, thirtyTwoBitSerial } from "./serials.ts";

it("a serial rule writes six digits, with messages in the upper half", () => {
  expect([0, 2, 999_998, 1_000_000].map(sixDigitSerial)).toEqual(["000000", "000001", "499999", "000000"]);
  expect([1, 3, 999_999, 1_000_001].map(sixDigitSerial)).toEqual(["500000", "500001", "999999", "500000"]);
});

it("a serial rule keeps within 16 and 32 bits", () => {
  expect([65_534, 65_536].map(sixteenBitSerial)).toEqual(["65534", "0"]);
  expect([4_294_967_295, 4_294_967_296].map(thirtyTwoBitSerial)).toEqual(["4294967295", "0"]);
});

it.each(protocolRules.map((rules) => [rules.slug, rules] as const))(
  "a serial rule gives commands and messages of %s different serials",
  (_, { serialOf }) => {
    const commands = new Set(Array.from({ length: 500 }, (_, index) => serialOf(2 * index * 997)));
    const messages = Array.from({ length: 500 }, (_, index) => serialOf(2 * index * 991 + 1));
    expect(commands.size).toBe(500);
    expect(messages.filter((serial) => commands.has(serial))).toEqual([]);
  },
);
