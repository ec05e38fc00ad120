import type { DeviceInfo, Vitals } from "../tracker-message.ts";
import { readNumber, readWholeNumber } from "../wire/numbers.ts";
import { isPersonal } from "./power.ts";
import { type Report, readPercent, readTime } from "./report.ts";

/**
 * GTINF: `state,iccid,signal,error rate,external power,external voltage,,battery voltage,charging,…,last fix time,battery`.
 * What follows the charging differs by model and is found from the time of the last fix.
 */
export function readInfo({ fields: all, version }: Report) {
  // Models with a connection to the vehicle put its number before the name.
  const fields = /^[\dA-Z]{17}$/.test(all[3] ?? "") ? [...all.slice(0, 3), ...all.slice(4)] : all;
  const metrics: Vitals["metrics"] = { gsm_signal: readSignal(fields[6]) };
  const lastFixAt = fields.findIndex((field, at) => at > 12 && at < fields.length - 2 && readTime(field) !== null);
  if (isPersonal(version) && lastFixAt !== -1) {
    const battery = readPercent(fields[lastFixAt + 1]);
    if (battery !== null) metrics.bat = battery;
  }
  return { metrics, extra: readExtra(fields, lastFixAt, version), info: readIccid(fields[5]) };
}

function readSignal(field: string | undefined): number | null {
  const signal = readWholeNumber(field);
  return signal === null || signal < 0 || signal > 31 ? null : signal;
}

function readExtra(fields: readonly string[], lastFixAt: number, version: string): Vitals["extra"] {
  const external = fields[9] ?? "";
  const externalNumber = readNumber(external);
  const batteryV = readNumber(fields[11]);
  const extra: Vitals["extra"] = {};
  if (/^[\dA-F]{2}$/i.test(fields[4] ?? "")) extra.state = fields[4];
  if (externalNumber !== null && external.includes(".")) extra.odometer_km = externalNumber;
  else if (externalNumber !== null && externalNumber > 0) extra.external_v = externalNumber / 1000;
  if (batteryV !== null && batteryV > 0 && batteryV < 10) extra.battery_v = batteryV;
  if (fields[12] === "0" || fields[12] === "1") extra.charging = fields[12] === "1";
  if (version.startsWith("6E") && lastFixAt !== -1) {
    for (const input of [1, 2, 3]) {
      const volts = readNumber(fields[lastFixAt + 1 + input]);
      if (volts !== null) extra[`analog_${input}`] = volts;
    }
  }
  return extra;
}

/** Numbers of odd length are filled up with an F. */
function readIccid(field: string | undefined): DeviceInfo | undefined {
  const iccid = (field ?? "").replace(/f$/i, "");
  return /^\d{18,22}$/.test(iccid) ? { kind: "info", iccid } : undefined;
}
