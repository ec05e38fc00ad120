import type { AccessPoint, CellTower } from "../tracker-message.ts";
import { digitsIn } from "./fields.ts";

export interface Networks {
  cells: CellTower[];
  accessPoints: AccessPoint[];
}

const NUMBER = /^-?\d{1,10}$/;

/**
 * Cells and access points among the fields of a report, distinguished by their shape: `ssid|mac|signal`, `lac|cid|signal` and
 * `mcc|mnc|lac|cid|signal`, joined by `&` or commas. Anything else (codes, languages, pieces of names) is passed over.
 * The network, and the first cell, are those of the report.
 */
export function readNetworks(fields: readonly string[], mcc: number, mnc: number, ownCell?: CellTower): Networks {
  const networks: Networks = { cells: ownCell ? [ownCell] : [], accessPoints: [] };
  if (fields.length === 0) return networks;
  for (const item of fields.flatMap((field) => field.split("&"))) {
    const parts = item.split("|").map((part) => part.trim());
    const accessPoint = readAccessPoint(parts.at(-2) ?? "", parts.at(-1) ?? "");
    if (accessPoint === null) continue;
    if (accessPoint) networks.accessPoints.push(accessPoint);
    else if ((parts.length === 3 || parts.length === 5) && parts.every((part) => NUMBER.test(part))) {
      const [signal = "", cid = "", lac = "", ownMnc, ownMcc] = parts.toReversed();
      const cell = cellOf(
        ownMcc === undefined ? mcc : digitsIn(ownMcc),
        ownMnc === undefined ? mnc : digitsIn(ownMnc),
        digitsIn(lac),
        digitsIn(cid),
        Number(signal),
      );
      if (cell) networks.cells.push(cell);
    }
  }
  return networks;
}

/** Undefined for a part that is no number, and for a cell that is none. */
export function cellOf(mcc: number, mnc: number, lac: number, cid: number, signal: number): CellTower | undefined {
  if (mcc <= 0 || mnc < 0 || lac < 0 || cid <= 0) return undefined;
  // Positive signals are on a scale that no paper explains.
  return { mcc, mnc, lac, cid, signalDbm: signal < 0 ? signal : null };
}

export function networkOf(mcc: number, mnc: number): { mcc: number; mnc: number } | null {
  return mcc <= 0 || mnc < 0 ? null : { mcc, mnc };
}

/** Undefined: no address. Null: an address that is all zeros or all ones. */
function readAccessPoint(mac: string, signal: string): AccessPoint | null | undefined {
  if (!/^[0-9a-f]{2}(?:[-:]?[0-9a-f]{2}){5}$/i.test(mac)) return undefined;
  const digits = mac.replace(/[-:]/g, "").toLowerCase();
  if (/^(?:0{12}|f{12})$/.test(digits)) return null;
  return { mac: digits.replace(/..(?=.)/g, "$&:"), signalDbm: wifiSignalDbm(signal) };
}

/** Negative numbers are dBm; positive ones are dBm + 150. */
function wifiSignalDbm(text: string): number | null {
  const signal = NUMBER.test(text) ? Number(text) : 0;
  if (signal < 0) return signal >= -150 ? signal : null;
  return signal > 0 && signal < 150 ? signal - 150 : null;
}
