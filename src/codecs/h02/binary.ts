import { MalformedFrame } from "../malformed-frame.ts";
import type { SessionMemory } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { fromMinutes, isOnEarth } from "../wire/coordinates.ts";
import { readAlarms } from "./alarms.ts";
import { batteryOf, kmhOfKnots, readTime } from "./fields.ts";
import { clockOffset } from "./framing.ts";
import { messagesOf } from "./positions.ts";

export interface BinaryFrame {
  id: string;
  read(memory: SessionMemory): TrackerMessage[];
}

/** Everything but battery and status is digits; their half bytes are those of the hexadecimal text. */
export function openBinary(raw: Buffer): BinaryFrame {
  const clock = clockOffset(raw);
  if (clock === undefined) throw new MalformedFrame("binary frame without a time");
  const hex = raw.toString("hex");
  const id = clock === 6 ? hex.slice(2, 12) : hex.slice(2, 17);
  if (!/^\d+$/.test(id)) throw new MalformedFrame("binary frame without an id");
  // A frame that begins with X repeats what was sent before.
  return { id, read: (memory) => (raw[0] === 0x58 ? [{ kind: "heartbeat" }] : readBody(raw, hex, clock, memory)) };
}

function readBody(raw: Buffer, hex: string, clock: number, memory: SessionMemory): TrackerMessage[] {
  const digits = (from: number, count: number): string => hex.slice(2 * clock + from, 2 * clock + from + count);
  const deviceTimeMs = readTime(digits(0, 6), digits(6, 6));
  const [latitude, longitude] = [digits(12, 8), digits(22, 9)];
  const battery = raw[clock + 10] ?? 0;
  const flags = Number.parseInt(digits(31, 1), 16);
  const [speed, course] = [digits(32, 3), digits(35, 3)];
  const status = digits(38, 8);
  if (status.length < 8) throw new MalformedFrame("binary frame that ends too early");
  const lat = degreesOf(latitude, 2, (flags & 4) === 0);
  const lng = degreesOf(longitude, 3, (flags & 8) === 0);
  const isFix = (flags & 2) !== 0 && lat !== null && lng !== null && isOnEarth(lat, lng);
  return messagesOf({
    deviceTimeMs,
    gps: isFix
      ? {
          lat,
          lng,
          altitudeM: null,
          speedKmh: kmhOfKnots(numberOf(speed)),
          heading: headingOf(numberOf(course)),
          accuracyM: null,
          satellites: null,
        }
      : null,
    cells: [],
    metrics: { bat: batteryOf(battery) },
    extra: { status: status.toUpperCase() },
    alarms: readAlarms(status, deviceTimeMs, memory),
  });
}

const numberOf = (digits: string): number | null => (/^\d+$/.test(digits) ? Number(digits) : null);

const headingOf = (course: number | null): number | null => (course === null || course > 360 ? null : course % 360);

/** Degrees, minutes and four decimals of them. */
function degreesOf(digits: string, degreeDigits: number, isNegative: boolean): number | null {
  if (!/^\d+$/.test(digits)) return null;
  const minutes = Number(digits.slice(degreeDigits)) / 10_000;
  return minutes < 60 ? fromMinutes(Number(digits.slice(0, degreeDigits)), minutes, isNegative) : null;
}
