import type { AlarmType } from "../tracker-message.ts";

/** An alarm of a frame; `code` is the byte on the wire in hexadecimal. */
export interface RaisedAlarm {
  type: AlarmType;
  code: string;
}

const alarmTypes: Readonly<Record<number, AlarmType>> = {
  1: "sos",
  6: "overspeed",
  14: "low_battery",
  15: "low_battery",
  17: "power_off",
  19: "tamper",
  24: "tamper",
  25: "low_battery",
  35: "fall",
  37: "tamper",
  50: "tamper",
};

/** The types of bits 3 to 5 of the status byte. */
const statusTypes: Readonly<Record<number, AlarmType>> = {
  1: "custom",
  2: "custom",
  3: "low_battery",
  4: "sos",
  6: "custom",
  7: "tamper",
};

export const hexCode = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0");

/** The alarm byte; what fits no type is `custom`. Zero is no alarm. */
export function alarmOf(byte: number): RaisedAlarm | undefined {
  return byte === 0 ? undefined : { type: alarmTypes[byte] ?? "custom", code: hexCode(byte) };
}

export function alarmOfStatus(status: number): RaisedAlarm | undefined {
  const value = (status >> 3) & 7;
  const type = statusTypes[value];
  return type === undefined ? undefined : { type, code: `S${value}` };
}

/** An alarm packet says it in its alarm byte, and most units also in the status; only one of both counts. */
export const alarmOfBoth = (status: number, byte: number): RaisedAlarm | undefined =>
  alarmOf(byte) ?? alarmOfStatus(status);
