import { ByteReader } from "../wire/byte-reader.ts";
import type { Report } from "./report.ts";

/** Item E8 of cameras: a kind, a length and a value. Alarms carry a label of 16 bytes that names this one alarm. */
export function readEvent(value: Buffer, { alarms, extra }: Report): false | undefined {
  const reader = new ByteReader(value);
  const kind = reader.u16();
  const content = reader.bytes(reader.u8());
  if (kind === 0x2003 && content.length >= 4) {
    extra.battery_v = content.readUInt16BE(2) / 100;
    return;
  }
  if (content.length !== 16) return false;
  const type = kind === 0x0c01 ? "sos" : "custom";
  alarms.push({ type, code: `e8-${kind.toString(16).padStart(4, "0")}`, isMoment: true });
}

/** Item F6 of asset trackers: why it reports, which sensors follow, and what they measure. */
export function readSensors(value: Buffer, { extra }: Report): void {
  const reader = new ByteReader(value);
  extra.report_reason = reader.u8();
  const sensors = reader.u8();
  if (sensors & 0x01) extra.light = reader.u16();
  if (sensors & 0x02) extra.temperatures_c = [reader.i16() / 10];
  if (sensors & 0x04) extra.humidity_percent = reader.u16() / 10;
  if (sensors & 0x08) extra.acceleration = [reader.i16(), reader.i16(), reader.i16()];
}
