import type { AccessPoint, CellTower, Fix } from "../tracker-message.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";

/** The networks around, from the tail of a position: cells, access points, and the accuracy of the GPS fix after them. */
export interface Networks {
  network: Fix["network"];
  cells: CellTower[];
  accessPoints: AccessPoint[];
  accuracyM: number | null;
}

/** The tail begins with the number of cells. */
export function readNetworks(tail: readonly string[]): Networks {
  const network = readHomeNetwork(tail);
  return {
    network,
    cells: network === null ? [] : readCells(tail, network),
    accessPoints: accessPointFields(tail).map(([mac, signal]) => ({ mac, signalDbm: readDbm(signal) })),
    accuracyM: readAccuracy(tail),
  };
}

const cellCount = (tail: readonly string[]): number => readWholeNumber(tail[0]) ?? 0;

/** Without cells the fields of the network are missing too, and other fields stand in their place. */
function readHomeNetwork(tail: readonly string[]): Fix["network"] {
  const [mcc, mnc] = cellCount(tail) > 0 ? [readWholeNumber(tail[2]), readWholeNumber(tail[3])] : [null, null];
  return mcc === null || mnc === null || mcc < 1 || mcc > 999 || mnc < 0 || mnc > 999 ? null : { mcc, mnc };
}

const hexNumber = /^[\da-f]{1,8}$/i;

function readCells(tail: readonly string[], network: { mcc: number; mnc: number }): CellTower[] {
  const fields = tail.slice(4, 4 + 3 * cellCount(tail));
  // One frame is all decimal or all hexadecimal, so one letter settles it for the numbers that have none.
  const isHex = fields.some((field, at) => at % 3 !== 2 && hexNumber.test(field.trim()) && /[a-f]/i.test(field));
  const cells: CellTower[] = [];
  for (let at = 0; at + 1 < fields.length; at += 3) {
    const lac = readCellNumber(fields[at], isHex);
    const cid = readCellNumber(fields[at + 1], isHex);
    if (lac === null || cid === null || lac > 0xffff || cid < 1 || cid > 0xfffffff) continue;
    cells.push({ ...network, lac, cid, signalDbm: readDbm(fields[at + 2]) });
  }
  return cells;
}

function readCellNumber(field: string | undefined, isHex: boolean): number | null {
  const digits = field?.trim() ?? "";
  if (isHex) return hexNumber.test(digits) ? Number.parseInt(digits, 16) : null;
  const number = readWholeNumber(digits);
  return number === null || number < 0 ? null : number;
}

const macPattern = /^[\da-f]{2}([:-][\da-f]{2}){5}$/i;

/**
 * Names may hold commas and move everything after them, so an access point is found by its address:
 * what looks like one and is followed by a signal. Addresses that are empty or `0` fall out.
 */
function accessPointFields(tail: readonly string[]): [mac: string, signal: string | undefined, at: number][] {
  return tail.flatMap((field, at) => {
    const mac = field.trim();
    const signal = tail[at + 1];
    const hasSignal = signal === undefined || signal.trim() === "" || readNumber(signal) !== null;
    if (!hasSignal || !macPattern.test(mac) || /^[0:-]+$/.test(mac)) return [];
    return [[mac.toLowerCase().replaceAll("-", ":"), signal, at]];
  });
}

/** The last field, where it can be nothing else: after the last access point, or after "no access points". */
function readAccuracy(tail: readonly string[]): number | null {
  const last = tail.length - 1;
  const lastPoint = accessPointFields(tail).at(-1)?.[2];
  const isAccuracy = lastPoint === undefined ? last >= 2 && tail[last - 1]?.trim() === "0" : lastPoint + 2 === last;
  const accuracyM = isAccuracy ? readNumber(tail[last]) : null;
  return accuracyM === null || accuracyM <= 0 ? null : accuracyM;
}

/** Positive numbers are on scales no maker documents. */
function readDbm(field: string | undefined): number | null {
  const number = readNumber(field);
  return number === null || number >= 0 ? null : number;
}
