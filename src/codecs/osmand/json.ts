import { MalformedFrame } from "../malformed-frame.ts";
import { addExtra, emptyReport, type Report } from "./report.ts";
import { batteryOf, checkedTime, gpsOf, readIsoTime } from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

/** `{"device_id": …, "location": {…}}`; libraries that store without a network send an array of locations. */
export function readJson(body: Buffer): { id: string | undefined; reports: Report[] } {
  const root = parse(body);
  const { location } = root;
  const locations = Array.isArray(location) ? location : location === undefined ? [] : [location];
  const id = root.device_id ?? root.deviceId ?? root.id;
  return {
    id: typeof id === "string" ? id : typeof id === "number" ? String(id) : undefined,
    reports: locations.map((one) => readLocation(objectOf(one))),
  };
}

function parse(body: Buffer): Json {
  try {
    return objectOf(JSON.parse(body.toString("utf8")));
  } catch (error) {
    throw error instanceof MalformedFrame ? error : new MalformedFrame("body that is no JSON");
  }
}

function objectOf(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedFrame("JSON without the object that belongs there");
  }
  return value as Json;
}

function readLocation(location: Json): Report {
  const report = emptyReport();
  report.timeMs = readTime(location.timestamp);
  report.gps = location.coords === undefined || location.coords === null ? null : readCoords(objectOf(location.coords));
  readBattery(report, location.battery);
  for (const name of ["event", "mock"]) addExtra(report, name, location[name]);
  addExtra(report, "moving", location.is_moving);
  addExtra(report, "activity", nested(location.activity, "type"));
  if (typeof location.odometer === "number") addExtra(report, "odometer_km", location.odometer / 1000);
  if (typeof location.alarm === "string" && location.alarm !== "") report.alarm = location.alarm;
  readExtras(report, location.extras);
  return report;
}

/** Nested objects are left out; an alarm among them counts when the location has none. */
function readExtras(report: Report, extras: unknown): void {
  if (typeof extras !== "object" || extras === null || Array.isArray(extras)) return;
  for (const [name, value] of Object.entries(extras)) {
    if (name !== "alarm") addExtra(report, name, value);
    else if (typeof value === "string" && value !== "") report.alarm ??= value;
  }
}

function readTime(timestamp: unknown): number | null {
  if (timestamp === undefined || timestamp === null) return null;
  if (typeof timestamp === "number") return checkedTime(timestamp);
  if (typeof timestamp !== "string") throw new MalformedFrame("time that cannot be read");
  return readIsoTime(timestamp);
}

/** Metres per second here, unlike in a query. */
function readCoords(coords: Json): Report["gps"] {
  const number = (name: string): number | null => {
    const value = coords[name];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  };
  const speed = number("speed");
  return gpsOf({
    lat: number("latitude") ?? Number.NaN,
    lng: number("longitude") ?? Number.NaN,
    altitudeM: number("altitude"),
    speedKmh: speed === null ? null : speed * 3.6,
    heading: number("heading"),
    accuracyM: number("accuracy"),
  });
}

function readBattery(report: Report, battery: unknown): void {
  const [level, isCharging] = [nested(battery, "level"), nested(battery, "is_charging")];
  if (typeof level === "number") report.metrics.bat = batteryOf(level * 100);
  if (typeof isCharging === "boolean") report.extra.charging = isCharging;
}

const nested = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Json)[name] : undefined;
