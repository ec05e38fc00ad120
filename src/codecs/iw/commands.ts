import { zoneOffsetMinutes } from "../../lib/zone-offset.ts";
import { UnsupportedDownlink } from "../protocol-definition.ts";
import { nameHex, type Utf16 } from "../wire/utf16-text.ts";
import type { Dialect, IwSession } from "./fields.ts";

/** What a command becomes on the wire: codes with the fields after IMEI and serial. */
export type WireCommand = readonly [code: string, ...fields: (string | number)[]];

export interface CommandContext {
  dialect: Dialect;
  nameEncoding: Utf16;
  session: IwSession;
}

type Params = Readonly<Record<string, unknown>>;

interface CommandRule {
  dialects: string;
  wire(params: Params, context: CommandContext): WireCommand[];
}

const simple = (code: string, dialects: string): CommandRule => ({ dialects, wire: () => [[code]] });
/** Firmware of dialect B has other words for two measurements. */
const measurement = (code: string, codeOfB: string): CommandRule => ({
  dialects: "AB",
  wire: (_, { dialect }) => [dialect === "B" ? [codeOfB, 1] : [code]],
});
/** A switched-off interval is `0,0`. */
const interval = (code: string): CommandRule => ({
  dialects: "AB",
  wire: ({ enabled, interval_minutes }) => [enabled === true ? [code, 1, numeric(interval_minutes)] : [code, 0, 0]],
});

const MODES: Readonly<Record<string, number>> = { normal: 1, power_saving: 2, emergency: 3 };
const SOS_NUMBERS = 3;
const CONTACTS = 10;

const COMMANDS: ReadonlyMap<string, CommandRule> = new Map<string, CommandRule>([
  ["locate_now", simple("BP16", "ABC")],
  ["restart", simple("BP18", "ABC")],
  ["power_off", simple("BP31", "ABC")],
  ["factory_reset", simple("BP17", "ABC")],
  ["find_device", simple("BP88", "B")],
  ["test_heart_rate", simple("BPXL", "AB")],
  ["test_blood_pressure", simple("BPXY", "AB")],
  ["test_temperature", measurement("BPXT", "BPTE")],
  ["test_blood_oxygen", measurement("BPXZ", "BPOX")],
  ["set_heart_rate_interval", interval("BP86")],
  ["set_temperature_interval", interval("BP87")],
  ["set_report_interval", { dialects: "ABC", wire: (params) => [["BP15", numeric(params.interval_seconds)]] }],
  ["set_working_mode", { dialects: "ABC", wire: workingMode }],
  ["set_timezone", { dialects: "ABC", wire: timezone }],
  ["calibrate_bp", { dialects: "A", wire: calibration }],
  ["set_sos_numbers", { dialects: "ABC", wire: ({ numbers }) => [["BP12", ...filled(listOf(numbers), SOS_NUMBERS)]] }],
  ["set_contacts", { dialects: "ABC", wire: contacts }],
  ["set_fall_detection", { dialects: "AB", wire: fallDetection }],
]);

export function wireCommands(type: string, params: Params, context: CommandContext): WireCommand[] {
  const rule = COMMANDS.get(type);
  if (!rule?.dialects.includes(context.dialect)) {
    throw new UnsupportedDownlink(`IW dialect ${context.dialect} has no command ${type}`);
  }
  return rule.wire(params, context);
}

function workingMode({ mode, interval_seconds, gps_enabled }: Params): WireCommand[] {
  if (mode === "custom") return [["BP34", 8, numeric(interval_seconds), gps_enabled === false ? 0 : 1]];
  const digit = MODES[String(mode)];
  if (digit === undefined) throw new UnsupportedDownlink(`IW has no working mode ${String(mode)}`);
  return [["BP33", digit]];
}

/** The language in front of the zone is a number that only dialect B heeds: 1 is English. */
function timezone({ timezone, utc_offset_minutes }: Params, { dialect, session }: CommandContext): WireCommand[] {
  const minutes = typeof timezone === "string" ? offsetOf(timezone, session.nowMs) : numeric(utc_offset_minutes);
  return [["BP20", dialect === "B" ? 1 : 0, Number((minutes / 60).toFixed(2))]];
}

function offsetOf(name: string, nowMs: number): number {
  try {
    return zoneOffsetMinutes(name, nowMs);
  } catch (cause) {
    throw new UnsupportedDownlink(`There is no time zone ${name}`, { cause });
  }
}

/** Older firmware knows only the short form. */
function calibration({ sbp, dbp, age, gender }: Params): WireCommand[] {
  const pressures = [numeric(sbp), numeric(dbp)];
  if (age === undefined || gender === undefined) return [["BPJZ", ...pressures]];
  return [["BPJZ", ...pressures, numeric(age), gender === "male" ? 1 : 0]];
}

function contacts(params: Params, { nameEncoding }: CommandContext): WireCommand[] {
  const entries = listOf(params.contacts).map((contact) => {
    const { name, phone } = contact as { name?: unknown; phone?: unknown };
    return `${nameHex(String(name ?? ""), nameEncoding)}|${String(phone ?? "")}`;
  });
  return [["BP14", ...filled(entries, CONTACTS)]];
}

/** Sensitivity is a command of its own, and means nothing while detection is off. */
function fallDetection({ enabled, sensitivity }: Params): WireCommand[] {
  return enabled === true
    ? [
        ["BP76", 1],
        ["BP77", numeric(sensitivity ?? 2)],
      ]
    : [["BP76", 0]];
}

function numeric(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new UnsupportedDownlink("A number is missing");
  return value;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The firmware counts fields, so those that are not used stay empty. */
function filled(values: readonly unknown[], count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(values[index] ?? ""));
}
