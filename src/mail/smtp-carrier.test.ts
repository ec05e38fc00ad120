import { expect, it } from "vitest";
import { requiresTls } from "./smtp-carrier.ts";

it.each([
  ["smtp://mail.example:587", true],
  ["smtp://user:secret@10.0.0.5", true],
  ["smtps://mail.example", true],
  ["smtp://localhost.example", true],
  ["smtp://mail.example?requireTLS=false", false],
  ["smtp://localhost:1025", false],
  ["smtp://127.0.0.1:25", false],
  ["smtp://[::1]:25", false],
])("the address %s needs TLS: %s", (url, needed) => {
  expect(requiresTls(url)).toBe(needed);
});
