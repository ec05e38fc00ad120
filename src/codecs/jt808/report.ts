import type { AccessPoint, AlarmType, CellTower, DeviceInfo, Vitals } from "../tracker-message.ts";

/** What the parts of a report add to it, piece by piece. */
export interface Report {
  metrics: Vitals["metrics"];
  extra: Record<string, unknown>;
  cells: CellTower[];
  accessPoints: AccessPoint[];
  alarms: ReportedAlarm[];
  info: Omit<DeviceInfo, "kind">;
  /** Of the clock, where the report names it. */
  clockOffsetMinutes: number | null;
}

export interface ReportedAlarm {
  type: AlarmType;
  code: string;
  /** True: reported once, when it happens. False: reported in every report as long as it lasts. */
  isMoment: boolean;
}

export const emptyReport = (): Report => ({
  metrics: {},
  extra: {},
  cells: [],
  accessPoints: [],
  alarms: [],
  info: {},
  clockOffsetMinutes: null,
});

/** Most terminals send 0 to 31, some a percentage. */
export function readSignal(value: number): number | null {
  if (value <= 31) return value;
  return value === 99 || value > 100 ? null : Math.round((value * 31) / 100);
}

export const readPercent = (value: number): number | null => (value <= 100 ? value : null);

/** Text as the database takes it. */
export const plainText = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .replace(/[^\x20-\x7e]/g, "")
    .trim();

/** Some Chinese operators use letters in them. */
export const isIccid = (digits: string): boolean => /^89[0-9a-f]{16,20}$/i.test(digits);
