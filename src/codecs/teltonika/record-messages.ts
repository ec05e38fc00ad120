import type { Alarm, AlarmType, CellTower, GpsPosition, TrackerMessage, Vitals } from "../tracker-message.ts";
import { BEACONS, eyeSensorOf, readBeacons } from "./beacons.ts";

export type IoValue = number | string;

export interface AvlRecord {
  timeMs: number;
  /** 0 low, 1 high, 2 panic. */
  priority: number;
  gps: GpsPosition | null;
  satellites: number | null;
  /** The value whose change caused the record; 0: none, the time had come. */
  eventId: number;
  io: ReadonlyMap<number, IoValue>;
  cell?: Pick<CellTower, "lac" | "cid">;
}

/** Of the personal trackers; crash is that of vehicles. They are in a record only when they happen. */
const alarmIds: ReadonlyMap<number, AlarmType> = new Map<number, AlarmType>([
  [222, "sos"],
  [236, "sos"],
  [242, "fall"],
  [247, "custom"],
]);

const signed16 = (value: number): number => (value & 0x8000 ? value - 0x10000 : value);
const isTrue = (value: number): boolean => value !== 0;

/** Ids with a meaning that all models share. */
const namedIds: ReadonlyMap<number, readonly [name: string, convert: (value: number) => unknown]> = new Map<
  number,
  readonly [string, (value: number) => unknown]
>([
  [16, ["odometer_m", (value) => value]],
  [66, ["power_v", (value) => value / 1000]],
  [67, ["battery_v", (value) => value / 1000]],
  [68, ["battery_a", (value) => signed16(value) / 1000]],
  [181, ["pdop", (value) => value / 10]],
  [182, ["hdop", (value) => value / 10]],
  [199, ["trip_m", (value) => value]],
  [239, ["ignition", isTrue]],
  [240, ["is_moving", isTrue]],
]);

const GSM = 21;
const BATTERY = 113;
const networkIds: ReadonlySet<number> = new Set([205, 206, 241, 636]);

export function recordMessages(record: AvlRecord): TrackerMessage[] {
  const { timeMs, gps, satellites, eventId, io } = record;
  // A clock that was never set counts from 1970.
  const deviceTimeMs = Number.isSafeInteger(timeMs) && timeMs > 0 ? timeMs : null;
  const metrics: Vitals["metrics"] = satellites === null ? {} : { satellites };
  const extra: Record<string, unknown> = {};
  const raw: Record<string, IoValue> = {};
  const alarms: Alarm[] = [];
  for (const [id, value] of io) {
    const named = typeof value === "number" ? namedIds.get(id) : undefined;
    const alarm = alarmIds.get(id);
    if (id === GSM && typeof value === "number") metrics.gsm_signal = signalOf(value);
    else if (id === BATTERY && typeof value === "number" && value <= 100) metrics.bat = value;
    else if (id === BEACONS && typeof value === "string") extra.tags = readBeacons(value);
    else if (eyeSensorOf(id) !== undefined && typeof value === "number") {
      extra[`eye_${eyeSensorOf(id)}_temperature_c`] = signed16(value) / 100;
    } else if (named) extra[named[0]] = named[1](value as number);
    else if (!networkIds.has(id)) raw[id] = value;
    if (alarm && value !== 0) alarms.push({ kind: "alarm", type: alarm, code: String(id), deviceTimeMs });
  }
  if (eventId !== 0) extra.event_id = eventId;
  if (Object.keys(raw).length > 0) extra.io = raw;
  const network = networkOf(io.get(241));
  const cells = cellsOf(record, network);
  return [
    { kind: "fix", deviceTimeMs, gps, cells, accessPoints: [], network, isBuffered: false },
    { kind: "vitals", deviceTimeMs, metrics, extra },
    ...alarms,
  ];
}

/** One to five bars, spread over 0 to 31; none is none. */
const signalOf = (bars: number): number | null => (bars > 5 ? null : Math.round((Math.max(0, bars - 1) * 31) / 4));

/** The operator's code in decimal: three digits of country, two or three of network. */
function networkOf(code: IoValue | undefined): { mcc: number; mnc: number } | null {
  const digits = String(code ?? "");
  if (!/^[2-7]\d{4,5}$/.test(digits)) return null;
  return { mcc: Number(digits.slice(0, 3)), mnc: Number(digits.slice(3)) };
}

/** 636 is the wider number of LTE cells, and wins over 205. */
function cellsOf({ io, cell }: AvlRecord, network: { mcc: number; mnc: number } | null): CellTower[] {
  const lac = cell?.lac ?? io.get(206);
  const cid = cell?.cid ?? io.get(636) ?? io.get(205);
  if (network === null || typeof lac !== "number" || typeof cid !== "number" || cid === 0) return [];
  return [{ ...network, lac, cid, signalDbm: null }];
}
