import { MalformedFrame } from "../malformed-frame.ts";
import type { Fix, TrackerMessage, Vitals } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, isOnEarth, readHeading } from "../wire/coordinates.ts";
import { crc16CcittFalse } from "../wire/crc16.ts";
import { readCompactRecords } from "./compact.ts";
import { utcTime } from "./report.ts";

/** The HEX form of reports: a mask of what follows, a CRC, and CR LF at the end. */
export interface BinaryReport {
  id: string;
  messages: TrackerMessage[];
}

/** From the head to the id; type and firmware of the device stand before it. */
const idAt: Readonly<Record<string, number>> = {
  "+RSP": 16,
  "+BSP": 16,
  "+EVT": 16,
  "+BVT": 16,
  "+INF": 14,
  "+BNF": 14,
  "+CRD": 13,
  "+BRD": 13,
  "+LGN": 15,
  "+ACK": 12,
  "+HBD": 11,
};

export function readBinary(raw: Buffer): BinaryReport {
  if (raw[1] === 0) return readCompactRecords(raw);
  if (crc16CcittFalse(raw.subarray(4, -4)) !== raw.readUInt16BE(raw.length - 4)) {
    throw new MalformedFrame("binary report with a wrong checksum");
  }
  const head = raw.toString("latin1", 0, 4);
  const reader = new ByteReader(raw.subarray(0, -4));
  reader.skip(idAt[head] ?? raw.length);
  const id = readId(reader.bytes(8));
  if (head === "+RSP" || head === "+BSP") return { id, messages: readPositions(reader, raw[4] as number, head) };
  if (head === "+EVT" || head === "+BVT") return { id, messages: readEvent(reader, raw[4] as number, head) };
  return { id, messages: head === "+ACK" ? readAnswer(reader, raw[4] as number) : [] };
}

/** An IMEI with two digits in each byte and one in the last, or the first eight letters of the name of the device. */
function readId(bytes: Buffer): string {
  const isImei = bytes.every((byte, index) => byte < (index === 7 ? 10 : 100));
  if (isImei) return [...bytes].map((byte, index) => String(byte).padStart(index === 7 ? 1 : 2, "0")).join("");
  const name = bytes.toString("latin1").replace(/\0+$/, "");
  if (!/^[\x21-\x7e]{1,8}$/.test(name)) throw new MalformedFrame("binary report without an id");
  return name.toUpperCase();
}

/** After the id: sub command, serial, time and count. */
function readAnswer(reader: ByteReader, command: number): TrackerMessage[] {
  reader.skip(1);
  const serial = reader.hex(2).toUpperCase();
  return [{ kind: "command_answer", word: String(command), serial, isAccepted: null, fields: [] }];
}

/** Types of `+RSP` that have more before the points. */
const callReport = 3;
const fenceReport = 8;
/** Points one second apart, as differences. */
const compressedReport = 100;

function readPositions(reader: ByteReader, type: number, head: string): TrackerMessage[] {
  const power = readPower(reader);
  if (type === fenceReport) reader.skip(2);
  reader.skip(1);
  const satellites = reader.u8();
  const isBuffered = head === "+BSP";
  if (type === compressedReport) return [vitalsOf(power, satellites, null)];
  reader.skip(1);
  if (type === callReport) skipPhoneNumber(reader);
  const fixes = readFixes(reader, satellites, isBuffered);
  return [...fixes, vitalsOf(power, satellites, fixes.at(-1)?.deviceTimeMs ?? null)];
}

/** What stands between the satellites and the points of an event, in bytes. */
const eventBytes: Readonly<Record<number, number>> = {
  6: 2,
  15: 3,
  17: 4,
  21: 5,
  23: 1,
  26: 12,
  31: 2,
  33: 1,
  34: 3,
  35: 1,
  45: 7,
  46: 7,
};
const lowBatteryEvent = 6;

function readEvent(reader: ByteReader, type: number, head: string): TrackerMessage[] {
  const power = readPower(reader);
  reader.skip(1);
  const satellites = reader.u8();
  reader.skip(eventBytes[type] ?? 0);
  const fixes = readFixes(reader, satellites, head === "+BVT");
  const deviceTimeMs = fixes.at(-1)?.deviceTimeMs ?? null;
  const messages: TrackerMessage[] = [...fixes, vitalsOf(power, satellites, deviceTimeMs)];
  if (type === lowBatteryEvent) {
    messages.push({ kind: "alarm", type: "low_battery", code: `EVT${type}`, deviceTimeMs });
  }
  return messages;
}

interface Power {
  battery: number;
  millivolts: number;
}

const readPower = (reader: ByteReader): Power => ({ battery: reader.u8(), millivolts: reader.u16() });

function vitalsOf({ battery, millivolts }: Power, satellites: number, deviceTimeMs: number | null): Vitals {
  return {
    kind: "vitals",
    deviceTimeMs,
    metrics: { bat: battery > 100 ? null : battery, satellites: satellites > 99 ? null : satellites },
    extra: { external_v: millivolts / 1000 },
  };
}

/** A length, then digits in half bytes up to an F. */
function skipPhoneNumber(reader: ByteReader): void {
  reader.skip(1);
  for (let byte = reader.u8(); (byte & 0xf) !== 0xf && (byte & 0xf0) !== 0xf0; byte = reader.u8());
}

function readFixes(reader: ByteReader, satellites: number, isBuffered: boolean): Fix[] {
  const count = reader.u8();
  return Array.from({ length: count }, () => readFix(reader, satellites, isBuffered));
}

function readFix(reader: ByteReader, satellites: number, isBuffered: boolean): Fix {
  const accuracy = reader.u8();
  const speedKmh = reader.u24() / 10;
  const heading = readHeading(reader.u16());
  const altitudeM = reader.i16();
  const lng = fromParts(reader.i32(), 1e6);
  const lat = fromParts(reader.i32(), 1e6);
  const deviceTimeMs = utcTime(reader.u16(), reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u8());
  const [mcc, mnc, lac, cid] = [digits(reader), digits(reader), reader.u16(), reader.u16()];
  reader.skip(1);
  const network = mcc === null || mnc === null || mcc < 1 || mcc > 999 || mnc > 999 ? null : { mcc, mnc };
  const gps = { lat, lng, altitudeM, speedKmh, heading, accuracyM: null, satellites };
  return {
    kind: "fix",
    deviceTimeMs,
    gps: accuracy === 0 || !isOnEarth(lat, lng) ? null : gps,
    cells: network && cid > 0 ? [{ ...network, lac, cid, signalDbm: null }] : [],
    accessPoints: [],
    network,
    isBuffered,
  };
}

/** Decimal digits in half bytes: 0268 is 268. */
function digits(reader: ByteReader): number | null {
  const text = reader.hex(2);
  return /^\d{4}$/.test(text) ? Number(text) : null;
}
