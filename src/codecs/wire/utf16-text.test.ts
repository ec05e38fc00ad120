import { describe, expect, it } from "vitest";
import { nameHex, readUtf16Hex } from "./utf16-text.ts";

describe("UTF-16 texts in hex", () => {
  it("writes names in both byte orders", () => {
    expect(nameHex("Ré", "utf-16be")).toBe("005200E9");
    expect(nameHex("Ré", "utf-16le")).toBe("5200E900");
    expect(nameHex("🙂", "utf-16be")).toBe("D83DDE42");
  });

  it.each(["Dove sei?", "姓名", "мама", "שלום", "早上好"])("finds the byte order of %s", (text) => {
    expect(readUtf16Hex(nameHex(text, "utf-16be"))).toBe(text);
    expect(readUtf16Hex(nameHex(text, "utf-16le").toLowerCase())).toBe(text);
  });

  it("takes big-endian where both readings could be meant", () => {
    expect(readUtf16Hex(nameHex("안녕하세요", "utf-16be"))).toBe("안녕하세요");
    expect(readUtf16Hex(nameHex("ok 好 🙂", "utf-16be"))).toBe("ok 好 🙂");
  });

  it("refuses half characters and other letters", () => {
    expect(readUtf16Hex("00410")).toBeUndefined();
    expect(readUtf16Hex("0041zz00")).toBeUndefined();
  });

  it("leaves nothing that a database refuses", () => {
    expect(readUtf16Hex("00480069D83D0000")).not.toMatch(/[\0\ud800-\udfff]/);
    expect(readUtf16Hex("004800690000")).toBe("Hi");
  });
});
