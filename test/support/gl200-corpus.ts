import { gl200 } from "../../src/codecs/gl200/protocol.ts";
import { crc16CcittFalse } from "../../src/codecs/wire/crc16.ts";
import type { StreamCase } from "./stream-behaviour.ts";

/** For tests: a connection with an invented tracker, and reports of every kind it sends. */
export const imei = "490155500012348";
export const nowMs = Date.UTC(2026, 2, 1, 0, 0, 30);
/** Where and when: accuracy, speed, course, altitude, longitude, latitude, time, network and cell. */
export const place = "2,3.2,118,37.5,12.496366,41.902782,20260228235958,0222,0001,14A0,3B882A2";
export const tail = "20260301000001,00A1$";

export const text = (report: string): Buffer => Buffer.from(report, "latin1");
export const report = (word: string, rest: string, head = "+RESP", version = "1A0900"): Buffer =>
  text(`${head}:GT${word},${version},${imei},GL300,${rest}`);

/** A position report or an event in binary form: `rest` follows the head; length, CRC and tail are filled in. */
export function binary(head: "+RSP" | "+BSP" | "+EVT" | "+BVT", rest: string): Buffer {
  const body = Buffer.from(rest.replaceAll(" ", ""), "hex");
  body.writeUInt16BE(body.length + 8, 5);
  const crc = Buffer.alloc(2);
  crc.writeUInt16BE(crc16CcittFalse(body));
  return Buffer.concat([Buffer.from(head, "latin1"), body, crc, Buffer.from("\r\n")]);
}

/** Two digits of the IMEI in a byte, the last digit alone. */
export const binaryImei = Buffer.from([49, 1, 55, 50, 0, 12, 34, 8]).toString("hex");
export const binaryPlace = "02 000020 0076 0026 00beadee 027f62be 07ea021c173b3a 0222 0001 14a0 3b88 00";

export const binaryFix = binary(
  "+RSP",
  `07 00fc1fbf 0000 45 0102 0209 ${binaryImei} 40 2f44 21 09 00 01 ${binaryPlace} 07ea0301000001 00a2`,
);

export const corpus: readonly Buffer[] = [
  report("FRI", `0,0,1,${place},0.0,64,${tail}`),
  report("FRI", `0,0,2,${place},0.0,${place.replace("235958", "235959")},0.0,64,${tail}`),
  report("FRI", `0,0,1,${place},0.0,64,${tail}`, "+BUFF"),
  report("SOS", `0,0,1,${place},0.0,64,${tail}`),
  report("RTL", `0,0,1,0,,,,,,,0222,0001,14A0,3B88,0.0,64,${tail}`),
  report("BPL", `3.53,${place},,${tail}`),
  report("STT", `42,${place},,${tail}`),
  report("NMR", `0,0,1,${place},00,64,${tail}`),
  report("PNA", tail),
  report("PFA", tail),
  report("INF", `41,89390123456789012345,17,0,1,26.6,,3.90,1,1,0,0,0,20260228235958,69,1,44,,,${tail}`),
  text(
    `+RESP:GTGSM,400201,${imei},STR,0222,0001,14A0,0B01,16,,0222,0001,14A0,0B02,14,,,,,,,,0222,0001,14A0,0B03,31,,${tail}`,
  ),
  report("WIF", `2,a40b0c0d0e01,-48,,,,a40b0c0d0e02,-80,,,,,,,,64,${tail}`),
  report("VER", `GL300,0A03,0103,${tail}`),
  report("IGN", `9860,${place},00,,881.2,${tail}`, "+RESP", "060228"),
  text(`+ACK:GTHBD,1A0900,${imei},GL300,20260301000001,00A3$`),
  text(`+ACK:GTRTO,1A0900,${imei},GL300,RTL,0012,20260301000001,00A4$`),
  report("FRI", `0,0,1,${place},0.0,64,20260301000001,00A1\0`),
  binaryFix,
];

export const gl200Case: StreamCase = {
  world: {
    protocol: gl200,
    nowMs,
    device: {
      imei,
      id: imei,
      utcOffsetMinutes: 60,
      traits: { command_password: "gl300", sack: false },
      locale: "it",
      outstandingSerials: new Set(),
    },
  },
  corpus,
  alphabet: "+RESP:GTACK,$0\r\n",
  endless: Buffer.concat([Buffer.from("+RESP:GTFRI,1A0900,"), Buffer.alloc(8 * 1024, "1")]),
};
