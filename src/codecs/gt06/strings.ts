import type { SessionDevice } from "../protocol-definition.ts";
import type { CommandAnswer, DeviceInfo, Fix, TrackerMessage } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { isOnEarth, readHeading } from "../wire/coordinates.ts";
import { timeOf } from "./blocks.ts";

/** Texts of the unit, 15 and 21: answers to commands, which repeat the server flag, and notices of its own. */

/** A length, the flag, the text, the language. */
export function readShortString(content: Buffer, device: SessionDevice): TrackerMessage[] {
  const reader = new ByteReader(content);
  const length = reader.u8();
  if (length < 4) return [{ kind: "heartbeat" }];
  const flag = reader.u32();
  return messagesOf(flag, reader.text(Math.min(length - 4, reader.remaining), "latin1"), device);
}

/** The flag, the encoding, the text. */
export function readLongString(content: Buffer, device: SessionDevice): TrackerMessage[] {
  const reader = new ByteReader(content);
  const flag = reader.u32();
  const isAscii = reader.u8() === 1;
  const bytes = reader.rest();
  const text = isAscii ? bytes.toString("latin1") : utf16(bytes);
  return messagesOf(flag, text, device);
}

const utf16 = (bytes: Buffer): string =>
  Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");

function messagesOf(flag: number, text: string, device: SessionDevice): TrackerMessage[] {
  const messages: TrackerMessage[] = [];
  const info = simOf(text);
  if (info) messages.push(info);
  const place = placeOf(text);
  if (place) messages.push(place);
  // Commands are sent with a flag above zero, so a text with another one answers nobody.
  const serial = String(flag);
  if (device.outstandingSerials.has(serial)) messages.push(answerOf(serial, text));
  return messages.length > 0 ? messages : [{ kind: "heartbeat" }];
}

const answerOf = (serial: string, text: string): CommandAnswer => ({
  kind: "command_answer",
  word: "80",
  serial,
  fields: [],
  ...verdictOf(text),
});

/** There is no code for failure: the words of known firmwares tell. */
function verdictOf(text: string): Pick<CommandAnswer, "isAccepted" | "refusal"> {
  if (/not support|unsupport|unknown command|command error|no such/i.test(text)) {
    return { isAccepted: false, refusal: "not_supported" };
  }
  if (/param\w* *(error|invalid|wrong)|(error|invalid|wrong|illegal) *param|format error/i.test(text)) {
    return { isAccepted: false, refusal: "invalid_params" };
  }
  if (/error|fail|invalid|not running|denied|refuse/i.test(text)) {
    return { isAccepted: false, refusal: "device_rejected" };
  }
  return { isAccepted: true };
}

function simOf(text: string): DeviceInfo | undefined {
  const iccid = /<?ICCID:(\d{18,20})/.exec(text)?.[1];
  return iccid === undefined ? undefined : { kind: "info", iccid };
}

const placePattern = /Lat:([NS])(\d{1,2}\.\d{1,8}),\s*Lon:([EW])(\d{1,3}\.\d{1,8})/;
const timePattern = /DateTime:(?:20)?(\d\d)-(\d\d)-(\d\d) +(\d\d):(\d\d):(\d\d)/;

/** What WHERE# is answered with. The time is UTC. */
function placeOf(text: string): Fix | undefined {
  const [, north, degreesNorth, east, degreesEast] = placePattern.exec(text) ?? [];
  if (degreesNorth === undefined || degreesEast === undefined) return undefined;
  const lat = Number(degreesNorth) * (north === "S" ? -1 : 1) + 0;
  const lng = Number(degreesEast) * (east === "W" ? -1 : 1) + 0;
  if (!isOnEarth(lat, lng)) return undefined;
  const time = timePattern.exec(text)?.slice(1).map(Number);
  const number = (name: string): number | null => {
    const digits = new RegExp(`${name}:(\\d{1,4}(?:\\.\\d{1,6})?)`).exec(text)?.[1];
    return digits === undefined ? null : Number(digits);
  };
  return {
    kind: "fix",
    deviceTimeMs: time ? timeOf(time, 0) : null,
    gps: {
      lat,
      lng,
      altitudeM: null,
      speedKmh: number("Speed"),
      heading: readHeading(number("Course")),
      accuracyM: null,
      satellites: null,
    },
    cells: [],
    accessPoints: [],
    network: null,
    isBuffered: false,
  };
}
