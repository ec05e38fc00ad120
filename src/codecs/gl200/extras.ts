import type { Vitals } from "../tracker-message.ts";
import { readNumber } from "../wire/numbers.ts";
import type { LocationGroup } from "./location.ts";
import { statusField } from "./power.ts";
import type { Report } from "./report.ts";

/** What reports say beside place and battery, for the telemetry history. Voltages are in volts. */
export function readExtras(report: Report, last: LocationGroup | undefined): Vitals["extra"] {
  const { word, fields } = report;
  switch (word) {
    case "STT":
      return /^[\dA-F]{2}$/i.test(fields[4] ?? "") ? { state: fields[4] } : {};
    case "NMR":
      return fields[5] === "0" || fields[5] === "1" ? { moving: fields[5] === "1" } : {};
    case "IGN":
    case "VGN":
      return { ignition: true };
    case "IGF":
    case "VGF":
      return { ignition: false };
    case "IGL":
      return /^[01][01]$/.test(fields[5] ?? "") ? { ignition: fields[5]?.endsWith("1") === true } : {};
    case "HBM":
      return harshBehaviour(fields[5]);
    case "DAR":
      return numberExtra("warning_type", fields[4]);
    case "BPL":
      return numberExtra("battery_v", fields[4]);
    case "TMP":
    case "TEM":
      return numberExtra("ambient_temperature", fields[5]);
    case "DAT":
      return fields[7] === undefined || fields[7] === "" ? {} : { data: printable(fields[7]) };
    case "DTT":
      return serialData(fields[8]);
    case "BID":
      return accessory(fields);
    case "FRI":
    case "ERI":
      return deviceStatus(report, last);
    default:
      return {};
  }
}

function numberExtra(name: string, field: string | undefined): Record<string, number> {
  const number = readNumber(field);
  return number === null ? {} : { [name]: number };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "").slice(0, 200);

/** The second digit of the report type; the first is the class of speed. */
function harshBehaviour(type: string | undefined): Record<string, string> {
  const kind = { "0": "braking", "3": "braking", "1": "acceleration", "4": "acceleration", "2": "cornering" }[
    /^\d\d$/.test(type ?? "") ? (type?.[1] ?? "") : ""
  ];
  return kind === undefined ? {} : { harsh_behaviour: kind };
}

/** Hexadecimal text of a device on the serial port; fuel sensors send `…COMB,0,<level>,…`. */
function serialData(hex: string | undefined): Vitals["extra"] {
  if (!/^([\da-f]{2})+$/i.test(hex ?? "")) return {};
  const text = Buffer.from(hex as string, "hex").toString("latin1");
  const fuel = text.includes("COMB") ? readNumber(text.split(",")[2]) : null;
  return fuel === null ? { data: printable(text) } : { fuel };
}

/** A sensor beside the device: the mask says which of name, address, state and voltage follow it. */
function accessory(fields: readonly string[]): Vitals["extra"] {
  const mask = Number.parseInt(fields[6] ?? "", 16);
  const at = 7 + ((mask >> 1) & 1);
  const millivolts = (mask >> 3) & 1 ? readNumber(fields[at]) : null;
  return millivolts === null ? {} : { accessory_v: millivolts / 1000 };
}

/** Vehicle trackers: inputs and outputs as bits, then what the mask of GTERI announces. */
function deviceStatus(report: Report, last: LocationGroup | undefined): Vitals["extra"] {
  const { word, fields } = report;
  const at = statusField(report, last);
  if (at === undefined) return {};
  const status = Number.parseInt(fields[at] as string, 16);
  const extra: Vitals["extra"] = {
    state: fields[at]?.slice(0, 2),
    inputs: (status >> 8) & 0xff,
    outputs: status & 0xff,
  };
  const mask = word === "ERI" && /^[\da-f]{8}$/i.test(fields[4] ?? "") ? Number.parseInt(fields[4] as string, 16) : 0;
  if (mask & 1) return { ...extra, ...hexExtra("fuel", fields[at + 2]) };
  if (!(mask & 2)) return extra;
  const count = readNumber(fields[at + 2]) ?? 0;
  for (let sensor = 1; sensor <= Math.min(count, 16); sensor++) {
    Object.assign(extra, sensorTemperature(sensor, fields[at + 2 + sensor * 3]));
  }
  return extra;
}

function hexExtra(name: string, field: string | undefined): Record<string, number> {
  return /^[\da-f]{1,6}$/i.test(field ?? "") ? { [name]: Number.parseInt(field as string, 16) } : {};
}

/** Sixteenths of a degree, 16 bits with a sign. */
function sensorTemperature(sensor: number, field: string | undefined): Record<string, number> {
  if (!/^[\da-f]{4}$/i.test(field ?? "")) return {};
  const raw = Number.parseInt(field as string, 16);
  return { [`sensor_${sensor}_temperature`]: (raw >= 0x8000 ? raw - 0x10000 : raw) / 16 };
}
