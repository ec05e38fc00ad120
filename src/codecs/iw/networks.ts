import type { AccessPoint, CellTower } from "../tracker-message.ts";

export interface Networks {
  cells: CellTower[];
  accessPoints: AccessPoint[];
}

const NUMBER = /^-?\d{1,10}$/;

/**
 * Cells and access points among the fields of a report, distinguished by their shape: `ssid|mac|signal`, `lac|cid|signal` and
 * `mcc|mnc|lac|cid|signal`, joined by `&` or commas. Anything else (codes, languages, pieces of names) is passed over.
 */
export function readNetworks(fields: readonly string[], mcc: string | undefined, mnc: string | undefined): Networks {
  const networks: Networks = { cells: [], accessPoints: [] };
  for (const item of fields.flatMap((field) => field.split("&"))) {
    const parts = item.split("|").map((part) => part.trim());
    const accessPoint = readAccessPoint(parts.at(-2) ?? "", parts.at(-1) ?? "");
    if (accessPoint === null) continue;
    if (accessPoint) networks.accessPoints.push(accessPoint);
    else if ((parts.length === 3 || parts.length === 5) && parts.every((part) => NUMBER.test(part))) {
      const cell = readCell(parts.length === 5 ? parts : [mcc, mnc, ...parts]);
      if (cell) networks.cells.push(cell);
    }
  }
  return networks;
}

/** Mcc, mnc, area, cell and perhaps a signal. */
export function readCell(parts: readonly (string | undefined)[]): CellTower | undefined {
  if (!parts.slice(0, 4).every((part) => /^\d{1,10}$/.test(part ?? ""))) return undefined;
  const [mcc = 0, mnc = 0, lac = 0, cid = 0] = parts.map(Number);
  if (mcc === 0 || cid === 0) return undefined;
  // Positive signals are on a scale that no paper explains.
  const signal = Number(parts[4] ?? 0);
  return { mcc, mnc, lac, cid, signalDbm: signal < 0 ? signal : null };
}

export function readNetwork(mcc: string | undefined, mnc: string | undefined): { mcc: number; mnc: number } | null {
  if (!/^\d{1,3}$/.test(mcc ?? "") || !/^\d{1,3}$/.test(mnc ?? "") || Number(mcc) === 0) return null;
  return { mcc: Number(mcc), mnc: Number(mnc) };
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
