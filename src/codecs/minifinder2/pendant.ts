import type { AlarmType } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, isOnEarth, readHeading } from "../wire/coordinates.ts";
import { type Item, readTolerantly } from "./items.ts";
import { placeReaders } from "./places.ts";
import { type DataRecord, dbmOf, emptyRecord, macOf, readTime, vitalReading } from "./record.ts";

/** Keys that repeat within a record: the beacons around. Any other key that comes again begins the next record. */
const repeated: ReadonlySet<number> = new Set([0x28, 0x2c]);

/** The records of version 0: EV-04, EV-05, EV-07B and their kin. */
export function readPendantRecords(items: readonly Item[]): DataRecord[] {
  let record = emptyRecord();
  const records = [record];
  const keys = new Set<number>();
  readTolerantly(items, ({ key, value }) => {
    if (keys.has(key) && !repeated.has(key)) {
      record = emptyRecord();
      records.push(record);
      keys.clear();
    }
    keys.add(key);
    readers[key]?.(record, new ByteReader(value));
  });
  return records;
}

type Reader = (record: DataRecord, reader: ByteReader) => void;

const readers: Readonly<Partial<{ [key: number]: Reader }>> = {
  2: readAlarms,
  20: readBattery,
  32: readGps,
  33: (record, reader) => readCells(record, 1, 2, reader),
  41: (record, reader) => readCells(record, 1, 4, reader),
  43: (record, reader) => readCells(record, 2, 4, reader),
  25: (record, reader) => readAccessPoints(record, true, reader),
  34: (record, reader) => readAccessPoints(record, false, reader),
  36: readStatus,
  37: readCall,
  48: readSteps,
  49: readActivity,
  55: readBarking,
  64: (record, reader) => readVital(record, "hr", reader),
  65: (record, reader) => readVital(record, "spo2", reader),
  ...placeReaders,
};

function readBattery(record: DataRecord, reader: ByteReader): void {
  record.metrics.bat = percent(reader.u8());
  record.extra.battery_v = reader.u16le() / 1000;
}

function readVital(record: DataRecord, key: "hr" | "spo2", reader: ByteReader): void {
  record.readings.push(vitalReading(readTime(reader), key, reader.u8()));
}

const percent = (value: number): number | null => (value > 100 ? null : value);

const alarmBits: readonly (readonly [bit: number, type: AlarmType])[] = [
  [0, "low_battery"],
  [1, "overspeed"],
  [2, "fall"],
  // Tilt.
  [3, "custom"],
  [8, "power_off"],
  [9, "power_on"],
  // Motion.
  [10, "custom"],
  [11, "inactivity"],
  [12, "sos"],
  // The buttons at the side.
  [13, "custom"],
  [14, "custom"],
];

/** The code is the number of the bit. Fences of the device, which the service does not set, say which way they were crossed. */
function readAlarms(record: DataRecord, reader: ByteReader): void {
  const bits = reader.u32le();
  const timeMs = reader.remaining >= 4 ? readTime(reader) : null;
  const isSet = (bit: number): boolean => ((bits >>> bit) & 1) === 1;
  for (const [bit, type] of alarmBits) if (isSet(bit)) record.alarms.push({ type, code: String(bit), timeMs });
  for (let fence = 0; fence < 4; fence++) {
    if (!isSet(4 + fence)) continue;
    record.alarms.push({ type: "custom", code: `${4 + fence}:${isSet(26 + fence) ? "enter" : "exit"}`, timeMs });
  }
  if (isSet(31)) record.extra.bark = true;
  record.timeMs ??= timeMs;
}

function readGps(record: DataRecord, reader: ByteReader): void {
  const lat = fromParts(reader.i32le(), 1e7);
  const lng = fromParts(reader.i32le(), 1e7);
  const speedKmh = reader.u16le();
  const heading = readHeading(reader.u16le());
  const altitudeM = reader.i16le();
  const dilution = reader.u16le();
  const odometerM = reader.remaining >= 4 ? reader.u32le() : null;
  const satellites = reader.remaining > 0 ? reader.u8() : null;
  if (odometerM !== null) record.extra.odometer_km = odometerM / 1000;
  if (satellites !== null) record.metrics.satellites = satellites > 99 ? null : satellites;
  if (dilution === 0 || !isOnEarth(lat, lng)) return;
  record.gps = { lat, lng, altitudeM, speedKmh, heading, accuracyM: null, satellites };
}

function readCells(record: DataRecord, mncBytes: 1 | 2, cellBytes: 2 | 4, reader: ByteReader): void {
  const mcc = reader.u16le();
  const mnc = mncBytes === 2 ? reader.u16le() : reader.u8();
  if (mcc < 1 || mcc > 999 || mnc > 999) return;
  record.network = { mcc, mnc };
  while (reader.remaining >= 3 + cellBytes) {
    const signalDbm = dbmOf(reader.i8());
    const lac = reader.u16le();
    const cid = cellBytes === 2 ? reader.u16le() : reader.u32le();
    if (cid > 0 && cid <= 0xfffffff) record.cells.push({ mcc, mnc, lac, cid, signalDbm });
  }
}

function readAccessPoints(record: DataRecord, isNamed: boolean, reader: ByteReader): void {
  while (reader.remaining >= 7) {
    const signalDbm = dbmOf(reader.i8());
    record.accessPoints.push({ mac: macOf(reader.bytes(6)), signalDbm });
    if (isNamed) reader.skip(Math.min(reader.u8(), reader.remaining));
  }
}

function readStatus(record: DataRecord, reader: ByteReader): void {
  record.timeMs = readTime(reader);
  const status = reader.u32le();
  const isSet = (bit: number): boolean => ((status >>> bit) & 1) === 1;
  record.isBuffered = isSet(7);
  record.extra.charging = isSet(4);
  record.extra.moving = isSet(9);
  record.metrics.gsm_signal = (status >>> 19) & 0x1f;
  record.metrics.bat = percent(status >>> 24);
}

/** The number that was called is personal and is not kept. */
function readCall(record: DataRecord, reader: ByteReader): void {
  const timeMs = readTime(reader);
  record.timeMs ??= timeMs;
  record.extra.call_status = reader.u8();
  record.extra.call_seconds = reader.u16le();
  record.extra.call_result = reader.u8();
}

const maxSteps = 1_000_000;

/** Some firmware has the steps in the high half of the number. */
function readSteps(record: DataRecord, reader: ByteReader): void {
  const deviceTimeMs = readTime(reader);
  const number = reader.u32le();
  const steps = number > maxSteps && (number & 0xffff) === 0 ? number >>> 16 : number;
  record.readings.push({ kind: "vitals", deviceTimeMs, metrics: { steps }, extra: {} });
}

function readActivity(record: DataRecord, reader: ByteReader): void {
  while (reader.remaining >= 8) {
    const deviceTimeMs = readTime(reader);
    record.readings.push({ kind: "vitals", deviceTimeMs, metrics: {}, extra: { activity: reader.u32le() } });
  }
}

function readBarking(record: DataRecord, reader: ByteReader): void {
  const deviceTimeMs = readTime(reader);
  const count = reader.u32le();
  const extra = { bark_count: count & 0x7fffffff, ...(count >>> 31 === 1 ? { bark_stopped: true } : {}) };
  record.readings.push({ kind: "vitals", deviceTimeMs, metrics: {}, extra });
}
