import { expect, it } from "vitest";
import { answerText } from "./answer-text.ts";

const textOf = (text: string): string | null => answerText(Buffer.from(text));

it("keeps the beginning of an answer, in whole characters and without control characters", () => {
  expect(textOf("")).toBeNull();
  expect(textOf(" \n ")).toBeNull();
  expect(textOf("bad\u0000 request\u001b[31m\nline two")).toBe("bad request[31m\nline two");
  expect(textOf(`${"x".repeat(499)}è and more`)).toBe("x".repeat(499));
  expect(answerText(Buffer.from([0xff, 0x41]))).toBe("\ufffdA");
});

it.each([
  ["key whsec_MDEyMzQ1Njc4OWFi is wrong", "key whsec_… is wrong"],
  ["Authorization: Bearer abc.def-123", "Authorization: …"],
  ['{"password":"hunter2","ok":false}', '{"password":…,"ok":false}'],
  ["token=abcdef&x=1", "token=…&x=1"],
  ["client vs_abcdefghij123", "client vs_…"],
])("shows nothing that looks like a secret: %s", (given, shown) => {
  expect(textOf(given)).toContain(shown.slice(0, 12));
  expect(textOf(given)).not.toMatch(/MDEyMzQ1|abc\.def|hunter2|abcdef/);
});
