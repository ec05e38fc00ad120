import type { AccessPoint } from "../tracker-message.ts";
import { readBcd } from "../wire/bcd.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { alarmOf, alarmOfBoth } from "./alarms.ts";
import {
  type CellForm,
  knownAlarm,
  readCell,
  readLbsBlock,
  readNetwork,
  readPosition,
  readStatusBlock,
  timeOf,
} from "./blocks.ts";
import type { Frame } from "./framing.ts";
import type { ContentReader } from "./positions.ts";
import type { Report } from "./report.ts";

/** Frames that tell the place by the cells and access points around. */

function readAccessPoint(reader: ByteReader): AccessPoint | undefined {
  const mac = reader.hex(6);
  const signal = reader.u8();
  if (/^0+$/.test(mac)) return undefined;
  // Makers send the strength as a positive number, or as the byte of a negative one.
  const signalDbm = signal === 0 ? null : signal > 127 ? signal - 256 : -signal;
  return { mac: mac.replace(/..(?=.)/g, "$&:"), signalDbm };
}

function readAccessPoints(reader: ByteReader, report: Report, count: number): void {
  for (let left = count; left > 0; left--) {
    const point = readAccessPoint(reader);
    if (point) report.accessPoints.push(point);
  }
}

interface CellList {
  count: number;
  form?: CellForm;
  hasAccessPoints?: boolean;
}

/** 18, 24, 28, 2C, 2E, 33, A1, A2: so many places for cells, then the timing advance, then access points. */
export const readCellList =
  ({ count, form = {}, hasAccessPoints = false }: CellList): ContentReader =>
  (content, report, zone) => {
    const reader = new ByteReader(content);
    report.deviceTimeMs = timeOf(reader.bytes(6), zone);
    readCells(reader, report, readNetwork(reader), count, form);
    if (!hasAccessPoints) return;
    reader.skip(1);
    readAccessPoints(reader, report, reader.u8());
  };

function readCells(
  reader: ByteReader,
  report: Report,
  network: { mcc: number; mnc: number },
  count: number,
  form: CellForm,
): void {
  for (let left = count; left > 0; left--) {
    const cell = readCell(reader, network, form, true);
    if (cell) report.cells.push(cell);
  }
}

/** 24 of units that count their cells. */
export const readCountedCells: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  report.deviceTimeMs = timeOf(reader.bytes(6), zone);
  reader.skip(1);
  const network = readNetwork(reader);
  readCells(reader, report, network, reader.u8(), {});
};

/** 19 and A5: a cell and the status. */
export const readLbsStatus =
  (form: CellForm): ContentReader =>
  (content, report, zone) => {
    const reader = new ByteReader(content);
    const isTimed = form.cidBytes === undefined && content.length >= 18;
    if (isTimed) {
      report.deviceTimeMs = timeOf(reader.bytes(6), zone);
      readLbsBlock(reader, report, { cidBytes: 4 });
      return;
    }
    readLbsBlock(reader, report, form);
    if (reader.remaining < 4) return;
    const { status, alarmByte } = readStatusBlock(reader, report);
    report.alarm = form.cidBytes === 8 ? alarmOfBoth(status, alarmByte) : knownAlarm(status, alarmByte);
  };

/** A7: the cell of somebody who asked for an address. */
export const readLbs: ContentReader = (content, report) => {
  readLbsBlock(new ByteReader(content), report, { lacBytes: 4, cidBytes: 8 });
};

/** 17 and 69 of units that write the number of access points in place of the length, and digits for the time. */
export function readCountedNetworks({ content, lengthByte }: Frame, report: Report): void {
  const reader = new ByteReader(content);
  const digits = readBcd(reader.bytes(6));
  report.deviceTimeMs = digits === undefined ? null : timeOf(digits.match(/../g)?.map(Number) ?? [], 0);
  readAccessPoints(reader, report, lengthByte);
  const count = reader.u8();
  const network = readNetwork(reader);
  for (let left = count; left > 0; left--) {
    const [lac, cid, signal] = [reader.u16(), reader.u16(), reader.u8()];
    if (lac > 0 && cid > 0) report.cells.push({ ...network, lac, cid, signalDbm: signal > 0 ? -signal : null });
  }
}

/** F3: access points without strength. */
export const readPlainAccessPoints: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  report.deviceTimeMs = timeOf(reader.bytes(6), zone);
  for (let left = reader.u8(); left > 0; left--) {
    reader.skip(2);
    const mac = reader.hex(6);
    if (!/^0+$/.test(mac)) report.accessPoints.push({ mac: mac.replace(/..(?=.)/g, "$&:"), signalDbm: null });
  }
};

const doorAlarms: Readonly<Record<number, "low_battery" | "custom" | undefined>> = {
  162: "low_battery",
  163: "low_battery",
  164: "custom",
  165: "custom",
};

/** Long 32 and 33: every part after its length. */
export const readLongPosition =
  (isAlarm: boolean): ContentReader =>
  (content, report, zone) => {
    const reader = new ByteReader(content);
    report.deviceTimeMs = timeOf(reader.bytes(6), zone);
    const gps = reader.bytes(reader.u8());
    report.gps = null;
    if (gps.length >= 12) readPosition(new ByteReader(gps), report);
    const first = new ByteReader(reader.bytes(reader.u8()));
    const network = first.remaining >= 8 ? readNetwork(first) : undefined;
    if (network) readCells(first, report, network, Math.floor(first.remaining / 6), {});
    const others = new ByteReader(reader.bytes(reader.u8()));
    if (network) readCells(others, report, network, Math.floor(others.remaining / 6), {});
    const points = new ByteReader(reader.bytes(reader.u8()));
    readAccessPoints(points, report, Math.floor(points.remaining / 7));
    const status = reader.u8();
    report.extra.status = status;
    const type = isAlarm ? doorAlarms[status] : undefined;
    if (type) report.alarm = { type, code: status.toString(16).toUpperCase() };
    else if (isAlarm && status < 0xa0) report.alarm = alarmOf(status);
  };
