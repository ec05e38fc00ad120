import { ByteReader } from "../wire/byte-reader.ts";
import { batteryOf, knownAlarm, readStatusBlock, readStatusFlags, signalOf } from "./blocks.ts";
import type { ContentReader } from "./positions.ts";
import type { Report } from "./report.ts";

/** Frames with the state of the unit and nothing else. */

/** 13. */
export const readStatus: ContentReader = (content, report) => {
  if (content.length === 14) return readLongStatus(content, report);
  const reader = new ByteReader(content);
  const { status, alarmByte } = readStatusBlock(reader, report);
  if (report.metrics.gsm_signal === null) {
    // No signal is that strong: some makers write their supply voltage where the battery and the signal should be.
    report.metrics.bat = null;
    report.alarm = knownAlarm(status, 0);
  } else report.alarm = knownAlarm(status, alarmByte);
};

/** 13 of models that write the supply voltage in place of the battery. */
export const readVoltageStatus: ContentReader = (content, report) => {
  const reader = new ByteReader(content);
  const status = reader.u8();
  readStatusFlags(status, report);
  report.extra.power_v = reader.u16() / 100;
  report.metrics.gsm_signal = signalOf(reader.u8());
  report.alarm = knownAlarm(status, 0);
};

/** 13 of units that sleep between reports: percent, voltage and the temperature around. */
function readLongStatus(content: Buffer, report: Report): void {
  const reader = new ByteReader(content);
  const status = reader.u8();
  readStatusFlags(status, report);
  reader.skip(2);
  const alarmByte = reader.u8();
  reader.skip(1);
  const percent = reader.u8();
  reader.skip(1);
  const volts = reader.u16() / 100;
  report.metrics.bat = volts > 0 && percent <= 100 ? percent : null;
  if (volts > 0) report.extra.power_v = volts;
  reader.skip(3);
  const celsius = reader.u16();
  report.extra.ambient_temperature = (celsius & 0x8000 ? -(celsius & 0x7fff) : celsius) / 10;
  report.alarm = knownAlarm(status, alarmByte);
}

/** 23: status, voltage of the battery and signal, the last two optional. */
export const readHeartbeat: ContentReader = (content, report) => {
  const reader = new ByteReader(content);
  const status = reader.u8();
  readStatusFlags(status, report);
  if (reader.remaining >= 2) report.extra.battery_v = reader.u16() / 100;
  if (reader.remaining >= 1) report.metrics.gsm_signal = signalOf(reader.u8());
  report.alarm = knownAlarm(status, 0);
};

/** 36 as a status: a list of number, length and value at the end. */
export const readModularStatus: ContentReader = (content, report) => {
  const reader = new ByteReader(content);
  const { status, alarmByte } = readStatusBlock(reader, report);
  report.alarm = knownAlarm(status, alarmByte);
  reader.skip(1);
  while (reader.remaining >= 3) {
    const module = reader.u16();
    const value = new ByteReader(reader.bytes(reader.u8()));
    if (module === 0x18) report.extra.battery_v = value.u16() / 100;
    else if (module === 0x6a) report.metrics.bat = percentOf(value.u8());
  }
};

/** A3 as a status: the battery in steps and in percent. */
export const readShortStatus: ContentReader = (content, report) => {
  const reader = new ByteReader(content);
  const status = reader.u8();
  readStatusFlags(status, report);
  report.alarm = knownAlarm(status, 0);
  if (content.length !== 7) return;
  reader.skip(2);
  const steps = reader.u8();
  report.metrics.bat = percentOf(reader.u8()) ?? batteryOf(steps);
  report.metrics.gsm_signal = signalOf(reader.u8());
};

const percentOf = (byte: number): number | null => (byte <= 100 ? byte : null);
