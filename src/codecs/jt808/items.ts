import { MalformedFrame } from "../malformed-frame.ts";
import { readBcd } from "../wire/bcd.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { readZone } from "./clock.ts";
import { readExtension } from "./extension-item.ts";
import { readEvent, readSensors } from "./maker-items.ts";
import { type CellLayout, macOf, readAccessPoints, readCells, readCellsOfNetwork } from "./networks.ts";
import { isIccid, plainText, type Report, readPercent, readSignal } from "./report.ts";

/** The items after the fixed part of a location: a number, a length, a value. Makers have given the same number to several things. */
type ReadItem = (value: Buffer, report: Report) => unknown;

const u8 = (value: Buffer): number => value.readUInt8(0);
const u16 = (value: Buffer, at = 0): number => value.readUInt16BE(at);
const u32 = (value: Buffer, at = 0): number => value.readUInt32BE(at);

/** Reads the value only at its proper length; `false`: it was another thing under the same number. */
const ofLength =
  (length: number, read: (value: Buffer, report: Report) => void): ReadItem =>
  (value, report) =>
    value.length === length ? read(value, report) : false;

const battery = ofLength(1, (value, { metrics }) => {
  metrics.bat = readPercent(u8(value));
});

const extra = (name: string, length: number, read: (value: Buffer) => unknown): ReadItem =>
  ofLength(length, (value, report) => {
    report.extra[name] = read(value);
  });

/** Of any length. */
const anyExtra =
  (name: string, read: (value: Buffer) => unknown): ReadItem =>
  (value, report) => {
    report.extra[name] = read(value);
  };

const cells =
  (layout: CellLayout): ReadItem =>
  (value, report) => {
    report.cells.push(...readCells(value, layout));
  };

const iccid: ReadItem = (value, { info }) => {
  const digits = plainText(value);
  if (isIccid(digits)) info.iccid = digits;
};

const satellites = ofLength(1, (value, { metrics }) => {
  metrics.satellites = u8(value);
});

const signal = ofLength(1, (value, { metrics }) => {
  metrics.gsm_signal = readSignal(u8(value));
});

const accessPoints: ReadItem = (value, report) => {
  if (value.length < 7) return false;
  report.accessPoints.push(...readAccessPoints(value));
};

const readers: ReadonlyMap<number, ReadItem> = new Map<number, ReadItem>([
  [0x01, extra("odometer_km", 4, (value) => u32(value) / 10)],
  [0x02, extra("fuel_l", 2, (value) => u16(value) / 10)],
  [0x03, extra("recorder_speed_kmh", 2, (value) => u16(value) / 10)],
  [0x06, battery],
  [0x14, extra("video_alarm", 4, u32)],
  [0x25, extra("vehicle_signals", 4, u32)],
  [0x2a, extra("io_status", 2, u16)],
  [0x2b, extra("analog_inputs", 4, (value) => [u16(value), u16(value, 2)])],
  [0x30, signal],
  [0x31, satellites],
  [0x51, anyExtra("temperatures_c", tenths)],
  [0x53, (value, report) => cells({ mnc: 1, lac: 2, cid: 2, hasSignal: true })(value.subarray(1), report)],
  [0x56, readBatterySteps],
  [0x57, ofLength(8, readVehicleEvents)],
  [0x61, extra("power_v", 2, (value) => u16(value) / 100)],
  [0x63, anyExtra("locks", readLocks)],
  [0x69, extra("battery_v", 2, (value) => u16(value) / 100)],
  [0x6a, signal],
  [0x6b, satellites],
  [0x6c, readImsi],
  [0x71, iccid],
  [0xcc, iccid],
  [0xd3, extra("power_v", 2, (value) => u16(value) / 10)],
  [0xd4, battery],
  [0xd5, extra("battery_v", 2, (value) => u16(value) / 100)],
  [0xd6, iccid],
  [0xe1, (value, report) => (value.length === 1 ? battery(value, report) : readWideCells(value, report))],
  [0xe3, ofLength(6, readBatteryState)],
  [0xe4, ofLength(2, readChargedBattery)],
  [0xe5, extra("is_moving", 1, (value) => u8(value) !== 0)],
  [0xe8, readEvent],
  [0xe9, battery],
  [0xeb, readExtended],
  [0xec, accessPoints],
  [0xee, cells({ mnc: 1, lac: 2, cid: 4, hasSignal: true })],
  [0xf0, cells({ mnc: 2, lac: 4, cid: 4, isCidFirst: true, hasSignal: true })],
  [0xf1, extra("power_v", 4, (value) => u32(value) / 1000)],
  [0xf2, readFirmware],
  [0xf4, accessPoints],
  [0xf6, (value, report) => (isImei(value) ? readImei(value, report) : readSensors(value, report))],
  [0xf7, ofLength(6, readGaugedBattery)],
  [0xf8, (value, report) => (value.length === 2 ? readSteps(value, report) : readModule(value, report))],
  [0xfe, battery],
  [0xff, cells({ mnc: 2, lac: 4, cid: 4 })],
]);

