import { expect, test } from "vitest";
import { normalizeEmail } from "./email.ts";

test("stores addresses in lower case", () => {
  expect(normalizeEmail(" Ada.Lovelace+x@Example.ORG ")).toBe("ada.lovelace+x@example.org");
});

test.each(["", "ada", "ada@", "@example.org", "a b@example.org", "ada@example..org", "a@b@c", "ada@-x.org", "<a@b.c>"])(
  "refuses %j",
  (text) => {
    expect(normalizeEmail(text)).toBeUndefined();
  },
);
