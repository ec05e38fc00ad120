import { MalformedFrame } from "../malformed-frame.ts";
import type { Fix, TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, isOnEarth, readHeading } from "../wire/coordinates.ts";

/**
 * The newer binary form: `+`, NUL, length, the IMEI in half bytes, then records of items with an id and a length each.
 * The check byte before the closing `$` is not documented, so the lengths have to fit instead.
 */
export function readCompactRecords(raw: Buffer): { id: string; messages: TrackerMessage[] } {
  // Count, check byte and `$` follow the records.
  const reader = new ByteReader(raw.subarray(0, -4));
  reader.skip(4);
  const isPartOfMany = (reader.u8() & 0x80) !== 0;
  if (isPartOfMany) reader.skip(2);
  const id = reader.hex(8).slice(1);
  if (!/^\d{15}$/.test(id)) throw new MalformedFrame("binary report without an id");
  // Type, protocol and custom version.
  reader.skip(5);
  reader.skip(reader.u8());
  const messages: TrackerMessage[] = [];
  while (reader.remaining > 0) messages.push(...readRecord(reader));
  return { id, messages };
}

/** One byte, or two when the highest bit is set. */
function readLength(reader: ByteReader): number {
  const first = reader.u8();
  return first < 0x80 ? first : ((first & 0x7f) << 8) | reader.u8();
}

const locationItem = 0x52;

function readRecord(reader: ByteReader): TrackerMessage[] {
  const before = reader.offset;
  const length = readLength(reader);
  const record = new ByteReader(reader.bytes(length - (reader.offset - before)));
  // Time, count, kind and event.
  record.skip(8);
  const messages: TrackerMessage[] = [];
  while (record.remaining > 0) {
    const item = readLength(record);
    const value = record.bytes(readLength(record));
    if (item === locationItem) messages.push(...readLocation(new ByteReader(value)));
  }
  return messages;
}

function readLocation(value: ByteReader): TrackerMessage[] {
  const isFixed = ((value.u8() >> 2) & 0b11) === 0b10;
  const lng = fromParts(value.i32(), 1e6);
  const lat = fromParts(value.i32(), 1e6);
  const deviceTimeMs = value.u32() * 1000;
  const speedKmh = value.u16() / 10;
  // Dilution of precision.
  value.skip(1);
  const heading = readHeading(value.u16());
  const altitudeM = value.u24() / 10;
  const satellites = value.u8();
  const gps = { lat, lng, altitudeM, speedKmh, heading, accuracyM: null, satellites };
  const fix: Fix = {
    kind: "fix",
    deviceTimeMs,
    gps: isFixed && isOnEarth(lat, lng) ? gps : null,
    cells: [],
    accessPoints: [],
    network: null,
    isBuffered: false,
  };
  return [fix, { kind: "vitals", deviceTimeMs, metrics: { satellites }, extra: {} }];
}
