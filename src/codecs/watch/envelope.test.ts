import { describe, expect, it } from "vitest";
import { escapeBytes, joinContent, readHeader, unescapeBytes, writeFrame } from "./envelope.ts";

describe("the envelope of a frame", () => {
  it("reads maker, id and length", () => {
    const bytes = Buffer.from("[3G*5550001234*000a*LK,1,2,345]");
    expect(readHeader(bytes, 0, bytes.length)).toEqual({
      maker: "3G",
      id: "5550001234",
      index: undefined,
      declaredLength: 10,
      size: 20,
    });
  });

  it("reads the counter some makers put before the length", () => {
    const bytes = Buffer.from("[ZJ*490154203237518*00fE*0002*LK]");
    expect(readHeader(bytes, 0, bytes.length)).toMatchObject({ index: "00fE", declaredLength: 2, size: 30 });
  });

  it.each([
    "[3G*5550001234*LK]",
    "[3G**0002*LK]",
    "[3G5550001234*0002*LK]",
    "[3G*555 0001*0002*LK]",
    "[3G*5550001234*",
  ])("finds no header in %j", (text) => expect(readHeader(Buffer.from(text), 0, text.length)).toBeUndefined());

  it("writes the length of the bytes sent, in upper case", () => {
    const content = joinContent("TK", [Buffer.from("a[b]c,d*e}\xff", "latin1")]);
    expect(writeFrame({ maker: "CS", id: "5550001234", index: undefined, content }).toString("latin1")).toBe(
      "[CS*5550001234*0013*TK,a}\x02b}\x03c}\x04d}\x05e}\x01\xff]",
    );
    expect(writeFrame({ maker: "ZJ", id: "1", index: "0001", content: Buffer.alloc(0xabc, "x") }).toString()).toContain(
      "[ZJ*1*0001*0ABC*xxx",
    );
  });

  it("undoes what it escapes, for every byte", () => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const escaped = escapeBytes(every);
    expect(escaped.length).toBe(261);
    expect(unescapeBytes(escaped)).toEqual(every);
  });

  it("leaves a sign that escapes nothing as it is", () => {
    expect(unescapeBytes(Buffer.from("a}b}\x06}\x00}"))).toEqual(Buffer.from("a}b}\x06}\x00}"));
  });
});
