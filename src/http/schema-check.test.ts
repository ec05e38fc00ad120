import { describe, expect, it } from "vitest";
import { maxFieldErrors } from "./field-errors.ts";
import { SchemaChecker } from "./schema-check.ts";

const item = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, level: { type: "integer", minimum: 0 } },
  required: ["name"],
};
const schema = {
  type: "object",
  properties: { items: { type: "array", maxItems: 3, items: item }, note: { type: "string" } },
};

describe("a checked value", () => {
  const check = new SchemaChecker({ strict: false }).compile(schema);

  it("is good without errors", () => {
    expect(check({ items: [{ name: "a" }], note: "b" })).toBeUndefined();
  });

  it("reports all its errors at once", () => {
    expect(check({ items: [{ name: "", level: -1 }, {}], note: 5 })).toEqual({
      "items.0.name": ["This field may not be blank."],
      "items.0.level": ["Ensure this value is greater than or equal to 0."],
      "items.1.name": ["This field is required."],
      note: ["Not a valid string."],
    });
  });

  it("that is wrong in many places has a bounded number of errors, the length of its list among them", () => {
    const errors = check({ items: Array.from({ length: 20_000 }, () => ({})) }) ?? {};
    expect(errors.items).toEqual(["Ensure this field has no more than 3 elements."]);
    expect(Object.keys(errors).length).toBeLessThanOrEqual(maxFieldErrors);
  });

  it("is not followed deeper than a schema looks", () => {
    let deep: unknown = 0;
    for (let level = 0; level < 30_000; level++) deep = [deep];
    expect(check({ note: 5, unknown: deep })).toEqual({ note: ["Not a valid string."] });
  });

  it("is called by the name of its root", () => {
    const named = new SchemaChecker({ strict: false }).compile(schema, "params");
    expect(named({ note: null })).toEqual({ "params.note": ["This field may not be null."] });
    expect(named([])).toEqual({ params: ["Expected an object."] });
    expect(check([])).toEqual({ non_field_errors: ["Expected an object."] });
  });
});
