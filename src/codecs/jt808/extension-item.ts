import { ByteReader } from "../wire/byte-reader.ts";
import { readAccessPointText, readCells } from "./networks.ts";
import { isIccid, plainText, type Report, readPercent } from "./report.ts";

/** Item EB of many makers: a list of further items, each a length, a number of two bytes and a value. */
export function readExtension(bytes: Buffer, report: Report): void {
  const reader = new ByteReader(bytes);
  const raw: Record<string, string> = {};
  while (reader.remaining >= 4) {
    const length = reader.u16();
    const id = reader.u16();
    const value = reader.bytes(Math.max(0, length - 2));
    if (!readEntry(id, value, report)) raw[id.toString(16).padStart(4, "0")] = value.toString("hex");
  }
  if (Object.keys(raw).length > 0) report.extra.extension = raw;
}

/** False: not known, or not what it should be. */
function readEntry(id: number, value: Buffer, report: Report): boolean {
  const { metrics, extra, alarms, info } = report;
  switch (id) {
    case 0x0001:
      if (value.length < 2) return false;
      extra.fuel_sensor = value.readUInt16BE(0) / 10;
      return true;
    case 0x0023:
      extra.fuel_sensor_2 = Number.parseFloat(plainText(value));
      return Number.isFinite(extra.fuel_sensor_2);
    case 0x002d:
      if (value.length !== 2 && value.length !== 4) return false;
      extra.power_v = value.readUIntBE(0, value.length) / 1000;
      return true;
    // Bits are clear when they hold.
    case 0x0089:
      if (value.length === 4 && (value.readUInt32BE(0) & (1 << 12)) === 0) {
        alarms.push({ type: "tamper", code: "eb-89-12", isMoment: false });
      }
      return true;
    case 0x00c5:
      return value.length === 4 && readState(value.readUInt32BE(0), report);
    case 0x00a3:
      info.firmware = plainText(value).slice(0, 100);
      return true;
    case 0x00a8:
    case 0x00e1:
      if (value.length !== 1) return false;
      metrics.bat = readPercent(value.readUInt8(0));
      return true;
    case 0x00b2: {
      const digits = value.toString("hex").replace(/f+$/, "");
      if (isIccid(digits)) info.iccid = digits;
      return true;
    }
    case 0x00b9:
      report.accessPoints.push(...readAccessPointText(plainText(value)));
      return true;
    case 0x00ce:
      if (value.length !== 2) return false;
      extra.power_v = value.readUInt16BE(0) / 100;
      return true;
    case 0x00d5:
      extra.imei = plainText(value);
      return true;
    case 0x00d8:
      if (value.length !== 9 && value.length !== 12) return false;
      report.cells.push(
        ...readCells(
          value,
          value.length === 9 ? { mnc: 1, lac: 2, cid: 4 } : { mnc: 1, lac: 4, cid: 4, hasSignal: true },
        ),
      );
      return true;
    default:
      return false;
  }
}

function readState(state: number, { extra, alarms }: Report): boolean {
  if ((state & (1 << 6)) === 0) alarms.push({ type: "custom", code: "eb-c5-6", isMoment: false });
  if (((state >>> 23) & 3) === 0) extra.is_moving = true;
  return true;
}
