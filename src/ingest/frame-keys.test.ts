import { expect, test } from "vitest";
import { isKnownKey } from "./frame-keys.ts";

const failure = (code: string, message: string, table?: string): Error =>
  Object.assign(new Error(message), { code, ...(table ? { table } : {}) });
const text = (constraint: string): string => `duplicate key value violates unique constraint "${constraint}"`;

test("a key that is known is recognised on one server and on a node of several", () => {
  expect(isKnownKey(failure("23505", text("ingest_frames_p20260226_pkey"), "ingest_frames_p20260226"))).toBe(true);
  expect(isKnownKey(failure("XX000", text("ingest_frames_p20260226_pkey_102077")))).toBe(true);
  expect(isKnownKey(failure("23505", text("ingest_frames_default_pkey_102035")))).toBe(true);
});

test("another failure is not taken for one", () => {
  expect(isKnownKey(failure("23505", text("locations_pkey"), "locations_p20260226"))).toBe(false);
  expect(isKnownKey(failure("XX000", text("locations_p20260226_pkey_102077")))).toBe(false);
  expect(isKnownKey(failure("53100", "could not extend file"))).toBe(false);
  expect(isKnownKey(undefined)).toBe(false);
});
