import { ByteReader } from "../wire/byte-reader.ts";
import { alarmOfBoth, alarmOfStatus, hexCode } from "./alarms.ts";
import {
  batteryOf,
  type CellForm,
  gpsOf,
  knownAlarm,
  lbsFormOf,
  readGpsBlock,
  readLbsBlock,
  readStatusBlock,
  readStatusFlags,
  signalOf,
  timeOf,
} from "./blocks.ts";
import type { Report } from "./report.ts";

/** Frames with a GPS block. What follows it differs between makers, and only the number of bytes tells them apart. */

export type ContentReader = (content: Buffer, report: Report, zoneMinutes: number) => void;

const gpsBytes = 18;
const wideCell: CellForm = { lacBytes: 4, cidBytes: 8 };

export const readPlainGps: ContentReader = (content, report, zone) => {
  readGpsBlock(new ByteReader(content), report, zone);
};

/** 12, 17, 1A, 1E, 2D. */
export const readGpsLbs: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  if (reader.remaining >= 8) readLbsBlock(reader, report);
  const left = reader.remaining;
  if (left === 5) readVoltageStatus(reader, report);
  else if (left === 12) {
    readVoltageStatus(reader, report);
    reader.skip(2);
    const celsius = reader.u8();
    report.extra.ambient_temperature = celsius & 0x80 ? -(celsius & 0x7f) : celsius;
    report.extra.odometer = reader.u32() * 10;
  } else if (left === 4 || left === 10 || left >= 60) report.extra.odometer = reader.u32();
};

/** Status, supply voltage, signal and alarm. */
function readVoltageStatus(reader: ByteReader, report: Report): void {
  const status = reader.u8();
  readStatusFlags(status, report);
  report.extra.ignition = (status & 2) !== 0;
  report.extra.power_v = reader.u16() / 100;
  report.metrics.gsm_signal = signalOf(reader.u8());
  report.alarm = knownAlarm(status, reader.u8());
}

/** 11: two bytes of network code and four of the cell. */
export const readWideGpsLbs: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  if (reader.remaining >= 10) readLbsBlock(reader, report, { hasWideMnc: true, cidBytes: 4 });
  readUploadMode(reader, report);
};

/** Ignition, reason, and whether the report was stored. */
function readUploadMode(reader: ByteReader, report: Report): void {
  if (reader.remaining < 3) return;
  report.extra.ignition = reader.u8() > 0;
  reader.skip(1);
  report.isBuffered = reader.u8() === 1;
}

/** 22 and 2D. */
export const readGpsLbsMode: ContentReader = (content, report, zone) => {
  if (content.length >= 55) return readNamedGps(content, report, zone);
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  const isClimate = reader.remaining === 24;
  if (reader.remaining >= 8) readLbsBlock(reader, report, isClimate ? { cidBytes: 4 } : {});
  readUploadMode(reader, report);
  if (reader.remaining >= 4) report.extra.odometer = reader.u32();
  if (!isClimate) return;
  reader.skip(4);
  const celsius = reader.u16();
  report.extra.ambient_temperature = (celsius & 0x8000 ? -(celsius & 0x7fff) : celsius) / 100;
  report.extra.humidity = reader.u16() / 100;
};

/** 22 and 25 of units that write their IMEI and the time of sending in front. */
function readNamedGps(content: Buffer, report: Report, zone: number): void {
  const reader = new ByteReader(content);
  reader.skip(1 + 8 + 6);
  readGpsBlock(reader, report, zone);
  readSizedLbs(reader, report, content.length === 55 ? 13 : undefined);
  const status = reader.u8();
  readStatusFlags(status, report);
  report.extra.power_v = reader.u16() / 100;
  report.extra.battery_v = reader.u8() / 10;
  report.metrics.gsm_signal = signalOf(reader.u8());
  report.alarm = knownAlarm(status, reader.u8());
  reader.skip(1);
  report.extra.odometer = reader.u24();
  report.extra.working_minutes = reader.u24();
  if (reader.remaining > 2) report.extra.driver_id = reader.bytes(reader.u8()).subarray(1).toString("hex");
}

export const readNamedDriverGps: ContentReader = readNamedGps;

/** 31, with altitude. */
export const readHighGps: ContentReader = (content, report, zone) => {
  readWideGpsLbs(content, report, zone);
  if (content.length < gpsBytes + 10 + 3 + 2) return;
  const altitudeM = content.readInt16BE(content.length - 2);
  if (report.gps) report.gps = { ...report.gps, altitudeM };
};

/** 24 as a position. */
export const readGpsLbsVoltage: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  readLbsBlock(reader, report);
  report.extra.ignition = reader.u8() > 0;
  report.extra.power_v = reader.u16() / 100;
  report.extra.battery_v = reader.u16() / 100;
};

/** 36 as a position. */
export const readGpsSupply: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  readLbsBlock(reader, report, { cidBytes: 4 });
  readUploadMode(reader, report);
  report.extra.odometer = reader.u32();
  report.extra.power_v = reader.u16() / 100;
  report.extra.battery_v = reader.u8() / 10;
};