/** The password of a lock: not kept. */
const secretItem = 0x67;

/** An item that cannot be read, or that nobody knows, is kept as it came: it must not cost the position. */
export function readItems(bytes: Buffer, report: Report): void {
  const raw: Record<string, string> = {};
  for (let at = 0; at + 2 <= bytes.length; ) {
    const id = bytes[at] as number;
    const end = at + 2 + (bytes[at + 1] as number);
    if (end > bytes.length) break;
    const value = bytes.subarray(at + 2, end);
    if (id !== secretItem && !isRead(id, value, report)) raw[id.toString(16).padStart(2, "0")] = value.toString("hex");
    at = end;
  }
  if (Object.keys(raw).length > 0) report.extra.items = raw;
}

function isRead(id: number, value: Buffer, report: Report): boolean {
  const read = readers.get(id);
  if (read === undefined || value.length === 0) return false;
  try {
    return read(value, report) !== false;
  } catch (error) {
    if (error instanceof MalformedFrame || error instanceof RangeError) return false;
    throw error;
  }
}

/** Tenths of a full battery. */
function readBatterySteps(value: Buffer, { metrics }: Report): void {
  metrics.bat = readPercent(u8(value) * 10);
}

function readImsi(value: Buffer, { info }: Report): void {
  const digits = plainText(value);
  if (/^\d{14,15}$/.test(digits)) info.imsi = digits;
}

function readFirmware(value: Buffer, { info }: Report): void {
  info.firmware = plainText(value).slice(0, 100);
}

function tenths(value: Buffer): number[] {
  return Array.from({ length: Math.floor(value.length / 2) }, (_, index) => value.readInt16BE(index * 2) / 10);
}

/** Four words: driving, vehicle, doors, reserve. */
function readVehicleEvents(value: Buffer, { alarms }: Report): void {
  if ((u16(value, 4) & 1) !== 0) alarms.push({ type: "custom", code: "door", isMoment: false });
}

/** Eleven bytes each: id, a state, millivolts, signal, two more states. */
function readLocks(value: Buffer): unknown[] {
  const reader = new ByteReader(value);
  const locks: unknown[] = [];
  while (reader.remaining >= 11) {
    const id = reader.hex(5);
    reader.skip(1);
    locks.push({ id, battery_v: reader.u16() / 1000 });
    reader.skip(3);
  }
  return locks;
}

function readWideCells(value: Buffer, report: Report): false | undefined {
  if (value.length < 12) return false;
  report.cells.push(...readCellsOfNetwork(value, { mnc: 2, lac: 3, cid: 4, hasSignal: true }));
}

function readBatteryState(value: Buffer, { metrics, extra: more }: Report): void {
  metrics.bat = readPercent(value.readUInt8(1));
  more.battery_v = u16(value, 2) / 100;
}

function readChargedBattery(value: Buffer, { metrics, extra: more }: Report): void {
  metrics.bat = readPercent(value.readUInt8(1));
  more.is_charging = u8(value) !== 0;
}

function readGaugedBattery(value: Buffer, { metrics, extra: more }: Report): void {
  more.battery_v = u32(value) / 1000;
  more.is_charging = value.readUInt8(4) === 2;
  metrics.bat = readPercent(value.readUInt8(5));
}

/** Three things share EB: the zone of the clock, cells, and a list of further items. */
function readExtended(value: Buffer, report: Report): void {
  const zone = readZone(value.toString("latin1"));
  if (zone !== null) {
    report.clockOffsetMinutes = zone;
    report.extra.timezone = value.toString("latin1");
  } else if (value.length >= 8 && u16(value) > 200) {
    report.cells.push(...readCellsOfNetwork(value, { mnc: 1, lac: 2, cid: 2, hasSignal: true }));
  } else readExtension(value, report);
}

const isImei = (value: Buffer): boolean => value.length === 8 && /^0\d{15}$/.test(readBcd(value) ?? "");

function readImei(value: Buffer, { extra: more }: Report): void {
  more.imei = (readBcd(value) ?? "").slice(1);
}

function readSteps(value: Buffer, { metrics }: Report): void {
  metrics.steps = u16(value);
}

/** The module: kind, IMEI, ICCID, name. */
function readModule(value: Buffer, { info }: Report): false | undefined {
  if (value.length < 19) return false;
  const digits = value.toString("hex", 9, 19);
  if (isIccid(digits)) info.iccid = digits.replace(/f+$/, "");
}

/** Bluetooth tags in the transparent message 53: place, address, signal and what the tag itself measures. */
export function readTags(reader: ByteReader): { mac: string; signal_dbm: number; data: string }[] {
  const tags: { mac: string; signal_dbm: number; data: string }[] = [];
  while (reader.remaining >= 9) {
    reader.skip(1);
    const mac = macOf(reader.hex(6));
    const signalDbm = reader.i8();
    tags.push({ mac, signal_dbm: signalDbm, data: reader.hex(reader.u8()) });
  }
  return tags;
}
