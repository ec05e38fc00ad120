import type { Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { fromMinutes, readHeading } from "../wire/coordinates.ts";
import { readLockTime } from "./clock.ts";
import { reportMessages } from "./location.ts";
import { emptyReport, type Report, readPercent, readSignal } from "./report.ts";

const knotsToKmh = 1.852;
const charging: ReadonlySet<number> = new Set([0xaa, 0xab]);

/** Reports 5501 and 5502 of electronic locks: numbers in decimal digits, UTC. 5502 was stored without a network. */
export function readLockReport(body: Buffer, isBuffered: boolean, session: Pick<Session, "memory">): TrackerMessage[] {
  const reader = new ByteReader(body);
  const report = emptyReport();
  const deviceTimeMs = readLockTime(reader.bytes(6));
  const digits = reader.hex(9);
  const flags = Number.parseInt(digits.slice(17), 16);
  const lat = degrees(digits.slice(0, 8), 2, (flags & 2) === 0);
  const lng = degrees(digits.slice(8, 17), 3, (flags & 4) === 0);
  const speedKmh = Math.round(Number(reader.hex(1)) * knotsToKmh * 10) / 10;
  const heading = readHeading(reader.u8() * 2);
  report.metrics.gsm_signal = readSignal(reader.u8());
  report.metrics.satellites = reader.u8();
  report.extra.odometer_km = reader.u32();
  readBattery(reader.u8(), report);
  reader.skip(4 + 2 + 1);
  report.extra.lock_status = reader.u16();
  const alarm = reader.u16();
  if (alarm !== 0) report.alarms.push({ type: "custom", code: `lock-${alarm.toString(16)}`, isMoment: false });
  const altitudeM = readLockItems(reader, report);
  const isFix = (flags & 1) !== 0 && lat !== null && lng !== null;
  const gps = isFix ? { lat, lng, altitudeM, heading, accuracyM: null, satellites: null } : null;
  const speed = Number.isFinite(speedKmh) ? speedKmh : null;
  return reportMessages(report, gps && { ...gps, speedKmh: speed }, deviceTimeMs, isBuffered, session);
}

/** `ddmmmmmm` or `dddmmmmmm`: degrees and ten thousandths of a minute. Null: no digits. */
function degrees(digits: string, places: number, isNegative: boolean): number | null {
  if (!/^\d+$/.test(digits)) return null;
  return fromMinutes(Number(digits.slice(0, places)), Number(digits.slice(places)) / 10_000, isNegative);
}

function readBattery(value: number, { metrics, extra }: Report): void {
  if (charging.has(value)) extra.is_charging = true;
  else metrics.bat = readPercent(value);
}

/** Returns the altitude, where there is one. */
function readLockItems(reader: ByteReader, { extra }: Report): number | null {
  let altitudeM: number | null = null;
  while (reader.remaining >= 2) {
    const id = reader.u8();
    const length = reader.u8();
    if (length > reader.remaining) break;
    const value = reader.bytes(length);
    if (id === 0x02 && length === 2) altitudeM = value.readInt16BE(0);
    else if (id === 0x0c && length === 6)
      extra.tilt = [value.readInt16BE(0), value.readInt16BE(2), value.readInt16BE(4)];
  }
  return altitudeM;
}
