import { MalformedFrame } from "../malformed-frame.ts";
import type { Alarm, AlarmType, TrackerMessage } from "../tracker-message.ts";
import { type Dialect, dialectOf, type IwFrame, type IwSession, vitals, wholeNumberOf } from "./fields.ts";
import { type PositionReport, readPositionReport } from "./position.ts";
import { unixTimeOf } from "./time.ts";

const COMMON: Readonly<Record<string, AlarmType>> = {
  "01": "sos",
  "02": "low_battery",
  "03": "not_worn",
  "04": "not_worn",
  "06": "fall",
};

/** What AP10 codes mean; a code that is not listed is `custom`. */
const ALARMS: Readonly<Record<Dialect, Readonly<Record<string, AlarmType>>>> = {
  A: { ...COMMON, "05": "fall" },
  B: { ...COMMON, "05": "tamper", "14": "inactivity", "19": "power_off" },
  C: COMMON,
};

/** AP10: a position report with an alarm code after the cell. Code 00 is a report without an alarm. */
export function readAlarm(frame: IwFrame, session: IwSession): TrackerMessage[] {
  const report = reportOf(frame, session);
  const code = report?.more[0]?.trim().padStart(2, "0") ?? frame.fields[5]?.trim() ?? "";
  if (!/^\d{2}$/.test(code)) throw new MalformedFrame("bad alarm code");
  const deviceTimeMs = report?.fix.deviceTimeMs ?? null;
  const messages: TrackerMessage[] = report ? [report.fix, vitals(deviceTimeMs, report.metrics)] : [];
  if (code !== "00") messages.push(alarm(ALARMS[dialectOf(session)][code] ?? "custom", code, deviceTimeMs));
  return messages.length === 0 ? [{ kind: "heartbeat" }] : messages;
}

/** Undefined for a position that cannot be read: a call for help is not lost for it. */
function reportOf(frame: IwFrame, session: IwSession): PositionReport | undefined {
  try {
    return readPositionReport(frame, session);
  } catch (error) {
    if (error instanceof MalformedFrame) return undefined;
    throw error;
  }
}

/** AP04 of kids' watches. */
export function readLowBattery({ fields }: IwFrame): TrackerMessage[] {
  const battery = wholeNumberOf(fields[0]);
  return [vitals(null, { bat: battery === 0 ? null : battery }), alarm("low_battery", "AP04", null)];
}

/** APFD: IMEI and Unix time. */
export function readFall({ fields }: IwFrame): TrackerMessage[] {
  return [alarm("fall", "APFD", unixTimeOf(fields[1]))];
}

/** APWR: IMEI, 1 worn or 0, Unix time in milliseconds. */
export function readWearing({ fields }: IwFrame): TrackerMessage[] {
  const state = fields[1]?.trim();
  if (state !== "0" && state !== "1") throw new MalformedFrame("bad wearing state");
  const deviceTimeMs = unixTimeOf(fields[2]);
  const isWorn = state === "1";
  const worn = vitals(deviceTimeMs, {}, { worn: isWorn });
  return isWorn ? [worn] : [worn, alarm("not_worn", "APWR", deviceTimeMs)];
}

function alarm(type: AlarmType, code: string, deviceTimeMs: number | null): Alarm {
  return { kind: "alarm", type, code, deviceTimeMs };
}
