import { describe, expect, it } from "vitest";
import { decode, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import {
  binary,
  binaryFix,
  binaryImei,
  binaryPlace,
  gl200Case,
  imei,
  place,
  report,
  tail,
  text,
} from "../../../test/support/gl200-corpus.ts";
import type { TrackerMessage } from "../tracker-message.ts";

const { world } = gl200Case;
const fixTime = Date.UTC(2026, 1, 28, 23, 59, 58);
const sendTime = Date.UTC(2026, 2, 1, 0, 0, 1);
const cell = { mcc: 222, mnc: 1, lac: 0x14a0, cid: 0x3b882a2, signalDbm: null };
const gps = {
  lat: 41.902782,
  lng: 12.496366,
  altitudeM: 37.5,
  speedKmh: 3.2,
  heading: 118,
  accuracyM: null,
  satellites: null,
};
const fix = {
  kind: "fix",
  deviceTimeMs: fixTime,
  gps,
  cells: [cell],
  accessPoints: [],
  network: { mcc: 222, mnc: 1 },
  isBuffered: false,
} as const;
const vitals = (metrics: object, extra: object = {}, deviceTimeMs: number = fixTime) => ({
  kind: "vitals",
  deviceTimeMs,
  metrics,
  extra,
});

function read(frame: Buffer): TrackerMessage[] {
  const { frames, problems } = decode(world.protocol, frame, loggedIn(world));
  expect(problems).toEqual([]);
  return frames.flatMap(({ messages }) => messages);
}
const problemsOf = (frame: Buffer) =>
  decode(world.protocol, frame, loggedIn(world)).problems.map(({ reason }) => reason);

describe("positions", () => {
  it("are read with battery and cell", () =>
    expect(read(report("FRI", `0,0,1,${place},0.0,64,${tail}`))).toEqual([fix, vitals({ bat: 64 })]));

  it("come several in one report", () => {
    const messages = read(report("FRI", `0,0,2,${place},0.0,${place.replace("235958", "235959")},0.0,64,${tail}`));
    expect(messages).toEqual([fix, { ...fix, deviceTimeMs: fixTime + 1000 }, vitals({ bat: 64 }, {}, fixTime + 1000)]);
  });

  it("are buffered when the head says so", () =>
    expect(read(report("FRI", `0,0,1,${place},0.0,64,${tail}`, "+BUFF"))[0]).toEqual({ ...fix, isBuffered: true }));

  it("with an accuracy of zero are no fix, and the cell is of the time of sending", () =>
    expect(read(report("RTL", `0,0,1,${place.replace("2,", "0,")},0.0,64,${tail}`))[0]).toEqual({
      ...fix,
      deviceTimeMs: sendTime,
      gps: null,
    }));

  it("without coordinates keep the cell", () =>
    expect(read(report("RTL", `0,0,1,0,,,,,,,0222,0001,14A0,3B882A2,0.0,64,${tail}`))).toEqual([
      { ...fix, deviceTimeMs: sendTime, gps: null },
      vitals({ bat: 64 }, {}, sendTime),
    ]));

  it("may have access points before the cell", () =>
    expect(
      read(report("FRI", `0,0,1,${place.replace(",0222", ",1,a40b0c0d0e01,-48,,,,0222")},3,64,${tail}`))[0],
    ).toEqual({ ...fix, accessPoints: [{ mac: "a4:0b:0c:0d:0e:01", signalDbm: -48 }] }));

  it("of CDMA networks have no cell", () =>
    expect(read(report("FRI", `0,1,1,${place.replace("0222,0001", "4126,210")},00,92,${tail}`))[0]).toMatchObject({
      gps,
      cells: [],
      network: null,
    }));

  it("are found in unknown reports", () => expect(read(report("XYZ", `7,8,9,${place},,${tail}`))).toEqual([fix]));
});

describe("batteries of the models", () => {
  it.each([
    ["a vehicle tracker, before its status", "FRI", "060100", `,,00,1,${place},00,2000.0,,,,80,210100,,,,${tail}`, 80],
    [
      "an empty one of a vehicle tracker",
      "FRI",
      "060100",
      `,,00,1,${place},00,2000.0,,,,0,210100,,,,${tail}`,
      undefined,
    ],
    ["GL500, before the place", "CTN", "440200", `0,0,2,,9,${place},,,0000,${tail}`, 9],
    ["GL500M, behind signal and distance", "FRI", "DE0114", `0,0,1,${place},18,0,,93,0,,,${tail}`, 93],
    ["GL320M in a long report", "ERI", "C30303", `00000100,0,0,1,${place},,97,1,32.4,${tail}`, 97],
  ])("%s", (_, word, version, rest, bat) => {
    const found = read(report(word, rest, "+RESP", version)).find((message) => message.kind === "vitals");
    expect(found?.metrics.bat ?? undefined).toBe(bat);
  });
});

describe("alarms", () => {
  it.each([
    ["SOS", `0,0,1,${place},0.0,64,${tail}`, "sos"],
    ["BPL", `3.53,${place},,${tail}`, "low_battery"],
    ["NMR", `0,0,1,${place},00,64,${tail}`, "inactivity"],
    ["SPD", `0,0,1,${place},00,64,${tail}`, "overspeed"],
    ["STC", `,${place},00,${tail}`, "charging_stopped"],
    ["BTC", `,${place},00,${tail}`, "charging_started"],
    ["GEO", `0,1,1,${place},00,64,${tail}`, "custom"],
  ])("GT%s", (word, rest, type) =>
    expect(read(report(word, rest)).at(-1)).toEqual({ kind: "alarm", type, code: `GT${word}`, deviceTimeMs: fixTime }),
  );

  it("of switching on and off carry the time of sending", () => {
    expect(read(report("PFA", tail))).toEqual([
      { kind: "alarm", type: "power_off", code: "GTPFA", deviceTimeMs: sendTime },
    ]);
    expect(read(report("PNA", tail))).toMatchObject([{ type: "power_on" }]);
  });

  it("are none when the device moves again", () =>
    expect(read(report("NMR", `0,1,1,${place},00,64,${tail}`)).filter(({ kind }) => kind === "alarm")).toEqual([]));
});

describe("status", () => {
  it("has signal, battery, voltage and the number of the SIM", () =>
    expect(
      read(report("INF", `41,8939012345678901234f,17,0,1,26.6,,3.90,1,1,0,0,0,20260228235958,69,1,44,,,${tail}`)),
    ).toEqual([
      vitals({ gsm_signal: 17, bat: 69 }, { state: "41", odometer_km: 26.6, battery_v: 3.9, charging: true }, sendTime),
      { kind: "info", iccid: "8939012345678901234" },
    ]));

  it("tells the firmware", () =>
    expect(read(report("VER", `GL300,0A03,0103,${tail}`))).toEqual([{ kind: "info", firmware: "0A03" }]));

  it("lists cells, the one in use first, and access points", () => {
    const cells = `0222,0001,14A0,0B01,16,,0222,0001,14A0,0B02,14,,,,,,,,0222,0001,14A0,0B03,31,,`;
    const [around] = read(text(`+RESP:GTGSM,400201,${imei},STR,${cells}${tail}`));
    expect(around).toMatchObject({ gps: null, network: { mcc: 222, mnc: 1 } });
    expect(around?.kind === "fix" && around.cells.map(({ cid, signalDbm }) => [cid, signalDbm])).toEqual([
      [0xb03, -79],
      [0xb02, -96],
      [0xb01, -94],
    ]);
    expect(read(report("WIF", `1,a40b0c0d0e01,-48,,,,,,,,64,${tail}`))).toEqual([
      {
        ...fix,
        deviceTimeMs: sendTime,
        gps: null,
        cells: [],
        network: null,
        accessPoints: [{ mac: "a4:0b:0c:0d:0e:01", signalDbm: -48 }],
      },
      vitals({ bat: 64 }, {}, sendTime),
    ]);
  });
});

describe("binary reports", () => {
  it("are read like text", () =>
    expect(read(binaryFix)).toEqual([
      {
        ...fix,
        gps: { ...gps, altitudeM: 38, satellites: 9 },
        cells: [{ ...cell, cid: 0x3b88 }],
      },
      vitals({ bat: 64, satellites: 9 }, { external_v: 12.1 }),
    ]));

  it("of an event with a weak battery are an alarm", () => {
    const head = `06 00fc1fbf 0000 45 0102 0209 ${binaryImei} 09 2f44 21 09`;
    const event = binary("+EVT", `${head} 0dca 01 ${binaryPlace} 07ea0301000001 00a2`);
    expect(read(event).at(-1)).toMatchObject({ kind: "alarm", type: "low_battery" });
  });

  it("with a wrong checksum are refused, and the report after them is read", () => {
    const bad = Buffer.from(binaryFix);
    bad[30] = (bad[30] as number) ^ 1;
    expect(problemsOf(bad)).toEqual(["binary report with a wrong checksum"]);
    const { frames } = decode(world.protocol, Buffer.concat([bad, report("PNA", tail)]), loggedIn(world));
    expect(frames).toHaveLength(1);
  });
});

describe("identity and answers", () => {
  it("takes the first report for the login and reads it again", () => {
    const session = fresh(world);
    const bytes = report("SOS", `0,0,1,${place},0.0,64,${tail}`);
    const first = decode(world.protocol, bytes, session);
    expect(first.frames[0]?.messages).toEqual([{ kind: "login", id: imei }]);
    expect(first.rest).toEqual(bytes);
  });

  it("lets no other id in afterwards, and none at all never", () => {
    const other = text(`+RESP:GTPNA,1A0900,490155500099999,GL300,${tail}`);
    expect(problemsOf(other)).toEqual(["another id on this connection"]);
    expect(problemsOf(text(`+RESP:GTPNA,1A0900,,GL300,${tail}`))).toEqual(["report without an id"]);
  });

  const repliesTo = (frame: Buffer, sack: boolean) => {
    const device = { ...world.device, traits: { command_password: "gl300", sack } };
    return decode(world.protocol, frame, { ...loggedIn(world), device }).frames[0]?.replies.map(String);
  };
  const heartbeat = text(`+ACK:GTHBD,1A0900,${imei},GL300,20260301000001,00A3$`);

  it("always answers a heartbeat", () => {
    expect(repliesTo(heartbeat, false)).toEqual(["+SACK:GTHBD,1A0900,00A3$"]);
    expect(repliesTo(heartbeat, true)).toEqual(["+SACK:GTHBD,1A0900,00A3$"]);
    expect(read(heartbeat)).toEqual([{ kind: "heartbeat" }]);
  });

  it("answers other reports only where the model waits for it", () => {
    const frame = report("FRI", `0,0,1,${place},0.0,64,${tail}`);
    expect(repliesTo(frame, false)).toEqual([]);
    expect(repliesTo(frame, true)).toEqual(["+SACK:00A1$"]);
  });

  it("finds the serial in the answer to a command", () =>
    expect(read(text(`+ACK:GTRTO,1A0900,${imei},GL300,RTL,0012,20260301000001,00A4$`))).toEqual([
      { kind: "command_answer", word: "GTRTO", serial: "0012", isAccepted: null, fields: ["RTL"] },
    ]));
});
