import type { AlarmType } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { isOnEarth, readHeading } from "../wire/coordinates.ts";
import { type Item, readTolerantly } from "./items.ts";
import { beaconId, type DataRecord, dbmOf, emptyRecord, placeAt, readTime, vitalReading } from "./record.ts";

/** The records of version 1: EV-W101 watches. Each begins with its status; coordinates are floats. */
export function readWearableRecords(items: readonly Item[]): DataRecord[] {
  let record = emptyRecord();
  const records = [record];
  let hasStatus = false;
  readTolerantly(items, ({ key, value }) => {
    if (key === 0x11 && hasStatus) {
      record = emptyRecord();
      records.push(record);
    }
    hasStatus ||= key === 0x11;
    readers[key]?.(record, new ByteReader(value));
  });
  return records;
}

type Reader = (record: DataRecord, reader: ByteReader) => void;

const readers: Readonly<Partial<{ [key: number]: Reader }>> = {
  16: readAlarm,
  17: readStatus,
  32: readGps,
  33: readCells,
  34: readConnectedBeacon,
  35: readBeacon,
  36: readBeacon,
  37: (record, reader) => readAccessPoint(record, true, reader),
  38: (record, reader) => readAccessPoint(record, false, reader),
  80: readSteps,
  84: readIdleTime,
  96: (record, reader) => readMeasurement(record, "hr", reader),
  97: (record, reader) => readMeasurement(record, "spo2", reader),
  98: readTemperature,
};

const alarmCodes: Readonly<Partial<{ [code: number]: AlarmType }>> = {
  1: "sos",
  2: "fall",
  5: "inactivity",
  8: "power_on",
  9: "power_off",
  10: "low_battery",
  11: "overspeed",
};

function readAlarm(record: DataRecord, reader: ByteReader): void {
  const timeMs = readTime(reader);
  while (reader.remaining > 0) {
    const code = reader.u8();
    record.alarms.push({ type: alarmCodes[code] ?? "custom", code: String(code), timeMs });
  }
}

function readStatus(record: DataRecord, reader: ByteReader): void {
  record.timeMs = readTime(reader);
  record.extra.mode = reader.u8();
  const battery = reader.u8();
  record.metrics.bat = battery > 100 ? null : battery;
  const networkType = reader.u8() & 0x7f;
  const signal = reader.u8();
  // Without service the device writes zero.
  record.metrics.gsm_signal = networkType === 0 || signal > 31 ? null : signal;
  if (reader.remaining < 3) return;
  reader.skip(2);
  const status = reader.u8();
  record.extra.charging = (status & 0b10) !== 0;
  record.extra.moving = (status & 0b100) !== 0;
  record.isBuffered = (status & 0b1000) !== 0;
  record.extra.worn = (status & 0b1_0000) !== 0;
}

const readDegrees = (reader: ByteReader): number => Math.round(reader.bytes(4).readFloatLE(0) * 1e6) / 1e6 + 0;

function readGps(record: DataRecord, reader: ByteReader): void {
  const [lat, lng] = [readDegrees(reader), readDegrees(reader)];
  const speedKmh = reader.u16le();
  const heading = readHeading(reader.u16le());
  const altitudeM = reader.i16le();
  const dilution = reader.u16le();
  if (reader.remaining >= 4) record.extra.odometer_km = reader.u32le() / 1000;
  const satellites = reader.remaining > 0 ? reader.u8() : null;
  if (satellites !== null) record.metrics.satellites = satellites > 99 ? null : satellites;
  if (dilution === 0 || !isOnEarth(lat, lng)) return;
  record.gps = { lat, lng, altitudeM, speedKmh, heading, accuracyM: null, satellites };
}

function readCells(record: DataRecord, reader: ByteReader): void {
  const [mcc, mnc] = [reader.u16le(), reader.u16le()];
  if (mcc < 1 || mcc > 999 || mnc > 999) return;
  record.network = { mcc, mnc };
  while (reader.remaining >= 7) {
    const signalDbm = dbmOf(reader.i8());
    const [lac, cid] = [reader.u16le(), reader.u32le()];
    if (cid > 0 && cid <= 0xfffffff) record.cells.push({ mcc, mnc, lac, cid, signalDbm });
  }
}

function readConnectedBeacon(record: DataRecord, reader: ByteReader): void {
  const beacon = beaconId(reader.bytes(6));
  record.extra.beacon ??= beacon;
  const place = placeAt(readDegrees(reader), readDegrees(reader));
  record.place ??= place;
}

/** Address, signal, number, flags; then battery, temperature and place as the flags say. */
function readBeacon(record: DataRecord, reader: ByteReader): void {
  const beacon = beaconId(reader.bytes(6));
  record.extra.beacon ??= beacon;
  reader.skip(2);
  const flags = reader.u16le();
  if (flags & 1) reader.skip(1);
  if (flags & 2) reader.skip(2);
  if (flags & 4) record.place ??= placeAt(readDegrees(reader), readDegrees(reader));
}

function readAccessPoint(record: DataRecord, isKnown: boolean, reader: ByteReader): void {
  const mac = beaconId(reader.bytes(6)).replace(/..(?=.)/g, "$&:");
  record.accessPoints.push({ mac, signalDbm: dbmOf(reader.i8()) });
  reader.skip(1);
  const flags = isKnown ? reader.u8() : 0;
  if (flags & 1) record.place ??= placeAt(readDegrees(reader), readDegrees(reader));
}

function readSteps(record: DataRecord, reader: ByteReader): void {
  const deviceTimeMs = readTime(reader);
  record.readings.push({ kind: "vitals", deviceTimeMs, metrics: { steps: reader.u32le() }, extra: {} });
}

function readIdleTime(record: DataRecord, reader: ByteReader): void {
  const timeMs = readTime(reader);
  record.timeMs ??= timeMs;
  record.extra.idle_minutes = reader.u32le();
}

/** Time, what caused it, then average, lowest and highest. */
function readMeasurement(record: DataRecord, key: "hr" | "spo2", reader: ByteReader): void {
  const deviceTimeMs = readTime(reader);
  reader.skip(1);
  record.readings.push(vitalReading(deviceTimeMs, key, reader.u8()));
}

function readTemperature(record: DataRecord, reader: ByteReader): void {
  const deviceTimeMs = readTime(reader);
  const hasFailed = reader.u8() === 0;
  const average = Math.round(reader.bytes(4).readFloatLE(0) * 10) / 10;
  const temp = hasFailed || !(average > 0 && average <= 100) ? null : average;
  record.readings.push({ kind: "vitals", deviceTimeMs, metrics: { temp }, extra: {} });
}
