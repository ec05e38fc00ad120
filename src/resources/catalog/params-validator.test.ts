import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { COMMAND_TYPES, type CommandType } from "./capability.ts";
import { makeParamsChecker, makeParamsValidator, type ParamsValidator } from "./params-validator.ts";

const catalog = testCatalog();
const checker = makeParamsChecker();
const validators = new Map<string, ParamsValidator>();

function validatorOf(type: CommandType, slug?: string): ParamsValidator {
  const key = `${type} ${slug}`;
  const known = validators.get(key);
  if (known) return known;
  const capability =
    slug === undefined ? catalog.findCapability(type) : catalog.capabilitiesOf(slug).find(({ code }) => code === type);
  if (capability?.kind !== "command") throw new Error(`${type} is not a command`);
  const validator = makeParamsValidator(capability.params_schema, type, checker);
  validators.set(key, validator);
  return validator;
}

const required = "This field is required.";
const notNull = "This field may not be null.";
const integer = "A valid integer is required.";
const boolean = "Must be a valid boolean.";
const string = "Not a valid string.";
const list = "Expected a list of items.";
const atMost = (limit: number) => `Ensure this value is less than or equal to ${limit}.`;
const atLeast = (limit: number) => `Ensure this value is greater than or equal to ${limit}.`;
const notAChoice = (value: string) => `"${value}" is not a valid choice.`;
const oneZone = "Exactly one of timezone, utc_offset_minutes is required.";
const contact = { name: "Ada", phone: "+39 333 111-2222" };

const good: [CommandType, unknown][] = [
  ...COMMAND_TYPES.filter((type) => /^(locate|find|restart|power|factory|test)/.test(type)).flatMap(
    (type): [CommandType, unknown][] => [
      [type, {}],
      [type, { unknown: 1 }],
    ],
  ),
  ["send_message", { text: "a" }],
  ["send_message", { text: "😀".repeat(200), sender_name: "Care desk" }],
  ["set_working_mode", { mode: "normal" }],
  ["set_working_mode", { mode: "power_saving", extra: null }],
  ["set_working_mode", { mode: "custom", interval_seconds: 30 }],
  ["set_working_mode", { mode: "custom", interval_seconds: 86400, gps_enabled: false }],
  ["set_timezone", { timezone: "Europe/Rome" }],
  ["set_timezone", { timezone: "UTC" }],
  ["set_timezone", { utc_offset_minutes: -720 }],
  ["set_timezone", { utc_offset_minutes: 840 }],
  ["set_timezone", { utc_offset_minutes: 0 }],
  ["calibrate_bp", { sbp: 118, dbp: 76 }],
  ["calibrate_bp", { sbp: 250, dbp: 160, age: 120, gender: "male" }],
  ["calibrate_bp", { sbp: 60, dbp: 30, age: 1, gender: "female" }],
  ["set_report_interval", { interval_seconds: 30 }],
  ["set_report_interval", { interval_seconds: 86400 }],
  ["set_sos_numbers", { numbers: [] }],
  ["set_sos_numbers", { numbers: ["+393331112222", "112", ""] }],
  ["set_contacts", { contacts: [] }],
  ["set_contacts", { contacts: Array(10).fill(contact) }],
  ["set_fall_detection", { enabled: false }],
  ["set_fall_detection", { enabled: true, sensitivity: 3 }],
  ["set_heart_rate_interval", { enabled: false }],
  ["set_heart_rate_interval", { enabled: true, interval_minutes: 1 }],
  ["set_temperature_interval", { enabled: true, interval_minutes: 1440 }],
];

