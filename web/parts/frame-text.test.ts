import { expect, test } from "vitest";
import { readableFrame } from "./frame-text.ts";

const hexOf = (text: string): string => Buffer.from(text, "latin1").toString("hex");

test("a frame of text is shown as text, a long one by its beginning", () => {
  expect(readableFrame(hexOf("IWAP49,61#"))).toBe("IWAP49,61#");
  expect(readableFrame(hexOf("x".repeat(100)))).toBe(`${"x".repeat(60)}…`);
});

test("a frame with other bytes is not", () => {
  expect(readableFrame("7e0200")).toBeUndefined();
});
