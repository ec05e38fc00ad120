import type { Alarm, AlarmType, Fix, GpsPosition, Vitals } from "../tracker-message.ts";
import { readHeading } from "../wire/coordinates.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { readNetworks } from "./networks.ts";
import type { WatchTraits } from "./traits.ts";

/** Positions (UD, WT) and alarms (AL) share one row of fields; each is missing on some unit. */
export interface Position {
  fix: Fix;
  vitals: Vitals;
  /** Hexadecimal, 4 or 8 digits, as sent. */
  status: string;
}

/** Undefined when there is not even a place for coordinates. */
export function readPosition(fields: readonly string[], isBuffered: boolean): Position | undefined {
  if (fields.length < 7) return undefined;
  const deviceTimeMs = readTime(fields[0], fields[1]);
  const { network, cells, accessPoints, accuracyM } = readNetworks(fields.slice(16));
  const status = (fields[15] ?? "").trim();
  return {
    fix: { kind: "fix", deviceTimeMs, gps: readGps(fields, accuracyM), cells, accessPoints, network, isBuffered },
    vitals: {
      kind: "vitals",
      deviceTimeMs,
      metrics: {
        bat: readNumber(fields[12]),
        steps: readNumber(fields[13]),
        gsm_signal: gsmLevel(readNumber(fields[11])),
        satellites: readNumber(fields[10]),
      },
      extra: { ...numberExtra("rolls", fields[14]), ...(/^[\da-f]{1,8}$/i.test(status) ? { status } : {}) },
    },
    status,
  };
}

export function numberExtra(name: string, field: string | undefined): Record<string, number> {
  const number = readNumber(field);
  return number === null ? {} : { [name]: number };
}

/** `ddmmyy` and `hhmmss`, in UTC. */
function readTime(date: string | undefined, time: string | undefined): number | null {
  const digits = /^(\d\d)(\d\d)(\d\d) (\d\d)(\d\d)(\d\d)$/.exec(`${date?.trim()} ${time?.trim()}`);
  if (digits === null) return null;
  const [day, month, year, hour, minute, second] = digits.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const timeMs = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  const isRealDay = new Date(timeMs).getUTCMonth() === month - 1 && new Date(timeMs).getUTCDate() === day;
  return isRealDay ? timeMs : null;
}

/** Frames marked `V` repeat the last coordinates or zeros: no fix, whatever the numbers. */
function readGps(fields: readonly string[], accuracyM: number | null): GpsPosition | null {
  const lat = readCoordinate(fields[3], fields[4], "S");
  const lng = readCoordinate(fields[5], fields[6], "W");
  if (fields[2]?.trim() !== "A" || lat === null || lng === null) return null;
  const altitudeM = readNumber(fields[9]);
  return {
    lat,
    lng,
    altitudeM: altitudeM === -1 ? null : altitudeM,
    speedKmh: atLeastZero(readNumber(fields[7])),
    heading: readHeading(readNumber(fields[8])),
    accuracyM,
    satellites: atLeastZero(readWholeNumber(fields[10])),
  };
}

const atLeastZero = (number: number | null): number | null => (number === null || number < 0 ? null : number);

/** Some units write a sign and a hemisphere: south and west are negative in any case, otherwise the sign counts. */
function readCoordinate(degrees: string | undefined, hemisphere: string | undefined, negative: "S" | "W") {
  const number = readNumber(degrees);
  return number === null || hemisphere?.trim().toUpperCase() !== negative ? number : -Math.abs(number) + 0;
}

function gsmLevel(percent: number | null): number | null {
  return percent === null || percent < 0 || percent > 100 ? null : Math.round((percent * 31) / 100);
}

const alarmBits: readonly (readonly [bit: number, type: AlarmType])[] = [
  [16, "sos"],
  [17, "low_battery"],
  // The watch's own fences, which the service does not set.
  [18, "custom"],
  [19, "custom"],
  [20, "not_worn"],
  [21, "fall"],
];

/** One alarm for each bit of the high half; the code is the number of the bit, or the whole status when none is known. */
export function readAlarms(status: string, deviceTimeMs: number | null, traits: Partial<WatchTraits>): Alarm[] {
  const bits = /^[\da-f]{1,8}$/i.test(status) ? Number.parseInt(status, 16) : 0;
  // Makers disagree on bit 22: a fall, or an abnormal heart rate, for which there is no type.
  const bit22: AlarmType = traits.alarm_bit_22 === "heart_rate" ? "custom" : "fall";
  const alarms = [...alarmBits, [22, bit22] as const]
    .filter(([bit]) => (bits >>> bit) & 1)
    .map(([bit, type]): Alarm => ({ kind: "alarm", type, code: String(bit), deviceTimeMs }));
  return alarms.length > 0 ? alarms : [{ kind: "alarm", type: "custom", code: status.slice(0, 32), deviceTimeMs }];
}
