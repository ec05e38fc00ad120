import type { Dialect } from "../../src/codecs/iw/fields.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import { IW_ALARMS, IW_POSITIONS } from "./iw-place-corpus.ts";
import { answer, BLOCK, heartbeat, messageAnswer, type Row, status, TIME_MS, vitals, voice } from "./iw-world.ts";

/** Frames written for the tests after the protocol sheet, with invented ids, and what each of them says exactly. */

export interface IwSample {
  name: string;
  dialect: Dialect;
  frame: string;
  messages: TrackerMessage[];
  replies: string[];
}

const ecgPart: TrackerMessage = {
  kind: "ecg_part",
  deviceTimeMs: TIME_MS,
  transfer: "20260506070530",
  total: 3,
  sequence: 1,
  samplingRateHz: 250,
  lead: 1,
  scaleUv: 2.5,
  gain: 10,
  samples: [1, -1, 32767, -32768],
};

const STATES: Row[] = [
  ["a heartbeat", "A", "IWAP03,06500908700001,00000,00#", [vitals({ ...status, steps: 0 })], ["IWBP03#"]],
  [
    "a heartbeat with mode and interval",
    "B",
    "IWAP03,06500900000008,01250,00,8,300#",
    [vitals({ ...status, bat: null, steps: 1250 }, null, { working_mode: 8, interval_seconds: 300 })],
    ["IWBP03#"],
  ],
  ["a heartbeat of a TRV unit", "A", "TRVCP01,065009087000010203#", [vitals(status)], ["TRVDP01#"]],
  ["a firmware", "B", "IWAPVR,359000000000017,X1_V2.0,2026#", [{ kind: "info", firmware: "X1_V2.0,2026" }], []],
  ["a state nobody asked for", "B", "IWAPTQ,1#", [heartbeat], []],
  ["a T6 report", "B", "IWAPT6,359000000000017,1#", [heartbeat], ["IWBPT6,1,1#"]],
  ["an 05 report", "B", "IWAP05,1,2#", [heartbeat], ["IWBP05,1#"]],
  ["a question for the weather", "A", "IWAPWT,222,1,4321,100#", [heartbeat], ["IWBPWT#"]],
  ["a question for a place", "A", "IWAPTM,222,1,4321,100#", [heartbeat], ["IWBPTM#"]],
  ["a log that is not decoded", "C", "IWAP51,2026,1,2#", [heartbeat], ["IWBP51#"]],
  [
    "beacons",
    "B",
    "IWAPBL,359000000000017,0A:11:22:33:44:58|-67|Stanza 1;0A:11:22:33:44:59||,0A:11:22:33:44:5A,20260506070530#",
    [
      vitals({}, TIME_MS, {
        beacons: [
          { mac: "0a:11:22:33:44:58", rssi: -67, name: "Stanza 1" },
          { mac: "0a:11:22:33:44:59", rssi: null, name: "" },
        ],
        own_mac: "0a:11:22:33:44:5a",
      }),
    ],
    ["IWBPBL#"],
  ],
];

