import { describe, expect, it } from "vitest";
import { acceptedStep, base32, codeAt, otpauthUrl, stepAt } from "./totp.ts";

const secret = Buffer.from("12345678901234567890");

describe("one-time passwords", () => {
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_234_567_890, "005924"],
    [20_000_000_000, "353130"],
  ])("are those of RFC 6238 at second %i", (seconds, code) => {
    expect(codeAt(secret, stepAt(seconds * 1000))).toBe(code);
  });

  it("are written in base 32 for apps", () => {
    expect(base32(secret)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    expect(base32(Buffer.from("f"))).toBe("MY");
    expect(otpauthUrl(secret, "a@b.co")).toBe(
      "otpauth://totp/Vigil%3Aa%40b.co?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Vigil",
    );
  });

  it("are accepted one step early or late, and once", () => {
    const step = stepAt(1_111_111_109_000);
    const at = (offset: number): number => (step + offset) * 30_000;
    expect(acceptedStep(secret, "081 804", at(0), 0)).toBe(step);
    expect(acceptedStep(secret, "081804", at(1), 0)).toBe(step);
    expect(acceptedStep(secret, "081804", at(-1), 0)).toBe(step);
    expect(acceptedStep(secret, "081804", at(2), 0)).toBeUndefined();
    expect(acceptedStep(secret, "081804", at(0), step)).toBeUndefined();
    expect(acceptedStep(secret, "", at(0), 0)).toBeUndefined();
  });
});
