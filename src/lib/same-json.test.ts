import { expect, it } from "vitest";
import { isSameJson } from "./same-json.ts";

it.each([
  [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
  [{}, {}, true],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [{ a: undefined }, { b: undefined }, false],
  [[1, 2], [2, 1], false],
  [{ 0: 1 }, [1], false],
  ["1", 1, false],
  [null, {}, false],
  ["A", "a", false],
])("%j and %j", (a, b, expected) => {
  expect(isSameJson(a, b)).toBe(expected);
  expect(isSameJson(b, a)).toBe(expected);
});

it("isSameJson compares texts with the given comparison, nested ones too", () => {
  const anyCase = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  expect(isSameJson({ a: ["A"] }, { a: ["a"] }, anyCase)).toBe(true);
});
