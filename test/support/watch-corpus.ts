import { watch } from "../../src/codecs/watch/protocol.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** For tests: a connection with an invented watch, and frames of every kind it sends. */
export const world: HarnessWorld = {
  protocol: watch,
  nowMs: Date.UTC(2026, 2, 1, 0, 0, 30),
  device: {
    imei: "490155500012348",
    id: "5550001234",
    utcOffsetMinutes: 60,
    traits: { alarm_bit_22: "fall" },
    locale: "it",
    outstandingSerials: new Set(),
  },
};

export function frameOf(content: string | Buffer, start = "[3G*5550001234*"): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  const length = bytes.length.toString(16).padStart(4, "0");
  return Buffer.concat([Buffer.from(`${start}${length}*`), bytes, Buffer.from("]")]);
}

const position = "280226,235958,A,41.902782,N,12.496366,E,3.2,117.6,37.5,9,71,64,4210,12";

export const corpus: readonly Buffer[] = [
  ...[
    "LK",
    "LK,4210,12,67",
    "INIT,5550001,0,W9_V1.2,02",
    `UD,${position},00000008,1,255,222,1,5120,24680,-71,2,[LG] tv,a4:0b:0c:0d:0e:01,-48,,a4:0b:0c:0d:0e:02,-80,12.5`,
    `UD2,${position},0000,2,1,222,1,14A0,3B882A2,132,14A0,12,131`,
    `WT,${position.replace(",A,", ",V,")},00000000,0,1,home,a4:0b:0c:0d:0e:01,-48`,
    `AL,${position},00230000,0,0`,
    "AL",
    "heart,71",
    "bphrt,120,79,73,170,2,81,64",
    "btemp2,1,35.29",
    "oxygen,0,98",
    "TKQ",
    "TK,1",
    "TK,#!AMR\n}\x01}\x02}\x03}\x04}\x05\xff\x00",
    "img,5,260228235958,\xff\xd8}\x02\xff\xd9",
    "CR",
    "UPLOAD,600",
    "VERNO,W9_V1.2",
    "HEALTH,1",
  ].map((content) => frameOf(content)),
  frameOf("LK,0,0,19", "[ZJ*5550001234*0034*"),
  frameOf("JXTK,0,rec_1,1,2,#!AMR\n\x0c}\x04\xff", "[ZJ*5550001234*0035*"),
];
