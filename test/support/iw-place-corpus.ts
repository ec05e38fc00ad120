import type { Dialect } from "../../src/codecs/iw/fields.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import { alarm, BLOCK, cell, fix, gps, NO_FIX, noFixStatus, type Row, status, TIME_MS, vitals } from "./iw-world.ts";

/** Reports of places and alarms, written after the protocol sheet with invented ids, and what each of them says exactly. */

export const IW_POSITIONS: Row[] = [
  ["a gps fix", "A", `IWAP01${BLOCK},222,1,4321,7654321#`, [fix, vitals(status, TIME_MS)], ["IWBP01#"]],
  [
    "a buffered fix",
    "A",
    `IWAP91${BLOCK},222,01,4321,7654321,#`,
    [{ ...fix, isBuffered: true }, vitals(status, TIME_MS)],
    ["IWBP91#"],
  ],
  [
    "no fix, with access points",
    "A",
    `IWAP01${NO_FIX},222,1,4321,7654321,a|0A-11-22-33-44-55|98& Bar,a|0a:11:22:33:44:56|-71&b|00-00-00-00-00-00|90&c|FF-FF-FF-FF-FF-FF|90&d|0A1122334457|0#`,
    [
      {
        ...fix,
        gps: null,
        accessPoints: [
          { mac: "0a:11:22:33:44:55", signalDbm: -52 },
          { mac: "0a:11:22:33:44:56", signalDbm: -71 },
          { mac: "0a:11:22:33:44:57", signalDbm: null },
        ],
      },
      vitals(noFixStatus, TIME_MS),
    ],
    ["IWBP01#"],
  ],
  [
    "zero coordinates that claim to be valid stay a position",
    "A",
    `IWAP01${NO_FIX.replace("V", "A")}#`,
    [
      {
        ...fix,
        gps: { ...gps, lat: 0, lng: 0, speedKmh: 0, heading: 0, satellites: 0 },
        cells: [],
        network: null,
      },
      vitals(noFixStatus, TIME_MS),
    ],
    ["IWBP01#"],
  ],
  [
    "southern, western, seconds above 59, battery zero",
    "A",
    "IWAP01260506A3345.0000S07036.6000W000.0070575360.0010000800000001,730,2,10,20#",
    [
      {
        ...fix,
        deviceTimeMs: null,
        gps: { ...gps, lat: -33.75, lng: -70.61, speedKmh: 0, heading: 0, satellites: 8 },
        cells: [{ mcc: 730, mnc: 2, lac: 10, cid: 20, signalDbm: null }],
        network: { mcc: 730, mnc: 2 },
      },
      vitals({ gsm_signal: 31, satellites: 8, bat: null }),
    ],
    ["IWBP01#"],
  ],
  [
    "a split block and groups of cells",
    "C",
    "IWAP01,260506,A,4554.3000N,01227.6000E,003.2,070530,117.85,065,009,087,0,00,01,222,1,4321,7654321,x|0A-11-22-33-44-55|98,222|1|4321|100|-80&222|1|4321|101|30#",
    [
      {
        ...fix,
        cells: [cell, { ...cell, cid: 100, signalDbm: -80 }, { ...cell, cid: 101 }],
        accessPoints: [{ mac: "0a:11:22:33:44:55", signalDbm: -52 }],
      },
      vitals(status, TIME_MS),
    ],
    ["IWBP01#"],
  ],
  [
    "one more digit in the minutes",
    "A",
    "IWAP01260506A4554.30000N01227.60000E003.2070530117.8506500908700001,222,1,4321,7654321#",
    [fix, vitals(status, TIME_MS)],
    ["IWBP01#"],
  ],
  [
    "a TRV unit with digits behind the block",
    "A",
    `TRVYP14${BLOCK}00012,222,1,4321,7654321,Casa|0A-11-22-33-44-55|-60#`,
    [{ ...fix, accessPoints: [{ mac: "0a:11:22:33:44:55", signalDbm: -60 }] }, vitals(status, TIME_MS)],
    ["TRVZP14#"],
  ],
  [
    "cells and access points only",
    "A",
    "IWAP02,it,0,2,222,1,4321|100|21,4321|101|-93,1,a|0A-11-22-33-44-55|98#",
    [
      {
        ...fix,
        deviceTimeMs: null,
        gps: null,
        cells: [
          { ...cell, cid: 100 },
          { ...cell, cid: 101, signalDbm: -93 },
        ],
        accessPoints: [{ mac: "0a:11:22:33:44:55", signalDbm: -52 }],
      },
    ],
    ["IWBP02#"],
  ],
  [
    "buffered surroundings without access points",
    "A",
    "IWAP92,it,1,1,222,1,4321|100|21,0,#",
    [{ ...fix, deviceTimeMs: null, gps: null, cells: [{ ...cell, cid: 100 }], isBuffered: true }],
    ["IWBP92#"],
  ],
];

const ALARM_CODES: [Dialect, string, string][] = [
  ["A", "01", "sos"],
  ["A", "02", "low_battery"],
  ["A", "03", "not_worn"],
  ["A", "04", "not_worn"],
  ["A", "05", "fall"],
  ["A", "06", "fall"],
  ["A", "08", "custom"],
  ["A", "14", "custom"],
  ["B", "01", "sos"],
  ["B", "05", "tamper"],
  ["B", "06", "fall"],
  ["B", "14", "inactivity"],
  ["B", "19", "power_off"],
  ["B", "20", "custom"],
  ["C", "01", "sos"],
  ["C", "05", "custom"],
];

export const IW_ALARMS: Row[] = [
  ...ALARM_CODES.map(
    ([dialect, code, type]): Row => [
      `alarm ${code} of dialect ${dialect}`,
      dialect,
      `IWAP10${BLOCK},222,1,4321,7654321,${code},it,00,#`,
      [fix, vitals(status, TIME_MS), alarm(type, code)],
      ["IWBP10#"],
    ],
  ),
  [
    "a report without an alarm",
    "A",
    `IWAP10${BLOCK},222,1,4321,7654321,00,it,11,Casa|0A-11-22-33-44-55|98#`,
    [{ ...fix, accessPoints: [{ mac: "0a:11:22:33:44:55", signalDbm: -52 }] }, vitals(status, TIME_MS)],
    ["IWBP10#"],
  ],
  [
    "an alarm whose position cannot be read",
    "A",
    "IWAP10260506A----.----N-----.----E000.0,222,1,4321,7654321,01,it,00,#",
    [{ ...alarm("sos", "01"), deviceTimeMs: null } as TrackerMessage],
    ["IWBP10#"],
  ],
  ["a fall of dialect B", "B", `IWAPFD,359000000000017,${TIME_MS / 1000}#`, [alarm("fall", "APFD")], ["IWBPFD#"]],
  [
    "taken off",
    "B",
    `IWAPWR,359000000000017,0,${TIME_MS}#`,
    [vitals({}, TIME_MS, { worn: false }), alarm("not_worn", "APWR")],
    [],
  ],
  ["put on", "B", `IWAPWR,359000000000017,1,${TIME_MS}#`, [vitals({}, TIME_MS, { worn: true })], []],
  [
    "low battery of dialect C",
    "C",
    "IWAP04,012#",
    [vitals({ bat: 12 }), { ...alarm("low_battery", "AP04"), deviceTimeMs: null } as TrackerMessage],
    ["IWBP04#"],
  ],
];
