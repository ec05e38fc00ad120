import type { SessionMemory } from "../protocol-definition.ts";
import type { Alarm, CellTower, DeviceInfo, Fix, GpsPosition, TrackerMessage, Vitals } from "../tracker-message.ts";
import { isOnEarth, readHeading } from "../wire/coordinates.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { isStatus, readAlarms } from "./alarms.ts";
import { batteryOf, kmhOfKnots, readCoordinate, readIccid, readTime } from "./fields.ts";

/** What text frames and binary ones say of a place, before it becomes messages. */
export interface Place {
  deviceTimeMs: number | null;
  gps: GpsPosition | null;
  cells: CellTower[];
  metrics: Vitals["metrics"];
  extra: Vitals["extra"];
  alarms: Alarm[];
  iccid?: string;
}

export function messagesOf(place: Place): TrackerMessage[] {
  const { deviceTimeMs, gps, cells, metrics, extra, alarms, iccid } = place;
  const [cell] = cells;
  const network = cell ? { mcc: cell.mcc, mnc: cell.mnc } : null;
  const fix: Fix = { kind: "fix", deviceTimeMs, gps, cells, accessPoints: [], network, isBuffered: false };
  const messages: TrackerMessage[] = [fix];
  if (Object.keys(metrics).length + Object.keys(extra).length > 0) {
    messages.push({ kind: "vitals", deviceTimeMs, metrics, extra });
  }
  messages.push(...alarms);
  if (iccid !== undefined) messages.push({ kind: "info", iccid } satisfies DeviceInfo);
  return messages;
}

/** Time, validity, latitude, longitude, speed, course, perhaps a battery, date, and what makers add. */
export function readPlace(fields: readonly string[], memory: SessionMemory): Place {
  const dateAt = isDate(fields[8]) || !isDate(fields[9]) ? 8 : 9;
  const deviceTimeMs = readTime(fields[0], fields[dateAt]);
  const statusAt = fields.findIndex((field, at) => at > dateAt && isStatus(field));
  const status = fields[statusAt];
  const extras = statusAt === -1 ? [] : fields.slice(statusAt + 1).map((field) => field.trim());
  const battery = dateAt === 9 ? readWholeNumber(fields[8]) : batteryField(extras);
  const altitudeM = altitudeOf(extras);
  const gps = readGps(fields.slice(1, 8));
  const iccid = [...fields.slice(dateAt + 1, statusAt === -1 ? undefined : statusAt), ...extras]
    .map(readIccid)
    .find((digits) => digits !== undefined);
  return {
    deviceTimeMs,
    gps: gps && altitudeM !== null ? { ...gps, altitudeM } : gps,
    cells: readCell(extras),
    metrics: battery === null ? {} : { bat: batteryOf(battery) },
    extra: status === undefined ? {} : { status: status.toUpperCase() },
    alarms: status === undefined ? [] : readAlarms(status, deviceTimeMs, memory),
    ...(iccid !== undefined && { iccid }),
  };
}

const isDate = (field: string | undefined): boolean => /^\d{6}$/.test(field?.trim() ?? "");

/** `A` is a fix, and so is the number of a coding scheme in its place. `V` and `B` repeat an old place, or one of cells. */
export function readGps([validity, north, ns, east, ew, speed, course]: readonly string[]): GpsPosition | null {
  const [lat, lng] = [readCoordinate(north, ns), readCoordinate(east, ew)];
  if (!/^(A|\d+)$/.test(validity?.trim() ?? "") || lat === null || lng === null || !isOnEarth(lat, lng)) return null;
  return {
    lat,
    lng,
    altitudeM: null,
    speedKmh: kmhOfKnots(readNumber(speed)),
    heading: readHeading(readNumber(course)),
    accuracyM: null,
    satellites: null,
  };
}

/** The fifth number after the status, where it can only be the six steps of a battery. */
function batteryField(extras: readonly string[]): number | null {
  return extras.length === 5 && /^[1-6]$/.test(extras[4] ?? "") ? Number(extras[4]) : null;
}

/** Odometer, temperature, fuel, altitude and a cell without its network. */
function altitudeOf(extras: readonly string[]): number | null {
  return extras.length === 6 && /^\d+\.\d+$/.test(extras[2] ?? "") ? readWholeNumber(extras[3]) : null;
}

/** Country, network, area and cell in decimals. Others write them in hexadecimal, in an order that differs by maker. */
function readCell(extras: readonly string[]): CellTower[] {
  if (extras.length < 4 || !extras.slice(0, 4).every((field) => /^\d{1,9}$/.test(field))) return [];
  const [mcc = 0, mnc = 0, lac = 0, cid = 0] = extras.slice(0, 4).map(Number);
  return isRealCell(mcc, mnc, lac, cid) && (extras[0] ?? "").length === 3
    ? [{ mcc, mnc, lac, cid, signalDbm: null }]
    : [];
}

export const isRealCell = (mcc: number, mnc: number, lac: number, cid: number): boolean =>
  mcc >= 200 && mcc <= 799 && mnc <= 999 && lac >= 1 && lac <= 0xffff && cid >= 1 && cid <= 0xfffffff;
