import { describe, expect, it } from "vitest";
import { makeGbEncoder } from "./gb-text.ts";

describe("GB2312", () => {
  const encode = makeGbEncoder();

  it("writes one byte for ASCII and two for the rest", () => {
    expect(encode("OK 1").toString("hex")).toBe("4f4b2031");
    expect(encode("啊你好").toString("hex")).toBe("b0a1c4e3bac3");
    expect(encode("è").toString("hex")).toBe("a8a8");
  });

  it("is read back by the runtime", () => {
    const text = "吃药时间到了，à é ü.";
    expect(new TextDecoder("gbk").decode(encode(text))).toBe(text);
  });

  it("replaces what the set does not have", () => {
    expect(encode("a🙂ßb").toString("latin1")).toBe("a??b");
  });
});
