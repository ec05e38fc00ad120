import type { Session } from "../protocol-definition.ts";
import type { Alarm, Fix, GpsPosition, TrackerMessage, Vitals } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromParts, readHeading } from "../wire/coordinates.ts";
import { newAlarms, readAlarmWord } from "./alarms.ts";
import { readTime } from "./clock.ts";
import { readItems } from "./items.ts";
import { emptyReport, type Report, readSignal } from "./report.ts";
import type { Jt808Traits } from "./traits.ts";

export interface Place {
  gps: GpsPosition | null;
  timeBytes: Buffer;
}

/** The standard's clock. */
const defaultClockOffset = 480;

export const clockOffsetOf = ({ device }: Session<Jt808Traits>): number =>
  device?.traits.clock_offset_minutes ?? defaultClockOffset;

const isSet = (word: number, bit: number): boolean => (word & (1 << bit)) !== 0;

/** Status word, coordinates; latitude and longitude are without sign. */
export function readCoordinates(reader: ByteReader, report: Report): { lat: number; lng: number } | null {
  const status = reader.u32();
  const lat = fromParts(reader.u32(), 1e6);
  const lng = fromParts(reader.u32(), 1e6);
  report.extra.ignition = isSet(status, 0);
  if (isSet(status, 10)) report.extra.is_blocked = true;
  if (isSet(status, 26)) report.extra.is_charging = true;
  if ((status & 0x3e000) !== 0) report.extra.is_door_open = true;
  // Adding zero turns a negative zero into a plain one.
  return isSet(status, 1)
    ? { lat: (isSet(status, 2) ? -lat : lat) + 0, lng: (isSet(status, 3) ? -lng : lng) + 0 }
    : null;
}

/** From the status word to the time. */
export function readPlace(reader: ByteReader, report: Report): Place {
  const place = readCoordinates(reader, report);
  const altitudeM = reader.i16();
  const speedKmh = reader.u16() / 10;
  const heading = readHeading(reader.u16());
  const gps = place && { ...place, altitudeM, speedKmh, heading, accuracyM: null, satellites: null };
  return { gps, timeBytes: reader.bytes(6) };
}

/** Alarm word, place and items: the body of 0200, and of every record of a batch. */
export function readLocation(body: Buffer, isBuffered: boolean, session: Session<Jt808Traits>): TrackerMessage[] {
  const reader = new ByteReader(body);
  const report = emptyReport();
  report.alarms.push(...readAlarmWord(reader.u32()));
  const place = readPlace(reader, report);
  if (reader.remaining === 18) readOldTail(reader, report);
  else readItems(reader.rest(), report);
  return messagesOf(report, place, isBuffered, session);
}

/** A fixed tail of early terminals: range, mileage, voltage, area, signal, reserve. */
function readOldTail(reader: ByteReader, { metrics, extra }: Report): void {
  const tail = reader.rest();
  // An item that is as long begins with a number and its own length.
  if (tail[1] === 16) return;
  extra.odometer_km = tail.readUInt32BE(4);
  extra.battery_v = tail.readUInt16BE(8) / 10;
  metrics.gsm_signal = readSignal(tail.readUInt8(14));
}

export function messagesOf(
  report: Report,
  { gps, timeBytes }: Place,
  isBuffered: boolean,
  session: Session<Jt808Traits>,
): TrackerMessage[] {
  const deviceTimeMs = readTime(timeBytes, report.clockOffsetMinutes ?? clockOffsetOf(session));
  return reportMessages(report, gps, deviceTimeMs, isBuffered, session);
}

export function reportMessages(
  report: Report,
  gps: GpsPosition | null,
  deviceTimeMs: number | null,
  isBuffered: boolean,
  session: Pick<Session, "memory">,
): TrackerMessage[] {
  const { metrics, extra, cells, accessPoints, info } = report;
  const [network = null] = cells.map(({ mcc, mnc }) => ({ mcc, mnc }));
  const withSatellites = gps && { ...gps, satellites: metrics.satellites ?? null };
  const fix: Fix = { kind: "fix", deviceTimeMs, gps: withSatellites, cells, accessPoints, network, isBuffered };
  const vitals: Vitals = { kind: "vitals", deviceTimeMs, metrics, extra };
  const alarms = newAlarms(report.alarms, isBuffered, session).map(
    ({ type, code }): Alarm => ({ kind: "alarm", type, code, deviceTimeMs }),
  );
  return [fix, vitals, ...alarms, ...(Object.keys(info).length > 0 ? [{ kind: "info" as const, ...info }] : [])];
}
