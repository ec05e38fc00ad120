import { zoneOffsetMinutes } from "../../lib/zone-offset.ts";
import { type SessionDevice, UnsupportedDownlink, type WorkingMode } from "../protocol-definition.ts";
import { utf16BeHex } from "../wire/utf16-text.ts";
import { joinContent } from "./envelope.ts";
import type { WatchTraits } from "./traits.ts";

/** The commands of the API as contents of frames. Parameters have been checked against the catalog before. */
export type Params = Readonly<Record<string, unknown>>;

interface Context {
  device: SessionDevice<WatchTraits>;
  nowMs: number;
}

export function commandContents(type: string, params: Params, context: Context): Buffer[] {
  const write = Object.hasOwn(writers, type) ? writers[type] : undefined;
  if (write === undefined) throw new UnsupportedDownlink(`watches know no ${type}`);
  return write(params, context).map(([word, ...fields]) => joinContent(word, fields));
}

type Line = [word: string, ...fields: string[]];
type Writer = (params: Params, context: Context) => Line[];

const plain =
  (...line: Line): Writer =>
  () => [line];

const writers: Readonly<Record<string, Writer>> = {
  locate_now: plain("CR"),
  find_device: plain("FIND"),
  send_message: (params) => [["MESSAGE", utf16BeHex(text(params, "text"))]],
  set_working_mode: (params) => [["UPLOAD", String(secondsOf(params))]],
  set_timezone: (params, { device, nowMs }) => [["LZ", languageCode(device.locale), offsetHours(params, nowMs)]],
  restart: plain("RESET"),
  power_off: plain("POWEROFF"),
  factory_reset: plain("FACTORY"),
  // Both are measured in one go and come back as one frame.
  test_heart_rate: plain("hrtstart", "1"),
  test_blood_pressure: plain("hrtstart", "1"),
  test_temperature: plain("bodytemp2"),
  test_blood_oxygen: plain("oxygen"),
  set_report_interval: (params) => [["UPLOAD", String(number(params, "interval_seconds"))]],
  set_sos_numbers: (params) => {
    const [first = "", second = "", third = ""] = list(params, "numbers").map(String);
    return [["SOS", first, second, third]];
  },
  set_contacts: (params) => contactLines(list(params, "contacts") as { name: string; phone: string }[]),
  set_fall_detection: (params) => [["FALLDOWN", params.enabled === true ? "1" : "0", String(params.sensitivity ?? 2)]],
  // Zero stops, one measures once, from 300 on it is the period in seconds.
  set_heart_rate_interval: (params) => [
    ["hrtstart", params.enabled === true ? String(number(params, "interval_minutes") * 60) : "0"],
  ],
};

export const modeSeconds: Readonly<Record<WorkingMode, number>> = { normal: 600, power_saving: 3600, emergency: 60 };

/** There is no working mode, only the time between two reports. */
function secondsOf(params: Params): number {
  const mode = text(params, "mode");
  return mode === "custom" ? number(params, "interval_seconds") : isMode(mode) ? modeSeconds[mode] : unreadable("mode");
}

const isMode = (mode: string): mode is WorkingMode => Object.hasOwn(modeSeconds, mode);

/** Only the codes that are known from devices; 0 is the maker's default. */
const languageCodes: Readonly<Record<string, string>> = { es: "4", de: "5" };
const languageCode = (locale: string): string => languageCodes[locale.slice(0, 2).toLowerCase()] ?? "0";

/** Hours with a sign and up to two decimals: `+5.75`. */
function offsetHours(params: Params, nowMs: number): string {
  const minutes =
    params.timezone === undefined ? number(params, "utc_offset_minutes") : offsetOf(text(params, "timezone"), nowMs);
  return `${minutes < 0 ? "-" : "+"}${Number((Math.abs(minutes) / 60).toFixed(2))}`;
}

function offsetOf(name: string, nowMs: number): number {
  try {
    return zoneOffsetMinutes(name, nowMs);
  } catch (cause) {
    throw new UnsupportedDownlink(`there is no time zone ${name}`, { cause });
  }
}

const contactsPerFrame = 5;

function contactLines(contacts: readonly { name: string; phone: string }[]): Line[] {
  const pairs = (from: number): string[] =>
    contacts.slice(from, from + contactsPerFrame).flatMap(({ name, phone }) => [phone, utf16BeHex(name)]);
  // An empty pair, so that an empty list is no question.
  const first: Line = contacts.length === 0 ? ["PHB", "", ""] : ["PHB", ...pairs(0)];
  return contacts.length > contactsPerFrame ? [first, ["PHB2", ...pairs(contactsPerFrame)]] : [first];
}

function text(params: Params, name: string): string {
  const value = params[name];
  return typeof value === "string" ? value : unreadable(name);
}

function number(params: Params, name: string): number {
  const value = params[name];
  return typeof value === "number" && Number.isFinite(value) ? value : unreadable(name);
}

function list(params: Params, name: string): unknown[] {
  const value = params[name];
  return Array.isArray(value) ? value : unreadable(name);
}

function unreadable(name: string): never {
  throw new UnsupportedDownlink(`cannot send without a proper ${name}`);
}
