import { rulesOf } from "../../codecs/protocols.ts";
import type { CommandType } from "../catalog/capability.ts";
import { type SettingName, settingCommands, settingNames } from "../devices/device-settings.ts";

/** What is decided for the types of commands beside their parameters (sections 3.3, 8.2 and 8.3). */

export type Params = Readonly<Record<string, unknown>>;

const writtenOnce: readonly string[] = [
  "send_message",
  "restart",
  "power_off",
  "factory_reset",
] satisfies CommandType[];

/** Without an acknowledgement it is written a second time, if the device is connected. */
export const isRepeatable = (type: string): boolean => !writtenOnce.includes(type);

/** Parameters with phone numbers, texts or health values: the audit log does not show them. */
export const privateTypes: readonly string[] = [
  "send_message",
  "set_sos_numbers",
  "set_contacts",
  "calibrate_bp",
] satisfies CommandType[];

const settingByType = new Map<string, SettingName>(settingNames.map((name) => [settingCommands[name], name]));

/** The setting that a command moves, and the value it gives it. */
export function settingOf(type: string, params: Params): { setting: SettingName; value: unknown } | undefined {
  const setting = settingByType.get(type);
  return setting && { setting, value: settingValue(setting, params) };
}

function settingValue(setting: SettingName, params: Params): unknown {
  switch (setting) {
    case "working_mode":
      return params.mode;
    case "report_interval_seconds":
      return params.interval_seconds;
    case "timezone":
      return params.timezone ?? params.utc_offset_minutes;
    case "sos_numbers":
      return params.numbers;
    case "contacts":
      return params.contacts;
    case "fall_detection":
      return { enabled: params.enabled, sensitivity: params.sensitivity ?? 2 };
    case "heart_rate_interval_minutes":
    case "temperature_interval_minutes":
      return params.enabled === true ? params.interval_minutes : 0;
  }
}

/** How often the device reports once it has acknowledged the command; undefined when the command says nothing about it. */
export function reportIntervalOf(type: string, params: Params, protocol: string): number | undefined {
  const { interval_seconds, mode } = params;
  const isGiven = type === "set_report_interval" || (type === "set_working_mode" && mode === "custom");
  if (isGiven) return typeof interval_seconds === "number" ? interval_seconds : undefined;
  if (type !== "set_working_mode") return undefined;
  const modes: Readonly<Record<string, number>> = rulesOf(protocol).modeSeconds;
  return modes[String(mode)];
}

/** The readings a measurement is for. The metrics are all in one row of telemetry. */
const measuredMetrics: Readonly<Record<string, readonly string[]>> = {
  test_heart_rate: ["hr"],
  test_blood_pressure: ["sbp", "dbp"],
  test_temperature: ["temp"],
  test_blood_oxygen: ["spo2"],
} satisfies Partial<Record<CommandType, readonly string[]>>;

export const metricsOf = (type: string): readonly string[] | undefined =>
  Object.hasOwn(measuredMetrics, type) ? measuredMetrics[type] : undefined;

/** How long the reading of a measurement is waited for, from its acknowledgement on. */
export const readingWaitMs = 120_000;
