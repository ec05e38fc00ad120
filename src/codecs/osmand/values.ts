import { MalformedFrame } from "../malformed-frame.ts";
import type { AlarmType, GpsPosition } from "../tracker-message.ts";
import { isOnEarth, readHeading } from "../wire/coordinates.ts";

/** Values that both the query and the JSON form have. What is out of range is refused, so that its sender notices. */

const maxTimeMs = Date.UTC(10_000, 0, 1) - 1;

export function checkedTime(timeMs: number): number {
  if (!Number.isFinite(timeMs) || timeMs < 0 || timeMs > maxTimeMs) throw new MalformedFrame("time out of range");
  return Math.round(timeMs);
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601; without a zone it is UTC. */
export function readIsoTime(text: string): number {
  const match = isoTime.exec(text);
  if (match === null) throw new MalformedFrame("time that cannot be read");
  return checkedTime(Date.parse(match[3] === undefined ? `${text}Z` : text));
}

export interface Place {
  lat: number;
  lng: number;
  altitudeM: number | null;
  speedKmh: number | null;
  heading: number | null;
  accuracyM: number | null;
}

/** Phones write a negative number for what they do not know. */
export function gpsOf({ lat, lng, altitudeM, speedKmh, heading, accuracyM }: Place): GpsPosition {
  if (!isOnEarth(lat, lng)) throw new MalformedFrame("coordinates out of range");
  return {
    lat,
    lng,
    altitudeM,
    speedKmh: speedKmh === null || speedKmh < 0 ? null : Math.round(speedKmh * 100) / 100,
    heading: readHeading(heading),
    accuracyM: accuracyM === null || accuracyM <= 0 ? null : accuracyM,
    satellites: null,
  };
}

/** A share or a percentage of the battery; negative when the phone does not know. */
export const batteryOf = (percent: number): number | null => (percent < 0 ? null : Math.round(percent * 100) / 100);

/** The names that apps and scripts use, without case. */
const alarmTypes: Readonly<Record<string, AlarmType>> = {
  sos: "sos",
  fall: "fall",
  falldown: "fall",
  fall_down: "fall",
  lowbattery: "low_battery",
  low_battery: "low_battery",
  poweroff: "power_off",
  power_off: "power_off",
  poweron: "power_on",
  power_on: "power_on",
  overspeed: "overspeed",
  tampering: "tamper",
  tamper: "tamper",
};

export function alarmOf(name: string): { type: AlarmType; code: string } {
  const key = name.toLowerCase();
  return { type: (Object.hasOwn(alarmTypes, key) ? alarmTypes[key] : undefined) ?? "custom", code: name.slice(0, 50) };
}
