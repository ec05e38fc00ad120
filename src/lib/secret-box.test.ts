import { describe, expect, it } from "vitest";
import { isSealed, makeSecretBox, newSecretKey, WrongKey } from "./secret-box.ts";

describe("a secret box", () => {
  const box = makeSecretBox(newSecretKey());

  it("opens what it sealed, and never seals alike twice", () => {
    const sealed = box.seal("whsec_ü");
    expect(isSealed(sealed)).toBe(true);
    expect(sealed).not.toContain("whsec");
    expect(sealed).not.toBe(box.seal("whsec_ü"));
    expect(box.open(sealed)).toBe("whsec_ü");
  });

  it("names the key of a secret that another key sealed", () => {
    const other = makeSecretBox(newSecretKey());
    expect(() => box.open(other.seal("x"))).toThrow(WrongKey);
    expect(() => box.open(other.seal("x"))).toThrow(other.fingerprint);
  });

  it("refuses a sealed text that was changed", () => {
    const sealed = box.seal("secret");
    const last = sealed.at(-2) === "A" ? "B" : "A";
    expect(() => box.open(sealed.slice(0, -2) + last + sealed.at(-1))).toThrow();
  });

  it("returns texts from before secrets were sealed", () => {
    expect(box.open("plain")).toBe("plain");
  });

  it("requires a key of 32 bytes", () => {
    expect(() => makeSecretBox(Buffer.alloc(16))).toThrow("32 bytes");
  });
});
