import type { Alarm, AlarmType } from "../tracker-message.ts";
import type { Report } from "./report.ts";

/** Reports that are an alarm by their name alone. The device's own fences, which the service does not set, are `custom`. */
const alarmWords: Readonly<Record<string, AlarmType>> = {
  SOS: "sos",
  BPL: "low_battery",
  PNA: "power_on",
  PFA: "power_off",
  SPD: "overspeed",
  EPN: "charging_started",
  MPN: "charging_started",
  BTC: "charging_started",
  EPF: "charging_stopped",
  MPF: "charging_stopped",
  STC: "charging_stopped",
  GEO: "custom",
  GIN: "custom",
  GOT: "custom",
  GES: "custom",
  SWG: "custom",
  TMP: "custom",
  TEM: "custom",
  JDR: "custom",
  JDS: "custom",
  TOW: "custom",
  HBM: "custom",
  DAR: "custom",
  CRA: "custom",
};

/** Undefined: the report is no alarm. */
export function readAlarm({ word, fields }: Report, deviceTimeMs: number | null): Alarm | undefined {
  // 1 says that the device moves again.
  const isStill = word === "NMR" && fields[5] === "0";
  const type = isStill ? "inactivity" : Object.hasOwn(alarmWords, word) ? alarmWords[word] : undefined;
  return type && { kind: "alarm", type, code: `GT${word}`, deviceTimeMs };
}
