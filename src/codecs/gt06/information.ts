import type { DeviceInfo } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { hexCode } from "./alarms.ts";
import { gpsOf, readCell, timeOf } from "./blocks.ts";
import type { Report } from "./report.ts";

/** Frames about the unit itself, and those that are lists of parts. They may name the SIM or the firmware. */
export type InformationReader = (content: Buffer, report: Report, zoneMinutes: number) => DeviceInfo | undefined;

/** Digits of a number that is filled up with F. */
const digitsOf = (hex: string): string | undefined => {
  const digits = hex.replace(/f+$/i, "");
  return /^\d{6,}$/.test(digits) && !/^0+$/.test(digits) ? digits : undefined;
};

function simInfo(imsi: string | undefined, iccid: string | undefined): DeviceInfo | undefined {
  if (imsi === undefined && iccid === undefined) return undefined;
  return { kind: "info", ...(imsi !== undefined && { imsi }), ...(iccid !== undefined && { iccid }) };
}

/** Without the zero that fills up fifteen digits. */
const imsiOf = (hex: string): string | undefined => digitsOf(hex)?.replace(/^0(?=\d{15}$)/, "");

/** Short 94. */
export const readSupply: InformationReader = (content, report) => {
  report.extra.power_v = new ByteReader(content).u16() / 100;
  return undefined;
};

/** Long 94, by its first byte. */
export const readInformation: InformationReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  const kind = reader.u8();
  switch (kind) {
    case 0x00:
      report.extra.power_v = reader.u16() / 100;
      return undefined;
    case 0x04:
      report.extra.alarm_settings = settingsOf(reader.text(reader.remaining, "ascii"));
      return undefined;
    case 0x05: {
      if (reader.remaining >= 7) report.deviceTimeMs = timeOf(reader.bytes(6), zone);
      report.extra.inputs = reader.u8();
      return undefined;
    }
    case 0x0a:
      reader.skip(8);
      return simInfo(imsiOf(reader.hex(8)), digitsOf(reader.hex(10)));
    case 0x0b:
      if (reader.remaining === 1) report.extra.network_technology = reader.u8() > 0 ? "4G" : "2G";
      else report.extra.power_v = reader.u16() / 100;
      return undefined;
    case 0x0d:
      report.extra.sensor = reader.text(Math.min(reader.remaining, 200), "ascii").replace(/^[^!]{6}(?=!)/s, "");
      return undefined;
    case 0x1b:
      report.extra.card = reader.hex(Math.min(reader.remaining, 50));
      return undefined;
    case 0x1e:
      report.extra.ambient_temperature = reader.i32() / 10;
      report.extra.humidity = reader.i32() / 10;
      return undefined;
    default:
      report.extra.information = hexCode(kind);
      return undefined;
  }
};

/** `ALM1=C5;STA1=C0;…`; phone numbers and fences that stand beside them are not kept. */
function settingsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(ALM\d|STA\d|DYD)=([0-9A-F]{1,8})(?=;|$)/g)];
  return Object.fromEntries(pairs.map(([, name, value]) => [name as string, value as string]));
}

const eventTypes: Readonly<Record<number, "low_battery" | "custom" | "tamper" | undefined>> = {
  17: "low_battery",
  18: "custom",
  19: "custom",
  20: "tamper",
};

/** 70: a list of number, length and value. */
export const readModules: InformationReader = (content, report) => {
  const reader = new ByteReader(content);
  let [imsi, iccid]: (string | undefined)[] = [];
  while (reader.remaining >= 4) {
    const module = reader.u16();
    const value = new ByteReader(reader.bytes(reader.u16()));
    if (module === 0x02) imsi = imsiOf(value.hex(8));
    else if (module === 0x03) iccid = digitsOf(value.hex(10));
    else readModule(module, value, report);
  }
  return simInfo(imsi, iccid);
};

function readModule(module: number, value: ByteReader, report: Report): void {
  switch (module) {
    case 0x09:
      report.metrics.satellites = value.u8();
      break;
    case 0x11:
      readModuleCell(value, report, () => value.u24());
      break;
    case 0x18:
      report.extra.battery_v = value.u16() / 100;
      break;
    case 0x2b: {
      const event = value.u8();
      const type = eventTypes[event];
      report.extra.event = event;
      if (type) report.alarm = { type, code: hexCode(event) };
      break;
    }
    case 0x2e:
      report.extra.odometer = value.u32le();
      break;
    case 0x33: {
      const seconds = value.u32();
      report.deviceTimeMs = seconds === 0 ? null : seconds * 1000;
      const satellites = value.u8();
      report.metrics.satellites = satellites;
      const altitudeM = value.i16();
      const [lat, lng, speedKmh] = [value.u32(), value.u32(), value.u8()];
      report.gps = gpsOf(lat, lng, value.u16(), { speedKmh, satellites, altitudeM }, report);
      break;
    }
    case 0x43:
      readModuleCell(value, report, () => value.u32le());
      break;
    default:
  }
}

function readModuleCell(value: ByteReader, report: Report, readCid: () => number): void {
  const [mcc, mnc, lac] = [value.u16(), value.u16(), value.u16()];
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(lac);
  bytes.writeUInt32BE(readCid(), 2);
  const cell = readCell(new ByteReader(bytes), { mcc, mnc }, { cidBytes: 4 }, false);
  if (cell) report.cells.push(cell);
}

/** FD: the IMEI, and the firmware after `[VERSION]`. */
export const readVersion: InformationReader = (content) => {
  const firmware = /\[VERSION\]([\x21-\x5a\x5e-\x7e]{1,60})/.exec(content.toString("latin1"))?.[1];
  return firmware === undefined ? undefined : { kind: "info", firmware };
};

/** 9B: what a device at the serial port said. */
export const readSerialPort: InformationReader = (content, report) => {
  report.extra.serial_data = content.subarray(1).toString("hex").slice(0, 200);
  return undefined;
};

/** 8C: readings of a car, as `code=value` pairs. */
export const readVehicle: InformationReader = (content, report, zone) => {
  const reader = new ByteReader(content);
  report.deviceTimeMs = timeOf(reader.bytes(6), zone);
  report.extra.ignition = reader.u8() > 0;
  report.extra.vehicle = reader.text(Math.min(reader.remaining, 500), "latin1").replace(/[^\x20-\x7e].*$/s, "");
  return undefined;
};

/** F2: a Bluetooth accessory, reported as text after its time and place. */
export const readAccessory: InformationReader = (content, report) => {
  const reader = new ByteReader(content);
  report.deviceTimeMs = reader.u32() * 1000;
  const name = /BT[A-Z]+[\x20-\x7e]*$/.exec(reader.rest().toString("latin1"))?.[0];
  if (name === undefined) return undefined;
  report.extra.accessory = name.slice(0, 100);
  // A button is pressed for help or for nothing else that is known: somebody should look.
  if (name.startsWith("BTBUTTON")) report.alarm = { type: "custom", code: name.slice(0, 32) };
  return undefined;
};
