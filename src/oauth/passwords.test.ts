import { expect, test } from "vitest";
import { hashPassword, isAcceptablePassword, verifyPassword } from "./passwords.ts";

test("a password check hashes with argon2id at the agreed cost and verifies only the same password", async () => {
  const stored = await hashPassword("correct horse");
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(stored, "correct horse")).toBe(true);
  expect(await verifyPassword(stored, "correct horsf")).toBe(false);
});

test("a password check accepts the composed and the decomposed form of one password", async () => {
  expect(await verifyPassword(await hashPassword("p\u00e4sswort-lang"), "pa\u0308sswort-lang")).toBe(true);
});

test("a password check requires eight characters and has an upper bound", () => {
  expect(isAcceptablePassword("1234567")).toBe(false);
  expect(isAcceptablePassword("12345678")).toBe(true);
  expect(isAcceptablePassword("x".repeat(1025))).toBe(false);
});
