import { describe, expect, it } from "vitest";
import { multipart } from "../../test/support/voice-upload.ts";
import { readForm } from "./multipart.ts";

const rule = { field: "file", maxBytes: 10 * 1_048_576 };
const read = (text: string | Buffer, contentType = "multipart/form-data; boundary=b") =>
  readForm({ bytes: Buffer.from(text), contentType, tooLarge: false }, rule);

describe("multipart bodies", () => {
  it("have fields and a file of any size that is allowed", async () => {
    const file = Buffer.alloc(rule.maxBytes, 7);
    const { payload, contentType } = multipart({ file, fields: { name: "x" } });
    const form = await read(payload, contentType);
    expect([form.fields, form.file?.bytes.equals(file)]).toEqual([{ name: "x" }, true]);
  });

  // Found by fuzzing: the parser never answered, and the call kept its place among the uploads.
  it.each([
    ["headers that never end", "--b\r\nContent-Disposition\r\n--b--\r\n"],
    ["headers cut off", '--b\r\nContent-Disposition: form-data; name="file"'],
    ["another boundary", '--c\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--c--\r\n'],
    [
      "a first part without headers",
      '--b\r\nC\0\0\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n',
    ],
    ["no part", "x"],
  ])("with %s are answered", async (_, body) => {
    const outcome = await read(body).then(
      () => "read",
      (error: { code?: string }) => error.code,
    );
    expect(["read", "parse_error"]).toContain(outcome);
  });
});