const bad: [CommandType, unknown, Record<string, string>][] = [
  ["locate_now", null, { params: notNull }],
  ["locate_now", [], { params: "Expected an object." }],
  ["restart", "now", { params: "Expected an object." }],
  ["send_message", {}, { "params.text": required }],
  ["send_message", { text: null }, { "params.text": notNull }],
  ["send_message", { text: "" }, { "params.text": "This field may not be blank." }],
  ["send_message", { text: 5 }, { "params.text": string }],
  ["send_message", { text: "a".repeat(201) }, { "params.text": "Ensure this field has no more than 200 characters." }],
  ["send_message", { text: "a", sender_name: null }, { "params.sender_name": notNull }],
  ["set_working_mode", {}, { "params.mode": required }],
  ["set_working_mode", { mode: "turbo" }, { "params.mode": notAChoice("turbo") }],
  ["set_working_mode", { mode: 1 }, { "params.mode": string }],
  ["set_working_mode", { mode: "custom" }, { "params.interval_seconds": required }],
  ["set_working_mode", { mode: "custom", interval_seconds: null }, { "params.interval_seconds": notNull }],
  ["set_working_mode", { mode: "custom", interval_seconds: 29 }, { "params.interval_seconds": atLeast(30) }],
  ["set_working_mode", { mode: "custom", interval_seconds: 86401 }, { "params.interval_seconds": atMost(86400) }],
  ["set_working_mode", { mode: "normal", gps_enabled: "true" }, { "params.gps_enabled": boolean }],
  ["set_timezone", {}, { "params.timezone": oneZone, "params.utc_offset_minutes": oneZone }],
  [
    "set_timezone",
    { timezone: "UTC", utc_offset_minutes: 0 },
    { "params.timezone": oneZone, "params.utc_offset_minutes": oneZone },
  ],
  ["set_timezone", { timezone: "Mars/Base" }, { "params.timezone": "A valid IANA time zone name is required." }],
  ["set_timezone", { timezone: "+02:00" }, { "params.timezone": "A valid IANA time zone name is required." }],
  ["set_timezone", { timezone: null }, { "params.timezone": notNull }],
  ["set_timezone", { utc_offset_minutes: -721 }, { "params.utc_offset_minutes": atLeast(-720) }],
  ["set_timezone", { utc_offset_minutes: 841 }, { "params.utc_offset_minutes": atMost(840) }],
  ["set_timezone", { utc_offset_minutes: "60" }, { "params.utc_offset_minutes": integer }],
  ["calibrate_bp", {}, { "params.sbp": required, "params.dbp": required }],
  ["calibrate_bp", { sbp: 251, dbp: 29 }, { "params.sbp": atMost(250), "params.dbp": atLeast(30) }],
  ["calibrate_bp", { sbp: 59, dbp: 161 }, { "params.sbp": atLeast(60), "params.dbp": atMost(160) }],
  ["calibrate_bp", { sbp: "118", dbp: 76.5 }, { "params.sbp": integer, "params.dbp": integer }],
  ["calibrate_bp", { sbp: true, dbp: null }, { "params.sbp": integer, "params.dbp": notNull }],
  ["calibrate_bp", { sbp: 80, dbp: 80 }, { "params.dbp": "dbp must be less than sbp." }],
  ["calibrate_bp", { sbp: 118, dbp: 76, age: 50 }, { "params.gender": "age and gender must be given together." }],
  ["calibrate_bp", { sbp: 118, dbp: 76, gender: "male" }, { "params.age": "age and gender must be given together." }],
  [
    "calibrate_bp",
    { sbp: 118, dbp: 76, age: 0, gender: "x" },
    { "params.age": atLeast(1), "params.gender": notAChoice("x") },
  ],
  [
    "calibrate_bp",
    { sbp: 118, dbp: 76, age: 121, gender: null },
    { "params.age": atMost(120), "params.gender": notNull },
  ],
  ["set_report_interval", {}, { "params.interval_seconds": required }],
  ["set_report_interval", { interval_seconds: 29 }, { "params.interval_seconds": atLeast(30) }],
  ["set_report_interval", { interval_seconds: 86401 }, { "params.interval_seconds": atMost(86400) }],
  ["set_sos_numbers", {}, { "params.numbers": required }],
  ["set_sos_numbers", { numbers: "112" }, { "params.numbers": list }],
  ["set_sos_numbers", { numbers: [112, null] }, { "params.numbers.0": string, "params.numbers.1": notNull }],
  ["set_sos_numbers", { numbers: ["1,2#"] }, { "params.numbers.0": "This value does not match the required pattern." }],
  [
    "set_sos_numbers",
    { numbers: ["1", "2", "3", "4"] },
    { "params.numbers": "Ensure this field has no more than 3 elements." },
  ],
  ["set_contacts", { contacts: null }, { "params.contacts": notNull }],
  ["set_contacts", { contacts: [{ name: "Ada" }] }, { "params.contacts.0.phone": required }],
  ["set_contacts", { contacts: [contact, "Ada"] }, { "params.contacts.1": "Expected an object." }],
  [
    "set_contacts",
    { contacts: Array(11).fill(contact) },
    { "params.contacts": "Ensure this field has no more than 10 elements." },
  ],
  ["set_fall_detection", {}, { "params.enabled": required }],
  ["set_fall_detection", { enabled: 1 }, { "params.enabled": boolean }],
  ["set_fall_detection", { enabled: true, sensitivity: 0 }, { "params.sensitivity": atLeast(1) }],
  ["set_fall_detection", { enabled: true, sensitivity: 4 }, { "params.sensitivity": atMost(3) }],
  ["set_heart_rate_interval", {}, { "params.enabled": required }],
  ["set_heart_rate_interval", { enabled: true }, { "params.interval_minutes": required }],
  [
    "set_heart_rate_interval",
    { enabled: null, interval_minutes: 0 },
    { "params.enabled": notNull, "params.interval_minutes": atLeast(1) },
  ],
  ["set_temperature_interval", { enabled: true, interval_minutes: 1441 }, { "params.interval_minutes": atMost(1440) }],
];

