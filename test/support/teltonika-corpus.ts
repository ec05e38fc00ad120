import { teltonika } from "../../src/codecs/teltonika/protocol.ts";
import { crc16Arc } from "../../src/codecs/wire/crc16.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** Frames of a tracker that never was. */

export const trackerImei = "490154203237518";

export const teltonikaWorld: HarnessWorld = {
  protocol: teltonika,
  nowMs: Date.UTC(2026, 2, 1, 8, 15, 30),
  device: {
    imei: trackerImei,
    id: trackerImei,
    utcOffsetMinutes: 60,
    traits: {},
    locale: "it",
    outstandingSerials: new Set(),
  },
};

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(/\s/g, ""), "hex");

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export const loginFrame = (imei = trackerImei): Buffer => Buffer.concat([Buffer.of(0, imei.length), Buffer.from(imei)]);

/** Around a codec and what follows it. */
export function dataFrame(content: string): Buffer {
  const bytes = hex(content);
  return Buffer.concat([u32(0), u32(bytes.length), bytes, u32(crc16Arc(bytes))]);
}

/** The same data as it goes over UDP. */
export function datagram(content: string, imei = trackerImei): Buffer {
  const bytes = Buffer.concat([hex("cafe 01 05 000f"), Buffer.from(imei), hex(content)]);
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
}

export const recordTimeMs = Date.UTC(2026, 2, 1, 8, 15, 24);
export const timeHex = (timeMs = recordTimeMs): string => timeMs.toString(16).padStart(16, "0");

/** Rome: 37 m, 118 degrees, 9 satellites, 3 km/h. */
export const gpsHex = "0772ecb8 18f9c9ec 0025 0076 09 0003";
export const recordGps = {
  lat: 41.902334,
  lng: 12.4972216,
  altitudeM: 37,
  speedKmh: 3,
  heading: 118,
  accuracyM: null,
  satellites: 9,
};

/** Codec 8: GSM 4, battery 87 %, then the given one-byte values. */
export function record8(
  timeMs: number,
  values: readonly (readonly [id: number, value: number])[] = [],
  event = 0,
): string {
  const small = [[21, 4], [113, 87], ...values] as [number, number][];
  const byte = (value: number): string => value.toString(16).padStart(2, "0");
  const group = small.map(([id, value]) => byte(id) + byte(value)).join("");
  return `${timeHex(timeMs)} 00 ${gpsHex} ${byte(event)} ${byte(small.length + 1)} ${byte(small.length)} ${group} 01 43 0fb7 00 00`;
}

export const frame8 = (...records: string[]): Buffer => {
  const count = records.length.toString(16).padStart(2, "0");
  return dataFrame(`08 ${count} ${records.join("")} ${count}`);
};

export const answerFrame = (text: string): Buffer => {
  const bytes = Buffer.from(text, "latin1");
  return dataFrame(`0c 01 06 ${u32(bytes.length).toString("hex")} ${bytes.toString("hex")} 01`);
};

const record8E = `${timeHex()} 01 ${gpsHex} 00ec 0006 0002 0015 05 00ec 01 0001 00ce 1a2b 0001 00f1 0000 56b9 0001 004e 0000000000000001 0001 0101 0003 414243`;
const record16 = `${timeHex()} 00 ${gpsHex} 0000 05 02 01 0071 5c 01 0042 2ee0 00 00`;
const record7 = "22000000 03 1f 42279cd6 4147f4a9 0025 54 03 09 01 01 57";

/** One of every kind. */
export const teltonikaCorpus: readonly Buffer[] = [
  Buffer.of(0xff),
  frame8(record8(recordTimeMs)),
  frame8(record8(recordTimeMs, [[236, 1]], 236), record8(recordTimeMs + 1000, [[242, 1]], 242)),
  dataFrame(`8e 01 ${record8E} 01`),
  dataFrame(`10 01 ${record16} 01`),
  dataFrame(`07 01 ${record7} 01`),
  // With a group of 16 bytes that nothing announces.
  dataFrame(`08 01 ${record8(recordTimeMs)} 01 cb ${"00".repeat(16)} 01`),
  answerFrame("New data record triggered!"),
  answerFrame("Unknown command or invalid format"),
  dataFrame("0d 01 06 0000000a 69a3f9dc 48656c6c6f21 01"),
  dataFrame("0e 01 11 00000008 0490154203237518 01"),
  dataFrame("0c 01 0d 00000004 ffd8ffe0 01"),
];