/** 37: what follows is a list of number, length and value. */
export const readGpsModules: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  readLbsBlock(reader, report);
  readUploadMode(reader, report);
  while (reader.remaining >= 3) {
    const module = reader.u16();
    const value = new ByteReader(reader.bytes(reader.u8()));
    if (module === 0x27) report.extra.power_v = value.u16() / 100;
    else if (module === 0x2e) report.extra.odometer = value.u32();
    else if (module === 0x3b && report.gps) report.gps = { ...report.gps, accuracyM: value.u16() / 100 };
  }
};

/** 61: the IMEI in front, a driver's card at the end. */
export const readCardGps: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  reader.skip(8);
  readGpsBlock(reader, report, zone);
  readLbsBlock(reader, report);
  if (reader.remaining >= 7) {
    reader.skip(3);
    report.extra.driver_id = String(reader.u32());
  }
};

/** A0. */
export const readWideGps: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  if (reader.remaining >= 15) readLbsBlock(reader, report, wideCell);
  readUploadMode(reader, report);
};

/** A2 as a position. */
export const readWideGpsStatus: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  readGpsBlock(reader, report, zone);
  readLbsBlock(reader, report, wideCell);
  reader.skip(1);
  const status = reader.u8();
  readStatusFlags(status, report);
  report.extra.power_v = reader.u16() / 100;
  report.metrics.bat = batteryOf(reader.u8());
  report.metrics.gsm_signal = signalOf(reader.u8());
  report.alarm = knownAlarm(status, reader.u8());
};

/** 34. */
export const readX1Gps: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  reader.skip(4);
  readGpsBlock(reader, report, zone);
  reader.skip(2);
  report.extra.odometer = reader.u32();
  readLbsBlock(reader, report, { cidBytes: 4 });
  reader.skip(4);
  report.extra.battery_v = reader.u16() / 100;
  report.extra.power_v = reader.u16() / 100;
};

/** 16, 26, 27, 32, A3, A4: GPS, cell and status, which is what alarms come with. */
export const readGpsStatus =
  (tailBytes: number): ContentReader =>
  (content, report, zone) => {
    const reader = new ByteReader(content);
    readGpsBlock(reader, report, zone);
    if (reader.remaining === 13) {
      // Without the length of the cell: the alarm is in the status alone.
      readLbsBlock(reader, report);
      report.alarm = alarmOfStatus(readStatusBlock(reader, report).status);
      return;
    }
    readSizedLbs(reader, report, tailBytes);
    const { status, alarmByte } = readStatusBlock(reader, report);
    report.alarm = alarmOfBoth(status, alarmByte);
    // Language, and the altitude of one maker.
    if (tailBytes === 5 && reader.remaining === 3 && report.gps) {
      reader.skip(1);
      report.gps = { ...report.gps, altitudeM: reader.i16() };
    }
  };

/**
 * A cell after its length. Makers count the length byte itself or not; what must be left for the rest settles it, and some
 * write a length that is neither.
 */
function readSizedLbs(reader: ByteReader, report: Report, tailBytes: number | undefined): void {
  const declared = reader.u8();
  if (tailBytes === undefined) {
    reader.skip(declared);
    return;
  }
  const left = reader.remaining - tailBytes;
  // A driver's card of eight bytes or an altitude may follow.
  const isDeclared = (size: number): boolean => [0, 2, 8].includes(left - size);
  const size = left === declared || left === declared - 1 ? left : ([declared, declared - 1].find(isDeclared) ?? left);
  const bytes = reader.bytes(Math.max(0, size));
  const hasWideMnc = ((bytes[0] ?? 0) & 0x80) !== 0;
  const form = lbsFormOf(size, hasWideMnc);
  if (form) readLbsBlock(new ByteReader(bytes), report, form);
}

/** 95: an alarm, with a position if it is long. */
export const readCameraAlarm: ContentReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  const isLong = content.length > 9;
  const isMarked = isLong && content.readUInt16BE(0) === 0xffff;
  if (isMarked) reader.skip(3);
  report.deviceTimeMs = timeOf(reader.bytes(6), zone);
  if (isLong) {
    const satellites = isMarked ? reader.u8() & 0x0f : null;
    const [lat, lng, flags] = [reader.u32(), reader.u32(), reader.u16()];
    const speedKmh = isMarked ? reader.u16() : null;
    report.gps = gpsOf(lat, lng, flags, { speedKmh, satellites, altitudeM: null }, report);
    if (isMarked) report.extra.power_v = reader.u16() / 10;
  }
  const code = reader.u8();
  const type = code === 1 && isLong ? "sos" : code === 0x87 ? "overspeed" : "custom";
  report.alarm = { type, code: hexCode(code) };
  if (reader.remaining <= 2) return;
  reader.skip(2);
  report.extra.event_files = reader.text(Math.min(reader.remaining, 500), "ascii");
};
