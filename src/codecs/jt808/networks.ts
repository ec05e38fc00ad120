import type { AccessPoint, CellTower } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";

/** Cells and Wi-Fi: every maker has packed them differently. */

export interface CellLayout {
  /** Bytes of each number. */
  mnc: 1 | 2;
  lac: 2 | 3 | 4;
  cid: 2 | 4;
  isCidFirst?: boolean;
  hasSignal?: boolean;
}

const read = (reader: ByteReader, size: 1 | 2 | 3 | 4): number =>
  size === 1 ? reader.u8() : size === 2 ? reader.u16() : size === 3 ? reader.u24() : reader.u32();

/** Nobody measures zero or more. */
const signalOf = (value: number): number | null => (value < 0 ? value : null);

/** Cells that each name their network. */
export function readCells(bytes: Buffer, layout: CellLayout): CellTower[] {
  const reader = new ByteReader(bytes);
  const cells: CellTower[] = [];
  while (reader.remaining > 0) {
    const [mcc, mnc] = [reader.u16(), read(reader, layout.mnc)];
    cells.push(readCell(reader, mcc, mnc, layout));
  }
  return cells.filter(isKnown);
}

/** One network, then its cells. */
export function readCellsOfNetwork(bytes: Buffer, layout: CellLayout): CellTower[] {
  const reader = new ByteReader(bytes);
  const [mcc, mnc] = [reader.u16(), read(reader, layout.mnc)];
  const size = layout.lac + layout.cid + (layout.hasSignal ? 1 : 0);
  const cells: CellTower[] = [];
  while (reader.remaining >= size) cells.push(readCell(reader, mcc, mnc, layout));
  return cells.filter(isKnown);
}

function readCell(reader: ByteReader, mcc: number, mnc: number, layout: CellLayout): CellTower {
  const first = read(reader, layout.isCidFirst ? layout.cid : layout.lac);
  const second = read(reader, layout.isCidFirst ? layout.lac : layout.cid);
  const [lac, cid] = layout.isCidFirst ? [second, first] : [first, second];
  return { mcc, mnc, lac, cid, signalDbm: layout.hasSignal ? signalOf(reader.i8()) : null };
}

const isKnown = ({ mcc, cid }: CellTower): boolean => mcc > 0 && mcc < 1000 && cid > 0;

/** Six bytes of address and the signal, each. */
export function readAccessPoints(bytes: Buffer): AccessPoint[] {
  const reader = new ByteReader(bytes);
  const points: AccessPoint[] = [];
  while (reader.remaining >= 7) points.push({ mac: macOf(reader.hex(6)), signalDbm: signalOf(reader.i8()) });
  return points;
}

/** `mac,signal,mac,signal,…`, the addresses with or without separators. */
export function readAccessPointText(text: string): AccessPoint[] {
  const fields = text.split(",");
  const points: AccessPoint[] = [];
  for (let at = 0; at + 1 < fields.length; at++) {
    const digits = (fields[at] ?? "").replaceAll(/[:-]/g, "").toLowerCase();
    if (!/^[0-9a-f]{12}$/.test(digits)) continue;
    const signal = Number(fields[at + 1]);
    points.push({ mac: macOf(digits), signalDbm: Number.isInteger(signal) ? signalOf(signal) : null });
  }
  return points;
}

export const macOf = (digits: string): string => digits.replace(/..(?=.)/g, "$&:");
