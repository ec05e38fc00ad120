import { MalformedFrame } from "../malformed-frame.ts";
import { ByteReader } from "../wire/byte-reader.ts";

/** The list of Bluetooth beacons nearby. */
export const BEACONS = 548;

const firstEyeTemperature = 10_800;

/** Temperatures of up to four EYE sensors. Undefined: another value. */
export const eyeSensorOf = (id: number): number | undefined =>
  id >= firstEyeTemperature && id < firstEyeTemperature + 4 ? id - firstEyeTemperature + 1 : undefined;

export interface Beacon {
  mac?: string;
  signal_dbm?: number;
  battery_mv?: number;
}

/** A version, then beacons: a length, and fields with their number and length. What cannot be read ends the list. */
export function readBeacons(hex: string): Beacon[] {
  const reader = new ByteReader(Buffer.from(hex, "hex"));
  const beacons: Beacon[] = [];
  try {
    reader.skip(1);
    while (reader.remaining > 0) beacons.push(readBeacon(new ByteReader(reader.bytes(reader.u8()))));
  } catch (error) {
    if (!(error instanceof MalformedFrame)) throw error;
  }
  return beacons;
}

function readBeacon(reader: ByteReader): Beacon {
  const beacon: Beacon = {};
  while (reader.remaining > 0) {
    const id = reader.u8();
    const value = reader.bytes(reader.u8());
    if (id === 0 && value.length === 1) beacon.signal_dbm = value.readInt8(0);
    else if (id === 1 && value.length === 6) beacon.mac = value.toString("hex").replace(/..(?=.)/g, "$&:");
    // Seven bits of ten millivolts above two volts.
    else if (id === 2 && value.length === 2) beacon.battery_mv = 2000 + (value.readUInt16BE(0) & 0x7f) * 10;
  }
  return beacon;
}
