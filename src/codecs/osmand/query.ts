import { MalformedFrame } from "../malformed-frame.ts";
import type { AccessPoint, CellTower } from "../tracker-message.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { addExtra, emptyReport, type Report } from "./report.ts";
import { batteryOf, checkedTime, gpsOf, readIsoTime } from "./values.ts";

const kmhOfKnot = 1.852;

/** Parameters that are read below, or are not ours to keep: the token lets anybody send messages to the phone. */
const own: ReadonlySet<string> = new Set(
  (
    "id deviceid device_id lat lon location timestamp valid speed bearing heading altitude accuracy batt charge cell wifi " +
    "alarm notificationToken"
  ).split(" "),
);

export function readQuery(params: URLSearchParams): { id: string | undefined; report: Report } {
  const report = emptyReport();
  const time = params.get("timestamp");
  report.timeMs = time === null || time === "" ? null : readTime(time);
  report.gps = readGps(params);
  report.cells = params.getAll("cell").map(readCell);
  report.accessPoints = params.getAll("wifi").map(readAccessPoint);
  const battery = optional(params, "batt");
  if (battery !== null) report.metrics.bat = batteryOf(battery);
  const charge = params.get("charge");
  if (charge === "true" || charge === "false") report.extra.charging = charge === "true";
  report.alarm = params.get("alarm") || undefined;
  for (const [name, value] of params) if (!own.has(name)) addExtra(report, name, parsed(value));
  return { id: params.get("id") ?? params.get("deviceid") ?? params.get("device_id") ?? undefined, report };
}

function readGps(params: URLSearchParams): Report["gps"] {
  const [lat, lng] = params.get("location")?.split(",", 2) ?? [params.get("lat"), params.get("lon")];
  if ((lat ?? "") === "" && (lng ?? "") === "") return null;
  const knots = optional(params, "speed");
  const gps = gpsOf({
    lat: required(lat ?? ""),
    lng: required(lng ?? ""),
    altitudeM: optional(params, "altitude"),
    speedKmh: knots === null ? null : knots * kmhOfKnot,
    heading: optional(params, "bearing") ?? optional(params, "heading"),
    accuracyM: optional(params, "accuracy"),
  });
  const valid = params.get("valid");
  return valid === null || valid === "true" || valid === "1" ? gps : null;
}

/** Scripts write more decimals than any device, and exponents. */
function numberOf(text: string): number | null {
  const number = readNumber(text);
  if (number !== null) return number;
  return /^[+-]?\d{1,20}(\.\d{0,40})?(e[+-]?\d{1,3})?$/i.test(text) && Number.isFinite(Number(text))
    ? Number(text)
    : null;
}

function required(text: string): number {
  const number = numberOf(text.trim());
  if (number === null) throw new MalformedFrame("number that cannot be read");
  return number;
}

function optional(params: URLSearchParams, name: string): number | null {
  const text = params.get(name);
  return text === null || text.trim() === "" ? null : required(text);
}

const plainTime = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/;
/** Smaller numbers are seconds, larger ones milliseconds. */
const maxSeconds = 2 ** 31;

function readTime(text: string): number {
  const number = /^\d{1,16}(\.\d{1,9})?$/.test(text) ? Number(text) : null;
  if (number !== null) return checkedTime(number < maxSeconds ? number * 1000 : number);
  const plain = plainTime.exec(text);
  return readIsoTime(plain === null ? text : `${plain[1]}T${plain[2]}Z`);
}

/** `mcc,mnc,lac,cell[,signal]`. */
function readCell(text: string): CellTower {
  const [mcc, mnc, lac, cid, signal = ""] = text.split(",", 5);
  const [country, operator, area, cell] = [mcc, mnc, lac, cid].map((field) => readWholeNumber(field) ?? -1);
  const isCell = [country, operator, area, cell].every((number) => number !== undefined && number >= 0);
  if (!isCell) throw new MalformedFrame("cell that cannot be read");
  const signalDbm = readNumber(signal);
  return {
    mcc: country as number,
    mnc: operator as number,
    lac: area as number,
    cid: cell as number,
    signalDbm: signalDbm !== null && signalDbm < 0 ? signalDbm : null,
  };
}

/** `mac,signal`, the address with dashes or colons. */
function readAccessPoint(text: string): AccessPoint {
  const [mac = "", signal = ""] = text.split(",", 2);
  if (!/^[\da-f]{2}([:-][\da-f]{2}){5}$/i.test(mac)) throw new MalformedFrame("access point that cannot be read");
  const signalDbm = readNumber(signal);
  return {
    mac: mac.toLowerCase().replaceAll("-", ":"),
    signalDbm: signalDbm !== null && signalDbm < 0 ? signalDbm : null,
  };
}

function parsed(text: string): number | boolean | string {
  const number = numberOf(text);
  if (number !== null) return number;
  return text === "true" ? true : text === "false" ? false : text;
}