describe("parameters of section 8.2", () => {
  it.each(good)("%s takes %j", (type, params) => {
    expect(validatorOf(type)(params)).toBeUndefined();
  });

  it.each(bad)("%s refuses %j", (type, params, errors) => {
    const expected = Object.fromEntries(Object.entries(errors).map(([key, sentence]) => [key, [sentence]]));
    expect(validatorOf(type)(params)).toEqual(expected);
  });

  it("covers every command type", () => {
    expect(new Set(good.map(([type]) => type))).toEqual(new Set(COMMAND_TYPES));
  });

  it("a model may be narrower", () => {
    const params = { enabled: true, interval_minutes: 4 };
    expect(validatorOf("set_heart_rate_interval", "iw-generic")(params)).toBeUndefined();
    expect(validatorOf("set_heart_rate_interval", "watch-generic")(params)).toEqual({
      "params.interval_minutes": [atLeast(5)],
    });
  });
});

describe("schemas of operators", () => {
  it("are refused when they are no schema", () => {
    expect(() => makeParamsValidator({ type: "objekt" })).toThrow("schema is invalid");
    expect(() => makeParamsValidator({ type: "object", propertis: {} })).toThrow('unknown keyword: "propertis"');
  });

  it("give readable sentences for rules the catalog does not use", () => {
    const validate = makeParamsValidator({
      type: "object",
      properties: {
        level: { type: "number", multipleOf: 0.5 },
        kind: { anyOf: [{ type: "string" }, { type: "integer" }] },
        "a/b": { const: "x" },
      },
    });
    expect(validate({ level: 0.3, kind: null, "a/b": "y" })).toEqual({
      "params.level": ["Ensure this value is a multiple of 0.5."],
      "params.kind": ["This field may not be null."],
      "params.a/b": ['"y" is not a valid choice.'],
    });
    expect(validate({ level: "high" })).toEqual({ "params.level": ["A valid number is required."] });
  });

  it("never accept what the schema refuses", () => {
    const validate = makeParamsValidator({ type: "object", properties: { oneOf: { type: "integer" } } });
    expect(validate({ oneOf: "5" })).toEqual({ params: ["This value is not valid."] });
  });
});
