import { expect, it } from "vitest";
import { ApiError } from "../lib/errors.ts";
import { refuseReadOnly } from "./read-only.ts";

const fields = ["id", "email", "created_at"];
const record = {
  id: "0d8c2f0e-6a51-4a0c-8f5a-9d1a0c6d7b10",
  email: "a@example.org",
  created_at: "2026-03-01T08:00:00.000Z",
};

function refused(body: object, ...rest: [records?: Record<string, unknown>[], options?: { isCreate?: boolean }]) {
  const [records = [record], options] = rest;
  try {
    refuseReadOnly(body, fields, records, options);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return Object.keys(error.extra.errors as object);
  }
}

it("the read-only check accepts a record that is sent back as it was read", () => {
  expect(refused({ ...record, name: "new", updated_at: "yesterday" })).toEqual([]);
});

it("the read-only check names every field that would change", () => {
  expect(refused({ id: "other", email: null, created_at: record.created_at })).toEqual(["id", "email"]);
});

it("the read-only check takes an id in either case and a time in any notation", () => {
  expect(refused({ id: record.id.toUpperCase(), created_at: "2026-03-01T09:00:00+01:00" })).toEqual([]);
  expect(refused({ created_at: "2026-03-01T09:00:00Z" })).toEqual(["created_at"]);
});

it("the read-only check ignores null on a create only", () => {
  expect(refused({ email: null }, [record], { isCreate: true })).toEqual([]);
  expect(refused({ email: null })).toEqual(["email"]);
});

it("the read-only check accepts the value that the call itself gives the field", () => {
  expect(refused({ email: "b@example.org" }, [record, { ...record, email: "b@example.org" }])).toEqual([]);
});