const HEALTH: Row[] = [
  ["heart rate", "A", "IWAP49,71#", [vitals({ hr: 71 })], ["IWBP49#"]],
  ["no heart rate", "A", "IWAP49,0#", [vitals({ hr: null })], ["IWBP49#"]],
  ["heart and pressure", "A", "IWAPHT,71,122,78#", [vitals({ hr: 71, sbp: 122, dbp: 78 })], ["IWBPHT#"]],
  ["half a pressure", "A", "IWAPHT,71,122,0#", [vitals({ hr: 71, sbp: null, dbp: null })], ["IWBPHT#"]],
  [
    "a whole package",
    "A",
    "IWAPHP,71,122,78,98,101,36.6,,,,,,,#",
    [vitals({ hr: 71, sbp: 122, dbp: 78, spo2: 98, glucose: 101, temp: 36.6 })],
    ["IWBPHP#"],
  ],
  ["one value of a package", "A", "IWAPHP,,,,98,,#", [vitals({ spo2: 98 })], ["IWBPHP#"]],
  ["an empty package", "A", "IWAPHP,,,,,,#", [heartbeat], ["IWBPHP#"]],
  [
    "oxygen of 95 that was measured",
    "A",
    "IWAPHP,71,0,0,95,0.0,0.0#",
    [vitals({ hr: 71, sbp: null, dbp: null, spo2: 95, glucose: null, temp: null })],
    ["IWBPHP#"],
  ],
  [
    "the package of a watch that is not worn",
    "A",
    "IWAPHP,0,0,0,95,0.0,0.0,,#",
    [vitals({ hr: null, sbp: null, dbp: null, spo2: null, glucose: null, temp: null })],
    ["IWBPHP#"],
  ],
  ["temperature and battery", "A", "IWAP50,36.4,66#", [vitals({ temp: 36.4, bat: 66 })], ["IWBP50#"]],
  ["temperature without battery", "A", "IWAP50,36.4#", [vitals({ temp: 36.4 })], ["IWBP50#"]],
  ["neither", "A", "IWAP50,0.0,0#", [vitals({ temp: null, bat: null })], ["IWBP50#"]],
  [
    "a night",
    "A",
    "IWAP97,2245@0630,5,01231#",
    [vitals({}, null, { sleep: { from: "22:45", to: "06:30", slots: 5, stages: "01231" } })],
    ["IWBP97#"],
  ],
  [
    "a night in minutes",
    "A",
    "IWAP97,130,250#",
    [vitals({}, null, { sleep: { deep_minutes: 130, light_minutes: 250 } })],
    ["IWBP97#"],
  ],
  [
    "pressure, diastolic first",
    "B",
    "IWAPJK,20260506070530,1,78|122#",
    [vitals({ sbp: 122, dbp: 78 }, TIME_MS)],
    ["IWBPJK,1#"],
  ],
  ["heart rate with time", "B", "IWAPJK,2026-05-06 07:05:30,2,71#", [vitals({ hr: 71 }, TIME_MS)], ["IWBPJK,2#"]],
  ["the time of the dial", "B", "IWAPJK,20260506090530,2,71#", [vitals({ hr: 71 }, TIME_MS)], ["IWBPJK,2#"]],
  ["temperature, bad time", "B", "IWAPJK,20261306070530,3,36.4#", [vitals({ temp: 36.4 })], ["IWBPJK,3#"]],
  ["oxygen zero", "B", "IWAPJK,20260506070530,4,0#", [vitals({ spo2: null }, TIME_MS)], ["IWBPJK,4#"]],
  [
    "deep sleep",
    "B",
    "IWAPJK,20260506070530,5,130#",
    [vitals({}, TIME_MS, { sleep: { deep_minutes: 130 } })],
    ["IWBPJK,5#"],
  ],
  [
    "other sleep",
    "B",
    "IWAPJK,20260506070530,6,40#",
    [vitals({}, TIME_MS, { sleep: { type: 6, value: "40" } })],
    ["IWBPJK,6#"],
  ],
  ["a type to come", "B", "IWAPJK,20260506070530,12,40#", [heartbeat], ["IWBPJK,12#"]],
  ["two temperatures", "B", "IWAPTP,36.4,33.9#", [vitals({ temp: 36.4 }, null, { wrist_temp: 33.9 })], ["IWBPTP#"]],
  ["oxygen", "B", "IWAPSP,97#", [vitals({ spo2: 97 })], ["IWBPSP#"]],
  ["a part of an ECG", "A", "IWAPHD,20260506070530,3,1,10,2.5,1,250,8,0001FFFF7FFF8000#", [ecgPart], ["IWBPHD#"]],
  [
    "a part of an ECG whose length counts hex characters",
    "A",
    "IWAPHD,20260506070530,3,1,10,2.5,1,250,16,0001FFFF7FFF8000#",
    [ecgPart],
    ["IWBPHD#"],
  ],
];

