import type { SessionMemory } from "../protocol-definition.ts";
import type { CellTower, TrackerMessage, Vitals } from "../tracker-message.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { isStatus, readAlarms } from "./alarms.ts";
import { batteryOf, readTime, signalOf } from "./fields.ts";
import { isRealCell, messagesOf, type Place, readGps } from "./positions.ts";

/** Text frames that tell cells, and the state of a watch. */

/** `<hhmmss>,<mcc>,<mnc>,<delay>,<n>,(<lac>,<cid>,<signal>)n,<ddmmyy>,<status>[,<battery>]`. */
export function readNeighbours(fields: readonly string[], memory: SessionMemory): TrackerMessage[] {
  const count = readWholeNumber(fields[4]) ?? 0;
  const end = 5 + 3 * Math.max(0, Math.min(count, 20));
  const network = { mcc: Number(fields[1]), mnc: Number(fields[2]) };
  const place = placeAt(fields[0], fields[end], fields[end + 1], memory);
  for (let at = 5; at < end; at += 3) addCell(place, network, fields[at], fields[at + 1], fields[at + 2]);
  const battery = readWholeNumber(fields[end + 2]);
  if (battery !== null) place.metrics.bat = batteryOf(battery);
  return messagesOf(place);
}

/** `<hhmmss>,<mcc and mnc>,<n>,(<lac>,<cid>,<x>,<signal>)n,<battery>,<reboot>,X,<ddmmyy>,<status>`. */
export function readCells(fields: readonly string[], memory: SessionMemory): TrackerMessage[] {
  const count = readWholeNumber(fields[2]) ?? 0;
  const end = 3 + 4 * Math.max(0, Math.min(count, 20));
  const codes = fields[1]?.trim() ?? "";
  const network = { mcc: Number(codes.slice(0, 3)), mnc: Number(codes.slice(3)) };
  const place = placeAt(fields[0], fields[end + 3], fields[end + 4], memory);
  for (let at = 3; at < end; at += 4) addCell(place, network, fields[at], fields[at + 1], fields[at + 3]);
  const battery = fields[end]?.trim() ?? "";
  if (/^[\da-f]{4}$/i.test(battery)) place.extra.battery_raw = Number.parseInt(battery, 16);
  return messagesOf(place);
}

/** `V,<mcc>,<mnc>,<lac>,<cid>,<signal>Y<lac>,…`, or `A`, a place, speed, course and a date without a time. */
export function readShortPosition(fields: readonly string[]): TrackerMessage[] {
  const place: Place = { deviceTimeMs: null, gps: null, cells: [], metrics: {}, extra: {}, alarms: [] };
  if (fields[0]?.trim() !== "V") return messagesOf({ ...place, gps: readGps(fields.slice(0, 7)) });
  const network = { mcc: Number(fields[1]), mnc: Number(fields[2]) };
  for (const cell of fields.slice(3).join(",").split("Y").slice(0, 20)) {
    const [lac, cid, signal] = cell.split(",");
    addCell(place, network, lac, cid, signal);
  }
  return messagesOf(place);
}

/** `<hhmmss>,<signal>,<satellites>,<battery>,<steps>,<turnovers>,<ddmmyy>,<status>`. */
export function readLink(fields: readonly string[], memory: SessionMemory): TrackerMessage[] {
  const deviceTimeMs = readTime(fields[0], fields[6]);
  const turnovers = readWholeNumber(fields[5]);
  const vitals: Vitals = {
    kind: "vitals",
    deviceTimeMs,
    metrics: {
      gsm_signal: signalOf(fields[1]),
      satellites: inRange(fields[2], 99),
      bat: inRange(fields[3], 100),
      steps: inRange(fields[4], 1_000_000),
    },
    extra: turnovers === null ? {} : { turnovers },
  };
  const status = fields[7];
  return [vitals, ...(isStatus(status) ? readAlarms(status.trim(), deviceTimeMs, memory) : [])];
}

function inRange(field: string | undefined, max: number): number | null {
  const value = readWholeNumber(field);
  return value === null || value < 0 || value > max ? null : value;
}

function placeAt(
  time: string | undefined,
  date: string | undefined,
  status: string | undefined,
  memory: SessionMemory,
): Place {
  const deviceTimeMs = readTime(time, date);
  const alarms = isStatus(status) ? readAlarms(status.trim(), deviceTimeMs, memory) : [];
  return { deviceTimeMs, gps: null, cells: [], metrics: {}, extra: {}, alarms };
}

function addCell(
  place: Place,
  { mcc, mnc }: { mcc: number; mnc: number },
  area: string | undefined,
  cell: string | undefined,
  signal: string | undefined,
): void {
  const [lac, cid, dbm] = [readWholeNumber(area), readWholeNumber(cell), readNumber(signal)];
  if (lac === null || cid === null || !isRealCell(mcc, mnc, lac, cid)) return;
  // Positive numbers are on scales no maker documents.
  place.cells.push({ mcc, mnc, lac, cid, signalDbm: dbm !== null && dbm < 0 ? dbm : null } satisfies CellTower);
}
