import { type Address, writeFrame } from "../../src/codecs/jt808/envelope.ts";
import { jt808 } from "../../src/codecs/jt808/protocol.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** Frames of a terminal that never was, of the 2013 form and of that of 2019. */

export const terminalId = "13900000017";
export const oldForm: Address = { delimiter: 0x7e, version: undefined, terminal: Buffer.from("013900000017", "hex") };
export const newForm: Address = { ...oldForm, version: 1, terminal: Buffer.from("00000000013900000017", "hex") };

export const jt808World: HarnessWorld = {
  protocol: jt808,
  nowMs: Date.UTC(2026, 2, 1, 8, 15, 30, 123),
  device: {
    imei: "490154203237518",
    id: terminalId,
    utcOffsetMinutes: 60,
    traits: { text_encoding: "gbk", clock_offset_minutes: 480 },
    locale: "it",
    authentication: { code: "a1b2c3d4", isStored: false },
    outstandingSerials: new Set(["7"]),
  },
};

export const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(/\s/g, ""), "hex");

export const frameOf = (messageId: number, serial: number, body: string, address = oldForm): Buffer =>
  writeFrame(address, messageId, serial, hex(body));

/** Rome, 2026-03-01 08:15:24 UTC on a clock of GMT+8: no alarm, a fix, 37 m, 3.2 km/h, 118 degrees. */
export const place = "00000000 00000002 027f63ae 00beaede 0025 0020 0076 260301161524";
export const placeWith = (alarm: string, status = "00000002"): string =>
  `${alarm} ${status} 027f63ae 00beaede 0025 0020 0076 260301161524`;
export const placeTimeMs = Date.UTC(2026, 2, 1, 8, 15, 24);
export const placeGps = {
  lat: 41.903022,
  lng: 12.496606,
  altitudeM: 37,
  speedKmh: 3.2,
  heading: 118,
  accuracyM: null,
  satellites: null,
};

/** One of every kind. */
export const jt808Corpus: readonly Buffer[] = [
  frameOf(0x0001, 1, "0007 8201 00"),
  frameOf(0x0002, 2, ""),
  frameOf(0x0002, 3, "5c 14 00"),
  frameOf(
    0x0100,
    4,
    "002c012f 3730313131 42534a2d4d37420000000000000000000000000000 30303030303137 01 d4c1423838383838",
  ),
  frameOf(0x0102, 5, "6131623263336434"),
  frameOf(
    0x0102,
    6,
    "08 6131623263336434 343930313534323033323337353138 5631322e3334000000000000000000000000000000",
    newForm,
  ),
  frameOf(0x0109, 7, ""),
  frameOf(0x0200, 8, `${place} 01 04 00000929 30 01 1f 31 01 0c 06 01 3e`),
  frameOf(0x0200, 9, `${placeWith("00000001")} e4 02 0063 f8 02 4936`),
  frameOf(0x0200, 10, `${place} e1 0c 00de0001 00bbe4 001ada29 bb ec 0e 5091e3194157ae 8c86dd750382a6`, newForm),
  frameOf(0x0200, 11, `${place} eb 17 000300e151 000300e304 000b00d800de01df340000306b`),
  frameOf(0x0201, 12, `0007 ${place}`),
  frameOf(0x0704, 13, `0002 01 001c ${place} 0020 ${placeWith("00000001")} 30 02 0000`),
  frameOf(0x0210, 14, `1c ${place} 07 5c 260301161525`),
  frameOf(
    0x0900,
    15,
    "f0 260301161524 01 02 02 0001 ffffffff 0001 00001457 00000002 0006 503134353700 00000002 027f63ae 00beaede",
  ),
  frameOf(0x1300, 16, "0007 0053006500740020004f004b0021"),
  frameOf(0x6006, 17, "3c4f4b3e"),
  frameOf(0x0801, 18, `0000002a 01 00 00 00 ${place} 2321414d520a 3c`),
  frameOf(0x7d7e, 19, "7d 7e 7d7e"),
  Buffer.from("(13900000017,1,001,BASE,2,TIME)"),
];
