import type {
  AccessPoint,
  Alarm,
  AlarmType,
  CellTower,
  Fix,
  GpsPosition,
  TrackerMessage,
  Vitals,
} from "../tracker-message.ts";
import type { ByteReader } from "../wire/byte-reader.ts";
import { isOnEarth } from "../wire/coordinates.ts";

/** What one record of a frame says, gathered from its items. */
export interface DataRecord {
  timeMs: number | null;
  isBuffered: boolean;
  gps: GpsPosition | null;
  /** Of a beacon or an access point whose place the device knows; a fix by satellites is preferred. */
  place: GpsPosition | null;
  network: Fix["network"];
  cells: CellTower[];
  accessPoints: AccessPoint[];
  metrics: Vitals["metrics"];
  extra: Vitals["extra"];
  alarms: { type: AlarmType; code: string; timeMs: number | null }[];
  /** Readings that carry a time of their own. */
  readings: Vitals[];
}

export const emptyRecord = (): DataRecord => ({
  timeMs: null,
  isBuffered: false,
  gps: null,
  place: null,
  network: null,
  cells: [],
  accessPoints: [],
  metrics: {},
  extra: {},
  alarms: [],
  readings: [],
});

export function messagesOf(record: DataRecord): TrackerMessage[] {
  const { network, cells, accessPoints, isBuffered, metrics, extra } = record;
  const gps = record.gps ?? record.place;
  const deviceTimeMs = record.timeMs ?? record.alarms[0]?.timeMs ?? null;
  const messages: TrackerMessage[] = [];
  if (gps !== null || cells.length > 0 || accessPoints.length > 0) {
    messages.push({ kind: "fix", deviceTimeMs, gps, cells, accessPoints, network, isBuffered });
  }
  if (Object.keys(metrics).length + Object.keys(extra).length > 0) {
    messages.push({ kind: "vitals", deviceTimeMs, metrics, extra });
  }
  messages.push(...record.readings);
  for (const { type, code, timeMs } of record.alarms) {
    const alarm: Alarm = { kind: "alarm", type, code, deviceTimeMs: timeMs ?? deviceTimeMs };
    messages.push(alarm);
  }
  return messages;
}

/** Unix seconds, low byte first; zero is a clock that was never set. */
export function readTime(reader: ByteReader): number | null {
  const seconds = reader.u32le();
  return seconds === 0 ? null : seconds * 1000;
}

/** Null for what is nowhere. A beacon without coordinates has zeros. */
export function placeAt(lat: number, lng: number, altitudeM: number | null = null): GpsPosition | null {
  if (!isOnEarth(lat, lng) || (lat === 0 && lng === 0)) return null;
  return { lat, lng, altitudeM, speedKmh: null, heading: null, accuracyM: null, satellites: null };
}

/** A reading with a time of its own. The sensors write 0 and 1 when they could not measure. */
export function vitalReading(deviceTimeMs: number | null, key: "hr" | "spo2", value: number): Vitals {
  return { kind: "vitals", deviceTimeMs, metrics: { [key]: value > 1 ? value : null }, extra: {} };
}

/** Positive numbers are on no scale that is documented. */
export const dbmOf = (signal: number): number | null => (signal < 0 ? signal : null);

export const macOf = (bytes: Buffer): string => bytes.toString("hex").replace(/..(?=.)/g, "$&:");

/** On the wire, the addresses of beacons begin with their last byte. */
export const beaconId = (bytes: Buffer): string => Buffer.from(bytes).reverse().toString("hex");
