import type { AccessPoint, CellTower, GpsPosition, TrackerMessage, Vitals } from "../tracker-message.ts";
import { alarmOf } from "./values.ts";

/** What one request, or one of the locations in it, says. */
export interface Report {
  timeMs: number | null;
  gps: GpsPosition | null;
  cells: CellTower[];
  accessPoints: AccessPoint[];
  metrics: Vitals["metrics"];
  extra: Vitals["extra"];
  alarm: string | undefined;
}

export const emptyReport = (): Report => ({
  timeMs: null,
  gps: null,
  cells: [],
  accessPoints: [],
  metrics: {},
  extra: {},
  alarm: undefined,
});

const metricNames: Readonly<Record<string, keyof Vitals["metrics"]>> = {
  heartRate: "hr",
  hr: "hr",
  steps: "steps",
  spo2: "spo2",
  sbp: "sbp",
  dbp: "dbp",
  temp: "temp",
  glucose: "glucose",
  sat: "satellites",
  satellites: "satellites",
};

const maxExtras = 50;
const extraName = /^[A-Za-z_][\w.-]{0,49}$/;
/** Keys of the telemetry row that have another meaning, or that no object may have. */
const reserved: ReadonlySet<string> = new Set(["bat", "gsm_signal", "__proto__", "constructor", "prototype"]);

/** Anything else that an app or a script sends, for the telemetry history; names that mean a reading are one. */
export function addExtra(report: Report, name: string, value: unknown): void {
  const metric = Object.hasOwn(metricNames, name) ? metricNames[name] : undefined;
  if (metric !== undefined) {
    // A vital sign of zero is one that could not be measured; no steps are a number.
    if (typeof value === "number") report.metrics[metric] = value > 0 || metric === "steps" ? value : null;
    return;
  }
  if (!extraName.test(name) || reserved.has(name) || Object.keys(report.extra).length >= maxExtras) return;
  if (typeof value === "number" && Number.isFinite(value)) report.extra[name] = value;
  else if (typeof value === "boolean") report.extra[name] = value;
  else if (typeof value === "string") report.extra[name] = value.replace(/[\x00-\x1f\x7f]/g, "").slice(0, 200);
}

/** Several locations in one request were stored on the phone; the last one is the newest. */
export function messagesOf(report: Report, isBuffered: boolean): TrackerMessage[] {
  const { gps, cells, accessPoints, metrics, extra, timeMs: deviceTimeMs } = report;
  const [cell] = cells;
  const network = cell ? { mcc: cell.mcc, mnc: cell.mnc } : null;
  const messages: TrackerMessage[] = [];
  if (gps !== null || cells.length > 0 || accessPoints.length > 0) {
    messages.push({ kind: "fix", deviceTimeMs, gps, cells, accessPoints, network, isBuffered });
  }
  if (Object.keys(metrics).length + Object.keys(extra).length > 0) {
    messages.push({ kind: "vitals", deviceTimeMs, metrics, extra });
  }
  if (report.alarm !== undefined) messages.push({ kind: "alarm", deviceTimeMs, ...alarmOf(report.alarm) });
  return messages;
}
