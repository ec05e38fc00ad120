import type { CellTower, GpsPosition } from "../tracker-message.ts";
import type { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, isOnEarth } from "../wire/coordinates.ts";
import { alarmOf, alarmOfStatus, type RaisedAlarm } from "./alarms.ts";
import type { Report } from "./report.ts";

/** The blocks that frames are made of. */

const partsPerDegree = 1_800_000;

/** The parts of a date as numbers; null for what is no date. `zoneMinutes` is what the device's clock is ahead of UTC. */
export function timeOf(parts: ArrayLike<number>, zoneMinutes: number): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = Array.from(parts);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59 || year > 99)
    return null;
  return Date.UTC(2000 + year, month - 1, day, hour, minute - zoneMinutes, second);
}

/** Time, satellites, coordinates, speed and course: 18 bytes. */
export function readGpsBlock(reader: ByteReader, report: Report, zoneMinutes: number): void {
  report.deviceTimeMs = timeOf(reader.bytes(6), zoneMinutes);
  readPosition(reader, report);
}

/** The block without its time. */
export function readPosition(reader: ByteReader, report: Report): void {
  const satellites = reader.u8() & 0x0f;
  report.metrics.satellites = satellites;
  const [lat, lng, speedKmh] = [reader.u32(), reader.u32(), reader.u8()];
  report.gps = gpsOf(lat, lng, reader.u16(), { speedKmh, satellites, altitudeM: null }, report);
}

interface Motion {
  speedKmh: number | null;
  satellites: number | null;
  altitudeM: number | null;
}

/** Bits 0 to 9 are the course, 10 is north, 11 west, 12 a fix, 14 and 15 the ignition. */
export function gpsOf(lat: number, lng: number, flags: number, motion: Motion, report: Report): GpsPosition | null {
  if (flags & 0x4000) report.extra.ignition = (flags & 0x8000) !== 0;
  if (!(flags & 0x1000)) return null;
  const [north, east] = [fromParts(lat, partsPerDegree), fromParts(lng, partsPerDegree)];
  if (!isOnEarth(north, east)) return null;
  const heading = flags & 0x3ff;
  return {
    lat: flags & 0x0400 || north === 0 ? north : -north,
    lng: flags & 0x0800 && east !== 0 ? -east : east,
    heading: heading > 360 ? null : heading % 360,
    accuracyM: null,
    ...motion,
  };
}

/** Units for 4G have wider numbers. */
export interface CellForm {
  hasWideMnc?: boolean;
  lacBytes?: 2 | 4;
  cidBytes?: 3 | 4 | 8;
}

export interface Network {
  mcc: number;
  mnc: number;
}

/** A set top bit of the country code announces a network code of two bytes. */
export function readNetwork(reader: ByteReader, hasWideMnc = false): Network {
  const mcc = reader.u16();
  const mnc = mcc & 0x8000 || hasWideMnc ? reader.u16() : reader.u8();
  return { mcc: mcc & 0x7fff, mnc };
}

/** Undefined: an empty place in the list. */
export function readCell(
  reader: ByteReader,
  { mcc, mnc }: Network,
  { lacBytes = 2, cidBytes = 3 }: CellForm,
  hasSignal: boolean,
): CellTower | undefined {
  const lac = lacBytes === 4 ? reader.u32() : reader.u16();
  const cid = cidBytes === 8 ? Number(reader.u64()) : cidBytes === 4 ? reader.u32() : reader.u24();
  const signal = hasSignal ? reader.u8() : 0;
  const isReal = mcc >= 1 && mcc <= 999 && mnc <= 999 && lac <= 0xffffff && cid >= 1 && cid <= 0xfffffff;
  return isReal && lac > 0 ? { mcc, mnc, lac, cid, signalDbm: signal > 0 ? -signal : null } : undefined;
}

export function readLbsBlock(reader: ByteReader, report: Report, form: CellForm = {}): void {
  const cell = readCell(reader, readNetwork(reader, form.hasWideMnc), form, false);
  if (cell) report.cells.push(cell);
}

/** The form of a block of this many bytes, the only thing that distinguishes them. */
export function lbsFormOf(byteCount: number, hasWideMnc: boolean): CellForm | undefined {
  const cellBytes = byteCount - (hasWideMnc ? 4 : 3);
  if (cellBytes === 5) return {};
  if (cellBytes === 6) return hasWideMnc ? undefined : { cidBytes: 4 };
  // Without the bit: two bytes of network code all the same.
  if (cellBytes === 7) return { hasWideMnc: true, cidBytes: 4 };
  return cellBytes === 12 ? { lacBytes: 4, cidBytes: 8 } : undefined;
}

/** Six steps, or percent. */
export function batteryOf(byte: number): number | null {
  return byte <= 6 ? Math.floor((byte * 100) / 6) : byte <= 100 ? byte : null;
}

/** Four steps, the level of the modem, or percent: to 0 to 31. */
export function signalOf(byte: number): number | null {
  if (byte <= 4) return Math.round((byte * 31) / 4);
  return byte <= 31 ? byte : byte <= 100 ? Math.round((byte * 31) / 100) : null;
}

export function readStatusFlags(status: number, report: Report): void {
  report.extra.status = status;
  report.extra.charging = (status & 4) !== 0;
}

/** Status, battery, signal, alarm and language. */
export function readStatusBlock(reader: ByteReader, report: Report): { status: number; alarmByte: number } {
  const status = reader.u8();
  readStatusFlags(status, report);
  report.metrics.bat = batteryOf(reader.u8());
  report.metrics.gsm_signal = signalOf(reader.u8());
  const alarmByte = reader.remaining > 0 ? reader.u8() : 0;
  return { status, alarmByte };
}

/** Of what is no alarm packet only alarms with a type of their own: makers use the byte for other things too. */
export function knownAlarm(status: number, alarmByte: number): RaisedAlarm | undefined {
  return [alarmOf(alarmByte), alarmOfStatus(status)].find((alarm) => alarm && alarm.type !== "custom");
}
