import { h02 } from "../../src/codecs/h02/protocol.ts";
import type { HarnessWorld } from "./codec-harness.ts";

/** For tests: a connection with an invented tracker, and frames of every kind it may send. */
export const h02World: HarnessWorld = {
  protocol: h02,
  nowMs: Date.UTC(2026, 2, 1, 8, 15, 30),
  device: {
    imei: "490155500012348",
    id: "5550001234",
    utcOffsetMinutes: 60,
    traits: {},
    locale: "en",
    outstandingSerials: new Set(["010203"]),
  },
};

export const text = (content: string, id = "5550001234", maker = "HQ"): Buffer =>
  Buffer.from(`*${maker},${id},${content}#`);

/** 41.9 north, 12.5 east, 4.4 knots, course 118. */
export const place = "A,4154.0000,N,01230.0000,E,4.40,118";
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(" ", ""), "hex");
export const binary = hex("24 5550001234 081524 010326 41540000 06 012300000e 004118 fffffbff ff0024");
export const longBinary = hex(
  "24 4901555000123480 081524 010326 41540000 64 012300000e 004118 fffffbff ff01120064ba73005ecc",
);

export const h02Corpus: readonly (readonly [name: string, frame: Buffer])[] = [
  ["a position", text(`V1,081524,${place},010326,FFFFFBFF`)],
  ["a position of the IMEI", text(`V1,081524,${place},010326,FFFFFBFF`, "490155500012348")],
  ["a position with its network", text(`V1,081524,${place},010326,FFFFFBFF,222,01,4660,22136,5`)],
  ["a position with a battery", text(`V1,081524,${place},4,010326,FFFFFBFF`)],
  ["a position with an altitude", text(`V1,081524,${place},010326,FFFFFBFF,1000,0,100.0,37,1234,5678`)],
  ["a position with its SIM", text(`V19,081524,${place},010326,,10.0.0.1,8939000000000000001F,FFFFFBFF`)],
  ["a position without a dot", text("V1,081524,A,41540000,N,012300000,E,4.40,118,010326,FFFFFBFF")],
  ["a position with dashes", text("V1,081524,A,-41-54.0,S,-12-30.0,W,4.40,118,010326,FFFFFBFF")],
  ["a position without a fix", text("V1,081524,V,4154.0000,N,01230.0000,E,0.00,0,010326,FFFFFBFF")],
  ["a position without anything", text("V1,,V,,N,,E,0.00,0,,FFFFFBFF")],
  ["a call for help", text(`V1,081524,${place},010326,FFFFFBFD`)],
  ["a call for help by bit 18", text(`V6,081524,${place},010326,FFFBFFFF`)],
  ["overspeed", text(`V1,081524,${place},010326,FFFFFBFB`)],
  ["a power cut", text(`V1,081524,${place},010326,FFF7FBFF`)],
  ["a binary position", binary],
  ["neighbours", text("NBR,081524,222,1,0,2,4660,22136,-67,4660,22137,53,010326,FFFFFBFF,6")],
  ["a state", text("LINK,081524,20,8,67,4210,3,010326,FFFFFBFF")],
  ["cells", text("V3,081524,22201,02,004660,022136,158,-62,004660,022137,130,,02E4,0,X,010326,FFFFFBFF")],
  ["a short position", text("VP1,A,4154.0000,N,01230.0000,E,4.40,118.0,010326", "490155500012348", "hq")],
  ["short cells", text("VP1,V,222,001,4660,22136,20Y4660,22137,29")],
  ["a heartbeat", text("V0")],
  ["a heartbeat with a battery", text("HTBT,88")],
  ["an answer", text("V4,S71,DONE,010203")],
  ["an answer with a position", text(`V4,S71,22,600,010203,081524,${place},010326,FFFFFBFF`)],
  ["a refusal", text(`V4,R1,ERROR,010203,081524,${place},010326,FFFFFBFF`)],
  ["a text", text("SMS,Battery 80%")],
  ["an unknown kind", text("XT,1,100")],
  ["no kind at all", text("")],
];
