import type { Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { readTags } from "./items.ts";
import { messagesOf, readCoordinates, readPlace } from "./location.ts";
import { emptyReport, plainText } from "./report.ts";
import type { Jt808Traits } from "./traits.ts";

/** Message 0900: what makers send beside the standard, distinguished by its first byte. Empty: nothing of use. */
export function readTransparent(body: Buffer, session: Session<Jt808Traits>): TrackerMessage[] {
  if (body.length < 1) return [];
  const reader = new ByteReader(body);
  switch (reader.u8()) {
    case 0x41:
      return readVehicleText(plainText(reader.rest()));
    case 0x53:
      return readTagReport(reader, session);
    case 0xf0:
      return readVehicleReport(reader, session);
    default:
      return [];
  }
}

/** `$OBD-RT,<volts>,<rpm>,…`. */
function readVehicleText(text: string): TrackerMessage[] {
  if (!text.startsWith("$OBD-RT,")) return [];
  const values = text.split(",").slice(1).map(Number);
  const [power_v, , , , , , , , , , , fuel_used_l] = values;
  return [{ kind: "vitals", deviceTimeMs: null, metrics: {}, extra: { power_v, fuel_used_l } }];
}

function readTagReport(reader: ByteReader, session: Session<Jt808Traits>): TrackerMessage[] {
  const report = emptyReport();
  const place = readPlace(reader, report);
  reader.skip(1);
  report.extra.tags = readTags(reader);
  return messagesOf(report, place, false, session);
}

/** Time, whether it was stored, kind of vehicle, then one of several lists and the place. */
function readVehicleReport(reader: ByteReader, session: Session<Jt808Traits>): TrackerMessage[] {
  const report = emptyReport();
  const timeBytes = reader.bytes(6);
  const isBuffered = reader.u8() > 0;
  reader.skip(1);
  const kind = reader.u8();
  if (kind === 0x01) report.extra.vehicle_data = readList(reader, 2);
  else if (kind === 0x02) report.extra.trouble_codes = readTroubleCodes(reader);
  else if (kind === 0x03) report.extra.vehicle_events = readList(reader, 1);
  else return [];
  const place = readCoordinates(reader, report);
  const rest = { altitudeM: null, speedKmh: null, heading: null, accuracyM: null, satellites: null };
  return messagesOf(report, { gps: place && { ...place, ...rest }, timeBytes }, isBuffered, session);
}

/** Numbers of one or two bytes, each with a length and a value. */
function readList(reader: ByteReader, idBytes: 1 | 2): Record<string, string> {
  const values: Record<string, string> = {};
  for (let count = reader.u8(); count > 0; count--) {
    const id = reader.hex(idBytes);
    values[id] = reader.hex(reader.u8());
  }
  return values;
}

function readTroubleCodes(reader: ByteReader): string[] {
  const codes: string[] = [];
  for (let systems = reader.u16(); systems > 0; systems--) {
    reader.skip(4);
    for (let count = reader.u16(); count > 0; count--) {
      reader.skip(8);
      codes.push(plainText(reader.bytes(reader.u16())));
    }
  }
  return codes;
}
