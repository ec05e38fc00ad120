import { expect, it } from "vitest";
import { MalformedFrame } from "../malformed-frame.ts";
import { PositionBlock } from "./position-block.ts";

const read = (text: string, hasCommas = false) => new PositionBlock(text, hasCommas);

it("a position block gives its parts in order", () => {
  const block = read("260506A4554.3000N01227.6000W003.2070530117.85065");
  expect(block.digits(6)).toBe(260506);
  expect(block.letter("A", "V")).toBe("A");
  expect(block.coordinate(2, "N", "S")).toBe(45.905);
  expect(block.coordinate(3, "E", "W")).toBe(-12.46);
  expect(block.speed()).toBe(3.2);
  expect(block.digits(6)).toBe(70530);
  expect(block.course()).toBe(117.85);
  expect(block.digits(3)).toBe(65);
  expect(block.offset).toBe(48);
  expect(() => block.digits(1)).toThrow(MalformedFrame);
});

it.each([
  ["4554.300N", 45.905],
  ["4554.300000S", -45.905],
])("a position block takes three to six decimals of a minute: %s", (text, degrees) => {
  expect(read(text).coordinate(2, "N", "S")).toBe(degrees);
});

it.each(["4554.30N", "4554.3000000N", "4554,3000N", "4554.3000X", "4x54.3000N", "4554.3000"])(
  "a position block finds no coordinate in %s",
  (text) => {
    expect(() => read(text).coordinate(2, "N", "S")).toThrow(MalformedFrame);
  },
);

it.each([
  ["117.85", 117.85],
  ["000118", 118],
  ["12345.", 12345],
  [".12345", 0.12345],
  ["1.2.34", Number.NaN],
  ["......", Number.NaN],
])("a position block reads the course %s", (text, degrees) => {
  expect(read(text).course()).toBe(degrees);
});

it("a position block of a kids' watch may have commas between its parts, and only there", () => {
  const block = read("260506,A4554.3000N,", true);
  block.digits(6);
  expect(block.letter("A", "V")).toBe("A");
  expect(block.coordinate(2, "N", "S")).toBe(45.905);
  expect(block.offset).toBe(18);
  expect(() => read(",260506", true).digits(6)).toThrow(MalformedFrame);
  expect(() => read("45,54.3000N", true).coordinate(2, "N", "S")).toThrow(MalformedFrame);
  const plain = read("260506,A");
  plain.digits(6);
  expect(() => plain.letter("A", "V")).toThrow(MalformedFrame);
});
