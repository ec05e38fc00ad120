import type { ByteReader } from "../wire/byte-reader.ts";
import { fromParts } from "../wire/coordinates.ts";
import { textOf } from "./items.ts";
import { beaconId, type DataRecord, dbmOf, macOf, placeAt } from "./record.ts";

/** Places that the device knows without satellites: beacons, access points, and its own guess (version 0). */
export const placeReaders = {
  35: (record: DataRecord, reader: ByteReader) => readBeacon(record, false, reader),
  38: (record: DataRecord, reader: ByteReader) => readBeacon(record, true, reader),
  39: readGuess,
  40: (record: DataRecord, reader: ByteReader) => readNearBeacon(record, false, reader),
  42: readKnownAccessPoint,
  44: (record: DataRecord, reader: ByteReader) => readNearBeacon(record, true, reader),
};

const hasCoordinates = 0x80;
const hasText = 0x40;

function readCoordinates(reader: ByteReader): [lat: number, lng: number] {
  return [fromParts(reader.i32le(), 1e7), fromParts(reader.i32le(), 1e7)];
}

function describe(record: DataRecord, text: string): void {
  if (text !== "") record.extra.place = text;
}

function readBeacon(record: DataRecord, hasAltitude: boolean, reader: ByteReader): void {
  record.extra.beacon = beaconId(reader.bytes(6));
  if (reader.remaining < 8) return;
  const [lat, lng] = readCoordinates(reader);
  if (hasAltitude && reader.remaining >= 4) {
    reader.skip(2);
    record.place = placeAt(lat, lng, reader.i16le());
  } else {
    record.place = placeAt(lat, lng);
    if (!hasAltitude) describe(record, textOf(reader.rest()));
  }
}

function readGuess(record: DataRecord, reader: ByteReader): void {
  const [lat, lng] = readCoordinates(reader);
  if (reader.remaining >= 4) reader.skip(2);
  record.place = placeAt(lat, lng, reader.remaining >= 2 ? reader.i16le() : null);
}

/** Of several beacons the first is named, and the first with coordinates is the place. */
function readNearBeacon(record: DataRecord, isDetailed: boolean, reader: ByteReader): void {
  const flags = reader.u8();
  const beacon = beaconId(reader.bytes(6));
  record.extra.beacon ??= beacon;
  // Signal here and at one metre; detailed ones add their battery.
  reader.skip(isDetailed ? 3 : 2);
  if (flags & hasCoordinates) {
    const [lat, lng] = readCoordinates(reader);
    record.place ??= placeAt(lat, lng);
  }
  if (flags & hasText) {
    const length = isDetailed ? Math.min(reader.u8(), reader.remaining) : reader.remaining;
    describe(record, textOf(reader.bytes(length)));
  }
  if (isDetailed && reader.remaining >= 2) record.extra.beacon_temperature = reader.i16le() / 10;
}

/** Coordinates and text only where the flags say so. */
function readKnownAccessPoint(record: DataRecord, reader: ByteReader): void {
  const flags = reader.u8();
  const mac = macOf(reader.bytes(6));
  record.accessPoints.push({ mac, signalDbm: dbmOf(reader.i8()) });
  if (flags & hasCoordinates) {
    const [lat, lng] = readCoordinates(reader);
    record.place = placeAt(lat, lng);
  }
  if (flags & hasText) describe(record, textOf(reader.rest()));
}
