import { writeFrame } from "../../src/codecs/gt06/framing.ts";
import { gt06 } from "../../src/codecs/gt06/protocol.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** For tests: a connection with an invented tracker, and frames of every kind it may send. */
export const gt06Imei = "490155500012348";

export const gt06World: HarnessWorld = {
  protocol: gt06,
  nowMs: Date.UTC(2026, 2, 1, 8, 15, 30),
  device: {
    imei: gt06Imei,
    id: gt06Imei,
    utcOffsetMinutes: 60,
    traits: { status_layout: "battery" },
    locale: "en",
    outstandingSerials: new Set(["77"]),
  },
};

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");
export const short = (type: number, hex: string, serial = 0x1234): Buffer => writeFrame(type, bytes(hex), serial);
export const long = (type: number, hex: string, serial = 0x1234): Buffer => writeFrame(type, bytes(hex), serial, true);

export const gt06Login = short(0x01, `0${gt06Imei}`, 1);

/** 1 March 2026, 08:15:24; 41.9 north, 12.5 east, 4 km/h, course 118, nine satellites. */
export const clockHex = "1a 03 01 08 0f 18";
export const placeHex = "c9 047ed160 015752a0 04 1476";
export const gpsHex = `${clockHex} ${placeHex}`;
/** Italy, TIM, area 4660, cell 22136. */
const cellHex = "00de 01 1234 005678";
const wideCellHex = "00de 01 00001234 0000000000005678";
const cellsHex = `${"1234 005678 3e".repeat(2)} ${"0000 000000 00".repeat(5)}`;

export const gt06Corpus: readonly (readonly [name: string, frame: Buffer])[] = [
  ["a position", short(0x10, gpsHex)],
  ["a position with a wide cell", short(0x11, `${gpsHex} 00de 0001 1234 00005678`)],
  ["a position with a cell", short(0x12, `${gpsHex} ${cellHex}`)],
  ["a position with an odometer", short(0x12, `${gpsHex} ${cellHex} 000003e8`)],
  ["a position with a supply voltage", short(0x12, `${gpsHex} ${cellHex} 42 04d2 04 00`)],
  ["a stored position", short(0x22, `${gpsHex} ${cellHex} 01 00 01`)],
  ["a position with the climate", short(0x22, `${gpsHex} 00de 01 1234 00005678 00 00 00 00000001 00000002 87d0 1388`)],
  ["a position with an altitude", short(0x31, `${gpsHex} 00de 0001 1234 00005678 00 00 00 00000000 0025`)],
  ["a position with modules", short(0x37, `${gpsHex} ${cellHex} 00 00 00 0027 02 04d2 003b 02 04b0`)],
  ["a position of 4G", short(0xa0, `${gpsHex} ${wideCellHex} 00 00 00`)],
  ["an alarm", short(0x16, `${gpsHex} 09 ${cellHex} 40 04 03 01 02`)],
  ["an alarm with percent", short(0x26, `${gpsHex} 08 ${cellHex} 40 5d 4b 23 02`)],
  ["an alarm with a fence", short(0x27, `${gpsHex} 09 ${cellHex} 40 06 04 05 02 ff`)],
  ["an alarm of 4G", short(0xa4, `${gpsHex} 10 ${wideCellHex} 40 06 04 13 02 ff`)],
  ["an alarm of a camera", short(0x95, `${clockHex} 047ed160 015752a0 1476 01 0000`)],
  ["a status", short(0x13, "44 05 04 00 02")],
  ["a status with a temperature", short(0x13, "40 0000 00 02 2e 42 016f 00 0000 8019")],
  ["a heartbeat", short(0x23, "40 0190 04 0001")],
  ["a status with modules", short(0x36, "00 05 04 00 02 0018 02 0192 006a 01 5f")],
  ["a status in percent", short(0xa3, "46 0001 06 64 0c 01")],
  ["a cell and a status", short(0x19, `${cellHex} 40 06 04 00 02`)],
  ["an alarm with a cell", short(0xa5, `${wideCellHex} 40 06 04 01 02`)],
  ["cells", short(0x28, `${clockHex} 00de 01 ${cellsHex} ff 00 02`)],
  ["cells and access points", short(0x2c, `${clockHex} 00de 01 ${cellsHex} ff 01 9c3d00000001 38`)],
  ["counted cells", short(0x24, `${clockHex} 00 00de 01 02 ${"1234 005678 3e".repeat(2)} ${"00".repeat(21)}`)],
  ["access points", short(0xf3, `${clockHex} 01 0000 9c3d00000001`)],
  ["a long position", long(0x32, `${clockHex} 0c ${placeHex} 09 ${cellHex} 24 00 07 9c3d00000001 37 00 00`)],
  ["the supply", short(0x94, "04eb")],
  ["the SIM", long(0x94, `0a 0${gt06Imei} 0222019999999999 89390000000000000001`)],
  ["modules", long(0x70, "0000 0001 02 0009 0001 07 002b 0001 14 0018 0002 0192")],
  ["the firmware", long(0xfd, `0${gt06Imei} ${Buffer.from("[VERSION]GT1[BUILD]1").toString("hex")}`)],
  ["an answer", long(0x21, `0000004d 01 ${Buffer.from("OK!").toString("hex")}`)],
  ["a refusal", short(0x15, `12 0000004d ${Buffer.from("Command error!").toString("hex")} 0002`)],
  ["a question for the time", short(0x8a, "")],
  ["a question for an address", short(0x2a, `${gpsHex} ${"31".repeat(21)}`)],
  ["an unknown kind", short(0x77, "010203")],
  ["an unknown long kind", long(0x77, "010203")],
];
