import type { TrackerMessage } from "../tracker-message.ts";
import type { ByteReader } from "../wire/byte-reader.ts";
import { readHeading } from "../wire/coordinates.ts";
import { type IoValue, recordMessages } from "./record-messages.ts";

/** Seconds of these records count from 2007. */
const epochMs = Date.UTC(2007, 0, 1);

/** Records of codec 07 (GH3000): masks say which fields are there. */
export function readOldRecord(reader: ByteReader): TrackerMessage[] {
  const word = reader.u32();
  const timeMs = epochMs + (word & 0x3fffffff) * 1000;
  const priority = word >>> 30;
  const parts = reader.u8();
  const place = (parts & 1) === 0 ? { gps: null, satellites: null } : readPlace(reader);
  const io = new Map<number, IoValue>();
  if (parts & 2) for (let left = reader.u8(); left > 0; left--) io.set(reader.u8(), reader.u8());
  if (parts & 4) for (let left = reader.u8(); left > 0; left--) io.set(reader.u8(), reader.u16());
  if (parts & 8) for (let left = reader.u8(); left > 0; left--) io.set(reader.u8(), reader.u32());
  // Here 1 is the battery in percent.
  const battery = io.get(1);
  if (battery !== undefined) {
    io.delete(1);
    io.set(113, battery);
  }
  const operator = "operator" in place && place.operator ? place.operator : undefined;
  if (operator !== undefined) io.set(241, operator);
  return recordMessages({ timeMs, priority, eventId: 0, io, ...place });
}

function readPlace(reader: ByteReader) {
  const fields = reader.u8();
  const has = (bit: number): boolean => (fields & (1 << bit)) !== 0;
  const coordinates = has(0) ? { lat: readFloat(reader), lng: readFloat(reader) } : null;
  const altitudeM = has(1) ? reader.i16() : null;
  const heading = has(2) ? readHeading((reader.u8() * 360) / 256) : null;
  const speedKmh = has(3) ? reader.u8() : null;
  const satellites = has(4) ? reader.u8() : null;
  const cell = has(5) ? { lac: reader.u16(), cid: reader.u16() } : undefined;
  if (has(6)) reader.skip(1);
  const operator = has(7) ? reader.u32() : undefined;
  const isFix = coordinates !== null && satellites !== 0 && isNumber(coordinates.lat) && isNumber(coordinates.lng);
  const gps = isFix ? { ...coordinates, altitudeM, heading, speedKmh, accuracyM: null, satellites } : null;
  return { gps, satellites, operator, ...(cell ? { cell } : {}) };
}

const isNumber = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= 1000;

const readFloat = (reader: ByteReader): number => Math.round(reader.bytes(4).readFloatBE(0) * 1e6) / 1e6 + 0;
