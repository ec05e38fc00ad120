import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fieldsOf, initialValues, type ParamsSchema, paramsOf, problemsOf } from "./params-form.ts";

const catalog = JSON.parse(
  readFileSync(new URL("../../src/resources/catalog/data/capabilities.json", import.meta.url), "utf8"),
) as { commands: { code: string; params_schema: ParamsSchema }[] };
const schemaOf = (code: string): ParamsSchema => {
  const found = catalog.commands.find((command) => command.code === code);
  if (!found) throw new Error(`no command ${code}`);
  return found.params_schema;
};
const send = (code: string, values: Parameters<typeof paramsOf>[1]) =>
  paramsOf(fieldsOf(schemaOf(code)), { ...initialValues(schemaOf(code)), ...values });

describe("the form of a command", () => {
  it("knows every kind of parameter of the catalog", () => {
    const kinds = catalog.commands.flatMap(({ params_schema }) => fieldsOf(params_schema).map(({ kind }) => kind));
    expect(new Set(kinds)).toEqual(new Set(["text", "number", "check", "choice", "list"]));
  });

  it("is empty for a command without parameters", () => {
    expect(fieldsOf(schemaOf("locate_now"))).toEqual([]);
    expect(send("locate_now", {})).toEqual({});
  });

  it("begins with defaults and the first choice of what is required", () => {
    expect(initialValues(schemaOf("set_working_mode"))).toEqual({
      mode: "normal",
      interval_seconds: "",
      gps_enabled: true,
    });
    expect(initialValues(schemaOf("set_contacts"))).toEqual({ contacts: [{ name: "", phone: "" }] });
  });
});

describe("what is sent", () => {
  it("has numbers as numbers and leaves out what was left empty", () => {
    expect(send("calibrate_bp", { sbp: "118", dbp: "76" })).toEqual({ sbp: 118, dbp: 76 });
    expect(send("set_fall_detection", { enabled: true })).toEqual({ enabled: true, sensitivity: 2 });
  });

  it("has lists of plain values and of records, without empty rows", () => {
    expect(send("set_sos_numbers", { numbers: [{ value: "+39061" }, { value: "" }] })).toEqual({ numbers: ["+39061"] });
    expect(
      send("set_contacts", {
        contacts: [
          { name: "Ada", phone: "1" },
          { name: "", phone: "" },
        ],
      }),
    ).toEqual({
      contacts: [{ name: "Ada", phone: "1" }],
    });
    expect(send("set_sos_numbers", { numbers: [] })).toEqual({ numbers: [] });
  });
});

describe("problems of a form", () => {
  const problems = (code: string, values: Parameters<typeof paramsOf>[1]) =>
    problemsOf(schemaOf(code), send(code, values));

  it("name what is missing or out of range", () => {
    expect(problems("calibrate_bp", { sbp: "300", dbp: "" })).toEqual({ sbp: "range", dbp: "required" });
    expect(problems("calibrate_bp", { sbp: "118.5", dbp: "x" })).toEqual({ sbp: "number", dbp: "number" });
    expect(problems("calibrate_bp", { sbp: "118", dbp: "76" })).toEqual({});
  });

  it("ask for the interval only with the choice that needs it", () => {
    expect(problems("set_working_mode", { mode: "normal" })).toEqual({});
    expect(problems("set_working_mode", { mode: "custom" })).toEqual({ interval_seconds: "required" });
    expect(problems("set_heart_rate_interval", { enabled: true })).toEqual({ interval_minutes: "required" });
    expect(problems("set_heart_rate_interval", { enabled: false })).toEqual({});
  });

  it("want exactly one of two alternatives", () => {
    expect(problems("set_timezone", {})).toEqual({ timezone: "one" });
    expect(problems("set_timezone", { timezone: "Europe/Rome", utc_offset_minutes: "60" })).toEqual({
      timezone: "one",
    });
    expect(problems("set_timezone", { timezone: "Europe/Rome" })).toEqual({});
  });
});