const ANSWERS: Row[] = [
  ["an accepted command", "A", "IWAP16,700001#", [answer("AP16", "700001")], []],
  ["a late answer", "A", "IWAPXL,123456#", [answer("APXL", "123456")], []],
  ["the mode in an answer", "A", "IWAP33,700001,2#", [answer("AP33", "700001", ["2"])], []],
  ["a padded mode in an answer", "A", "IWAP33,700001,02#", [answer("AP33", "700001", ["2"])], []],
  ["an answer of a TRV unit", "A", "TRVAP18,700001#", [answer("AP18", "700001")], []],
  ["a temperature code with a serial", "B", "IWAP50,700001,1#", [answer("AP50", "700001", ["1"])], []],
  ["a code of a command without serial", "B", "IWAPOX,ok#", [answer("APOX", null, ["ok"])], []],
  ["six digits", "A", "IWAPQQ,654321#", [answer("APQQ", "654321")], []],
  ["an unknown code with a serial", "A", "IWAPQQ,654321,1#", [answer("APQQ", "654321", ["1"])], []],
  [
    "a voice part that arrived",
    "A",
    "IWAP28,0041,700001,3,2,1#",
    [answer("AP28", "700001", ["3", "2", "1"], true), messageAnswer("700001", 2, false)],
    [],
  ],
  [
    "the last voice part",
    "A",
    "IWAP28,0041,700001,3,3,1#",
    [answer("AP28", "700001", ["3", "3", "1"], true), messageAnswer("700001", 3, true)],
    [],
  ],
  [
    "a voice part that did not",
    "A",
    "IWAP28,,700001,3,2,0#",
    [answer("AP28", "700001", ["3", "2", "0"], false), messageAnswer("700001", 2, false, false)],
    [],
  ],
  [
    "a text of a kids' watch, which is no part",
    "C",
    "IWAP28,0041,700001,0,0,1#",
    [answer("AP28", "700001", ["0", "0", "1"], true), messageAnswer("700001", 0, true)],
    [],
  ],
  ["a text", "A", "IWAP40,700001#", [answer("AP40", "700001"), messageAnswer("700001", null, true)], []],
];

const MEDIA: Row[] = [
  [
    "voice in raw bytes, with a hash inside",
    "A",
    "IWAP07,20260506070530,2,1,12,#!AMR\n\x04##\xff,##",
    [voice(1, Buffer.from("#!AMR\n\x04##\xff,#", "latin1"))],
    ["IWBP07,20260506070530,2,1,1#"],
  ],
  [
    "a later raw part",
    "A",
    "IWAP07,20260506070530,2,2,3,\x00#\x80#",
    [voice(2, Buffer.from("\x00#\x80", "latin1"))],
    ["IWBP07,20260506070530,2,2,1#"],
  ],
  [
    "voice in hex",
    "B",
    "IWAP07,20260506070530,2,1,16,2321414D520a0423#",
    [voice(1, Buffer.from("2321414d520a0423", "hex"))],
    ["IWBP07,20260506070530,2,1,1#"],
  ],
  [
    "a text",
    "C",
    "IWAP07,20260506070530,0,0,16,004300690061006f#",
    [{ kind: "text", deviceTimeMs: TIME_MS, text: "Ciao" }],
    ["IWBP07,20260506070530,0,0,1#"],
  ],
  [
    "a picture",
    "B",
    "IWAP42,20260506070530,4,1,6,\xff\xd8\xff#\x00\x01#",
    [vitals({}, TIME_MS, { picture_bytes: 6 })],
    ["IWBP07,20260506070530,4,1,1#"],
  ],
  [
    "a picture whose code got lost",
    "B",
    "IWnull,20260506070531,4,2,8,ffd8ff00#",
    [vitals({}, TIME_MS + 1000, { picture_bytes: 4 })],
    ["IWBP07,20260506070531,4,2,1#"],
  ],
];

