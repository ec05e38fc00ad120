import type { Alarm } from "../../codecs/tracker-message.ts";
import type { RecentAlarm } from "../device-memory.ts";

const collapseMs = 60_000;

/** Alarms without a type of their own are distinguished by their code. */
export const alarmKey = (type: string, code: string): string => (type === "custom" ? `custom:${code}` : type);

/**
 * Repeated packets of one alarm are one event (section 7): those received within a minute of the first one, whose times lie
 * within a minute of it. Undefined: the alarm is a repetition.
 */
export function withAlarm(
  recent: readonly RecentAlarm[],
  alarm: Alarm,
  tsMs: number,
  receivedAtMs: number,
): readonly RecentAlarm[] | undefined {
  const key = alarmKey(alarm.type, alarm.code);
  const current = recent.filter((one) => receivedAtMs - one.receivedAtMs <= collapseMs);
  if (current.some((one) => one.key === key && Math.abs(one.tsMs - tsMs) <= collapseMs)) return undefined;
  return [...current, { key, receivedAtMs, tsMs }];
}
