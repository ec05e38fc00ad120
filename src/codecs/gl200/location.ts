import type { AccessPoint, CellTower, Fix, GpsPosition } from "../tracker-message.ts";
import { isOnEarth, readHeading } from "../wire/coordinates.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { type Report, readTime } from "./report.ts";

/**
 * The location group of a report: `accuracy,speed,course,altitude,longitude,latitude,time,mcc,mnc,lac,cell`. It stands in
 * another place in nearly every report and model, so it is found by its coordinates and its time, or by the empty fields in
 * their place and the cell after them.
 */
export interface LocationGroup {
  fix: Fix;
  /** The first field of the group. */
  start: number;
  /** The last field of the group: the number of the cell. */
  end: number;
}

const degrees = /^-?\d{1,3}\.\d{4,8}$/;
/** From the first field of a group to its longitude. */
const longitudeAt = 4;

/** Lists of networks and settings have empty fields and cells of their own. */
const withoutGroups: ReadonlySet<string> = new Set(["GSM", "LBS", "WIF", "INF", "VER", "ALL", "ALS", "DTT"]);

export function readLocations(report: Report): LocationGroup[] {
  const { word, fields } = report;
  const groups: LocationGroup[] = [];
  if (withoutGroups.has(word)) return groups;
  for (let at = 4 + longitudeAt; at + 2 < fields.length; at++) {
    const isPlace = degrees.test(fields[at] ?? "") && degrees.test(fields[at + 1] ?? "");
    if (!isPlace && !isEmptyGroup(fields, at)) continue;
    const group = readGroup(report, at - longitudeAt);
    groups.push(group);
    at = group.end + longitudeAt;
  }
  return groups;
}

/** No coordinates and no time, and a cell after them. */
function isEmptyGroup(fields: readonly string[], at: number): boolean {
  const isEmpty = [-2, -1, 0, 1, 2].every((step) => fields[at + step] === "");
  return isEmpty && readNetwork(fields, at + 3) !== null;
}

function readGroup(report: Report, start: number): LocationGroup {
  const { fields } = report;
  const timeAt = start + longitudeAt + 2;
  const fixTimeMs = readTime(fields[timeAt]);
  const gps = fixTimeMs === null ? null : readGps(fields, start);
  const { accessPoints, next } = readAccessPoints(fields, timeAt + 1);
  const network = readNetwork(fields, next);
  const cell = network && readCell(fields, next, network);
  return {
    fix: {
      kind: "fix",
      // Without a fix the place and its time are those of the last one; what the report says of the networks is of now.
      deviceTimeMs: gps === null ? report.sentAtMs : fixTimeMs,
      gps,
      cells: cell === null ? [] : [cell],
      accessPoints,
      network,
      isBuffered: report.kind === "BUFF",
    },
    start,
    end: next + 3,
  };
}

/** An accuracy of zero is the device's word for "no fix", whatever coordinates it repeats. */
function readGps(fields: readonly string[], start: number): GpsPosition | null {
  const accuracy = readNumber(fields[start]);
  const [lng, lat] = [readNumber(fields[start + longitudeAt]), readNumber(fields[start + longitudeAt + 1])];
  if (accuracy === 0 || lat === null || lng === null || !isOnEarth(lat, lng)) return null;
  const speedKmh = readNumber(fields[start + 1]);
  return {
    lat,
    lng,
    altitudeM: readNumber(fields[start + 3]),
    speedKmh: speedKmh === null || speedKmh < 0 ? null : speedKmh,
    heading: readHeading(readNumber(fields[start + 2])),
    accuracyM: null,
    satellites: null,
  };
}

/** Some models put a count and `mac,signal,,,` for each network between the time and the cell. */
function readAccessPoints(fields: readonly string[], from: number): { accessPoints: AccessPoint[]; next: number } {
  const count = readWholeNumber(fields[from]) ?? 0;
  if (count < 1 || !macPattern.test(fields[from + 1] ?? "")) return { accessPoints: [], next: from };
  const accessPoints: AccessPoint[] = [];
  let next = from + 1;
  for (; accessPoints.length < count && macPattern.test(fields[next] ?? ""); next += 5) {
    accessPoints.push(accessPointOf(fields[next] as string, fields[next + 1]));
  }
  return { accessPoints, next };
}

export const macPattern = /^[\da-f]{12}$/i;

export function accessPointOf(mac: string, signal: string | undefined): AccessPoint {
  const signalDbm = readNumber(signal);
  return {
    mac: mac.toLowerCase().replace(/..(?=.)/g, "$&:"),
    signalDbm: signalDbm === null || signalDbm >= 0 ? null : signalDbm,
  };
}

/** Null for the numbers of CDMA networks, which are no country and operator. */
export function readNetwork(fields: readonly string[], at: number): Fix["network"] {
  const [mcc, mnc] = [fields[at], fields[at + 1]].map((field) => (/^\d{2,4}$/.test(field ?? "") ? Number(field) : -1));
  return mcc === undefined || mnc === undefined || mcc < 1 || mcc > 999 || mnc < 0 || mnc > 999 ? null : { mcc, mnc };
}

const hexNumber = /^[\da-f]{1,8}$/i;

/** Area and cell are hexadecimal, after country and operator. */
export function readCell(
  fields: readonly string[],
  at: number,
  network: { mcc: number; mnc: number },
  signalDbm: number | null = null,
): CellTower | null {
  const [lac, cid] = [fields[at + 2], fields[at + 3]].map((field) =>
    hexNumber.test(field ?? "") ? Number.parseInt(field as string, 16) : -1,
  );
  if (lac === undefined || cid === undefined || lac < 0 || lac > 0xffff || cid < 1 || cid > 0xfffffff) return null;
  return { ...network, lac, cid, signalDbm };
}
