import type { Session } from "../protocol-definition.ts";
import type { AlarmType } from "../tracker-message.ts";
import type { ReportedAlarm } from "./report.ts";

/** The alarm word of a location report, by bit. Bits that are not named say nothing that a partner could use. */
const alarmBits: ReadonlyMap<number, AlarmType> = new Map<number, AlarmType>([
  [0, "sos"],
  [1, "overspeed"],
  [2, "custom"],
  [4, "custom"],
  [5, "custom"],
  [6, "custom"],
  [7, "low_battery"],
  [8, "power_off"],
  [9, "custom"],
  [10, "custom"],
  [11, "custom"],
  [15, "custom"],
  [16, "tamper"],
  [17, "tamper"],
  [18, "low_battery"],
  [20, "custom"],
  [28, "custom"],
  [29, "custom"],
  [30, "custom"],
]);

export function readAlarmWord(word: number): ReportedAlarm[] {
  const alarms: ReportedAlarm[] = [];
  for (const [bit, type] of alarmBits) {
    if ((word & (1 << bit)) !== 0) alarms.push({ type, code: String(bit), isMoment: false });
  }
  return alarms;
}

/** An emergency is raised every time; the service itself raises a low battery only once. */
const unfilteredTypes: ReadonlySet<AlarmType> = new Set(["sos", "fall", "low_battery"]);

/**
 * A terminal repeats an alarm in every report for as long as its cause lasts: an hour of speeding is one alarm, not sixty.
 * What the last report of the connection already said is left out. Stored reports are of another time and stand alone.
 */
export function newAlarms(
  alarms: readonly ReportedAlarm[],
  isBuffered: boolean,
  { memory }: Pick<Session, "memory">,
): ReportedAlarm[] {
  if (isBuffered) return [...alarms];
  const before = new Set((memory.get("alarms") ?? "").split(" "));
  memory.set("alarms", alarms.flatMap(({ code, isMoment }) => (isMoment ? [] : [code])).join(" "));
  return alarms.filter(({ type, code, isMoment }) => isMoment || unfilteredTypes.has(type) || !before.has(code));
}
