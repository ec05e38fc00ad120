import { describe, expect, it } from "vitest";
import { readNumber, readVital, readWholeNumber } from "./numbers.ts";

describe("numbers on the wire", () => {
  it.each([
    ["72", 72],
    [" 9.1574736", 9.1574736],
    ["-70.76", -70.76],
    ["+3", 3],
    ["000", 0],
    ["15.", 15],
    [".5", 0.5],
  ])("reads %j", (text, number) => expect(readNumber(text)).toBe(number));

  it.each(["", " ", "-", ".", "1e5", "0x10", "NaN", "Infinity", "1,5", "12a", "1".repeat(13), undefined])(
    "finds no number in %j",
    (text) => expect(readNumber(text)).toBeNull(),
  );

  it("knows no negative zero", () => expect(readNumber("-0.0")).toBe(0));

  it("reads whole numbers only where they are asked for", () => {
    expect(readWholeNumber("12")).toBe(12);
    expect(readWholeNumber("12.5")).toBeNull();
  });

  it("takes a zero for a measurement that failed", () => {
    expect(readVital("0")).toBeNull();
    expect(readVital("-1")).toBeNull();
    expect(readVital("36.6")).toBe(36.6);
  });
});
