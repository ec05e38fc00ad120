import type { Frame } from "./framing.ts";
import {
  type InformationReader,
  readAccessory,
  readInformation,
  readModules,
  readSerialPort,
  readSupply,
  readVehicle,
  readVersion,
} from "./information.ts";
import {
  readCellList,
  readCountedCells,
  readLbs,
  readLbsStatus,
  readLongPosition,
  readPlainAccessPoints,
} from "./networks.ts";
import {
  type ContentReader,
  readCameraAlarm,
  readCardGps,
  readGpsLbs,
  readGpsLbsMode,
  readGpsLbsVoltage,
  readGpsModules,
  readGpsStatus,
  readGpsSupply,
  readHighGps,
  readNamedDriverGps,
  readPlainGps,
  readWideGps,
  readWideGpsLbs,
  readWideGpsStatus,
  readX1Gps,
} from "./positions.ts";
import { readHeartbeat, readModularStatus, readShortStatus, readStatus, readVoltageStatus } from "./status.ts";

/** Which reader understands a frame: by its type, and where makers disagree by its form and length. */
export type KindReader =
  | { kind: "report" | "state"; read: ContentReader | InformationReader }
  | { kind: "counted_networks" };

const wide = { lacBytes: 4, cidBytes: 8 } as const;

const reports: Readonly<Record<number, ContentReader | InformationReader>> = {
  16: readPlainGps,
  17: readWideGpsLbs,
  18: readGpsLbs,
  22: readGpsStatus(5),
  23: readGpsLbs,
  24: readCellList({ count: 7, hasAccessPoints: true }),
  26: readPlainGps,
  30: readGpsLbs,
  34: readGpsLbsMode,
  36: readCellList({ count: 7 }),
  37: readNamedDriverGps,
  38: readGpsStatus(5),
  39: readGpsStatus(6),
  40: readCellList({ count: 7 }),
  44: readCellList({ count: 7, hasAccessPoints: true }),
  45: readGpsLbsMode,
  46: readCellList({ count: 7 }),
  49: readHighGps,
  50: readGpsStatus(5),
  51: readCellList({ count: 6, form: { cidBytes: 4 }, hasAccessPoints: true }),
  52: readX1Gps,
  55: readGpsModules,
  97: readCardGps,
  148: readSupply,
  149: readCameraAlarm,
  160: readWideGps,
  161: readCellList({ count: 7, form: wide }),
  162: readCellList({ count: 7, form: wide, hasAccessPoints: true }),
  164: readGpsStatus(6),
  165: readLbsStatus(wide),
  167: readLbs,
  243: readPlainAccessPoints,
};

const states: Readonly<Record<number, ContentReader>> = {
  19: readStatus,
  25: readLbsStatus({}),
  35: readHeartbeat,
};

const longReports: Readonly<Record<number, ContentReader | InformationReader>> = {
  50: readLongPosition(false),
  51: readLongPosition(true),
  112: readModules,
  140: readVehicle,
  148: readInformation,
  155: readSerialPort,
  242: readAccessory,
  253: readVersion,
};

const report = (read: ContentReader | InformationReader | undefined): KindReader | undefined =>
  read && { kind: "report", read };

/** Undefined: a frame that says nothing of use. */
export function readerOf({ isLong, type, content, serial }: Frame, hasVoltage: boolean): KindReader | undefined {
  const { length } = content;
  if (isLong) return report(longReports[type]);
  if (serial === undefined && (type === 0x17 || type === 0x69)) return { kind: "counted_networks" };
  if (type === 0x13 && hasVoltage) return { kind: "state", read: readVoltageStatus };
  if (type === 0x24 && length === 44) return report(readCountedCells);
  if (type === 0x24 && length < 50) return report(readGpsLbsVoltage);
  if (type === 0x36) return length >= 40 ? report(readGpsSupply) : { kind: "state", read: readModularStatus };
  if (type === 0xa2 && length < 100) return report(readWideGpsStatus);
  if (type === 0xa3) return length >= 39 ? report(readGpsStatus(5)) : { kind: "state", read: readShortStatus };
  const state = states[type];
  return state ? { kind: "state", read: state } : report(reports[type]);
}
