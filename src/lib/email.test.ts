import { expect, test } from "vitest";
import { isEmail, isInternetEmail, normalizeEmail } from "./email.ts";

test("the e-mail check stores addresses in lower case", () => {
  expect(normalizeEmail(" Ada.Lovelace+x@Example.ORG ")).toBe("ada.lovelace+x@example.org");
});

test.each(["", "ada", "ada@", "@example.org", "a b@example.org", "ada@example..org", "a@b@c", "ada@-x.org", "<a@b.c>"])(
  "the e-mail check refuses %j",
  (text) => {
    expect(normalizeEmail(text)).toBeUndefined();
    expect(isInternetEmail(text)).toBe(false);
  },
);

test("the e-mail check takes a host without a domain from operators, and not from partners", () => {
  expect(isEmail("first.last@localhost")).toBe(true);
  expect(isInternetEmail("first.last@localhost")).toBe(false);
  expect(isInternetEmail("root@example.org")).toBe(true);
});

test("the e-mail check refuses an address of more than 254 characters", () => {
  const domain = "@example.org";
  expect(isEmail(`${"a".repeat(254 - domain.length)}${domain}`)).toBe(true);
  expect(isEmail(`${"a".repeat(255 - domain.length)}${domain}`)).toBe(false);
});