export const IW_SAMPLES: IwSample[] = [...IW_POSITIONS, ...STATES, ...IW_ALARMS, ...HEALTH, ...ANSWERS, ...MEDIA].map(
  ([name, dialect, frame, messages, replies]) => ({ name, dialect, frame, messages, replies }),
);

export const frameBytes = (sample: IwSample): Buffer => Buffer.from(sample.frame, "latin1");

/** Frames of which nothing can be read, and why. */
export const IW_BROKEN: [dialect: Dialect, frame: string, reason: string][] = [
  ["A", "IWAP#", "unknown code"],
  ["A", "IWBP00,20260506070530,2#", "unknown code"],
  ["A", "IWAPab,1#", "unknown code"],
  ["A", "IWAP49,seventy#", "not a number"],
  ["A", "IWAP01260506A4554.3000N#", "bad position block"],
  ["A", `IWAP01${BLOCK}x,222,1,4321,7654321#`, "bad position block"],
  ["A", `IWAP01${BLOCK.replace("N", "X")},222,1,4321,7654321#`, "bad position block"],
  ["A", "IWAP01,260506,A,4554.3000N,01227.6000E,003.2,070530,117.85,065,009,087,0,00,01,222,1#", "bad position block"],
  ["A", "IWAP10260506A4554.3000N#", "bad alarm code"],
  ["A", "IWAP02,it,0,9,222,1,4321|100|21#", "cells are missing"],
  ["A", "IWAP02,it,0,x,222,1,4321|100|21#", "not a whole number"],
  ["A", "IWAP03,065,1#", "bad status block"],
  ["A", `IWAP10${BLOCK},222,1,4321,7654321,S,it,00,#`, "bad alarm code"],
  ["A", "IWAPHD,20260506070530,3,4,10,2.5,1,250,8,0001FFFF7FFF8000#", "bad ECG sequence"],
  ["A", "IWAPHD,20260506070530,3,1,10,2.5,1,0,8,0001FFFF7FFF8000#", "bad ECG sampling rate"],
  ["A", "IWAPHD,20260506070530,3,1,10,2.5,1,20000,8,0001FFFF7FFF8000#", "bad ECG sampling rate"],
  ["A", "IWAPHD,20260506070530,1025,1,10,2.5,1,250,8,0001FFFF7FFF8000#", "too large an ECG"],
  ["A", "IWAPHD,20260506070530,3,1,10,2.5,100,250,8,0001FFFF7FFF8000#", "too large an ECG"],
  ["A", "IWAPHD,20260506070530,3,1,10,2.5,1,250,9,0001FFFF7FFF8000#", "bad ECG data"],
  ["A", "IWAPHD,20260506070530,3,1,10,2.5,1,250,4,0001xxFF#", "bad ECG data"],
  ["A", "IWAP97,abc,1,2#", "not a whole number"],
  ["A", "IWAP97,2245@0630,5,x#", "bad sleep stages"],
  ["B", "IWAPJK,20260506070530,x,1#", "bad type of reading"],
  ["B", "IWAPWR,359000000000017,2,1#", "bad wearing state"],
  ["B", "IWAPVR,359000000000017,#", "no firmware"],
  ["A", "IWAP07,20260506070530#", "media without data"],
  ["A", "IWAP07,20260506070530,1,1,0,#", "empty media part"],
  ["A", "IWAP07,2026050607053x,1,1,1,a#", "bad media time"],
  ["A", "IWAP07,20260506070530,1,2,1,a#", "bad media sequence"],
  ["A", "IWAP07,20260506070530,1,1,12,2321414d52zz#", "bad media hex"],
  ["C", "IWAP07,20260506070530,0,0,3,004#", "bad text"],
];
