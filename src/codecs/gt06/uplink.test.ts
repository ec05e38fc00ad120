import { describe, expect, it } from "vitest";
import { decode, feed, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import {
  clockHex,
  gpsHex,
  gt06Corpus,
  gt06Imei,
  gt06Login,
  gt06World,
  long,
  short,
} from "../../../test/support/gt06-corpus.ts";
import { messageLine } from "../../../test/support/message-line.ts";
import { gt06 } from "./protocol.ts";

const read = (frame: Buffer) => feed(gt06World, loggedIn(gt06World), [frame]);
const said = (frame: Buffer): string[] => read(frame).frames.flatMap(({ messages }) => messages.map(messageLine));
const replies = (frame: Buffer): string[] =>
  read(frame).frames.flatMap((one) => one.replies.map((reply) => reply.toString("hex")));
const frameNamed = (name: string): Buffer => gt06Corpus.find(([one]) => one === name)?.[1] as Buffer;

const fix = "fix 08:15:24 41.9,12.5 4 km/h 118°";
const cell = "222/1/4660/22136";
const nine = 'vitals {"satellites":9}';
const state = '"status":64,"charging":false}';

const table: readonly (readonly [name: string, ...messages: string[]])[] = [
  ["a position", fix, nine],
  ["a position with a wide cell", `${fix} ${cell}@null`, nine],
  ["a position with a cell", `${fix} ${cell}@null`, nine],
  ["a position with an odometer", `${fix} ${cell}@null`, 'vitals {"satellites":9,"odometer":1000}'],
  [
    "a position with a supply voltage",
    `${fix} ${cell}@null`,
    'vitals {"satellites":9,"gsm_signal":31,"status":66,"charging":false,"ignition":true,"power_v":12.34}',
  ],
  ["a stored position", `${fix} ${cell}@null stored`, 'vitals {"satellites":9,"ignition":true}'],
  [
    "a position with the climate",
    `${fix} ${cell}@null`,
    'vitals {"satellites":9,"ignition":false,"odometer":1,"ambient_temperature":-20,"humidity":50}',
  ],
  ["a position with an altitude", `${fix} 37 m ${cell}@null`, 'vitals {"satellites":9,"ignition":false}'],
  ["a position with modules", `${fix} ${cell}@null`, 'vitals {"satellites":9,"ignition":false,"power_v":12.34}'],
  ["a position of 4G", `${fix} ${cell}@null`, 'vitals {"satellites":9,"ignition":false}'],
  [
    "an alarm",
    `${fix} ${cell}@null`,
    `vitals {"satellites":9,"bat":66,"gsm_signal":23,${state}`,
    "alarm 08:15:24 sos 01",
  ],
  [
    "an alarm with percent",
    `${fix} ${cell}@null`,
    `vitals {"satellites":9,"bat":93,"gsm_signal":23,${state}`,
    "alarm 08:15:24 fall 23",
  ],
  [
    "an alarm with a fence",
    `${fix} ${cell}@null`,
    `vitals {"satellites":9,"bat":100,"gsm_signal":31,${state}`,
    "alarm 08:15:24 custom 05",
  ],
  [
    "an alarm of 4G",
    `${fix} ${cell}@null`,
    `vitals {"satellites":9,"bat":100,"gsm_signal":31,${state}`,
    "alarm 08:15:24 tamper 13",
  ],
  ["an alarm of a camera", "fix 08:15:24 41.9,12.5 null km/h 118°", "alarm 08:15:24 sos 01"],
  ["a status", 'vitals {"bat":83,"gsm_signal":31,"status":68,"charging":true}'],
  [
    "a status with a temperature",
    'vitals {"bat":46,"status":64,"charging":false,"power_v":3.67,"ambient_temperature":-2.5}',
  ],
  ["a heartbeat", 'vitals {"gsm_signal":31,"status":64,"charging":false,"battery_v":4}'],
  ["a status with modules", 'vitals {"bat":95,"gsm_signal":31,"status":0,"charging":false,"battery_v":4.02}'],
  ["a status in percent", 'vitals {"bat":100,"gsm_signal":12,"status":70,"charging":true}'],
  ["a cell and a status", `fix - nowhere ${cell}@null`, `vitals {"bat":100,"gsm_signal":31,${state}`],
  [
    "an alarm with a cell",
    `fix - nowhere ${cell}@null`,
    `vitals {"bat":100,"gsm_signal":31,${state}`,
    "alarm - sos 01",
  ],
  ["cells", `fix 08:15:24 nowhere ${cell}@-62 ${cell}@-62`],
  ["cells and access points", `fix 08:15:24 nowhere ${cell}@-62 ${cell}@-62 9c:3d:00:00:00:01@-56`],
  ["counted cells", `fix 08:15:24 nowhere ${cell}@-62 ${cell}@-62`],
  ["access points", "fix 08:15:24 nowhere 9c:3d:00:00:00:01@null"],
  ["a long position", `${fix} ${cell}@-36 9c:3d:00:00:00:01@-55`, 'vitals {"satellites":9,"status":0}'],
  ["the supply", 'vitals {"power_v":12.59}'],
  ["the SIM", "info 89390000000000000001 222019999999999"],
  ["modules", 'vitals {"satellites":7,"event":20,"battery_v":4.02}', "alarm - tamper 14"],
  ["the firmware", "info GT1"],
  ["an answer", "answer 80 77 true"],
  ["a refusal", "answer 80 77 false not_supported"],
  ["a question for the time", "heartbeat"],
  ["a question for an address", "heartbeat"],
  ["an unknown kind", "heartbeat"],
  ["an unknown long kind", "heartbeat"],
];

describe("what frames say", () => {
  it("has a row for every frame of the corpus", () =>
    expect(table.map(([name]) => name)).toEqual(gt06Corpus.map(([name]) => name)));
  it.each(table)("reads %s", (name, ...messages) => expect(said(frameNamed(name))).toEqual(messages));
});

describe("answers", () => {
  it("repeats type and serial", () => {
    expect(replies(frameNamed("a position"))).toEqual(["787805101234c69a0d0a"]);
    expect(replies(frameNamed("a long position"))).toEqual(["7979000532123443b00d0a"]);
  });
  it("gives the time in UTC to a unit that asks", () =>
    expect(replies(frameNamed("a question for the time"))).toEqual(["78780b8a1a0301080f1e123423e00d0a"]));
  it("has no address for a unit that asks", () =>
    expect(replies(frameNamed("a question for an address"))).toEqual([
      "79790015970b000000004e4126264e412626302323123437980d0a",
    ]));
  it("says nothing to texts and to long kinds that it does not know", () => {
    for (const name of ["an answer", "a refusal", "an unknown long kind"])
      expect(replies(frameNamed(name))).toEqual([]);
  });
  it("gives units that send no serial the time of their frame back", () => {
    const networks = Buffer.from(
      "78780069260301081524 02 00de01 1234 5678 3e 1234 5679 46 0d0a".replaceAll(" ", ""),
      "hex",
    );
    expect(said(networks)).toEqual(["fix 08:15:24 nowhere 222/1/4660/22136@-62 222/1/4660/22137@-70"]);
    expect(replies(networks)).toEqual(["787800692603010815240d0a"]);
    expect(replies(Buffer.from("787801080d0a", "hex"))).toEqual(["787801080d0a"]);
  });
});

describe("logging in", () => {
  it("gives the IMEI, and the answer that follows when it is accepted", () => {
    const { frames } = decode(gt06, gt06Login, fresh(gt06World));
    expect(frames).toMatchObject([{ messages: [{ kind: "login", id: gt06Imei }] }]);
    expect(frames[0]?.replies.map((reply) => reply.toString("hex"))).toEqual(["787805010001d9dc0d0a"]);
  });

  it("takes the zone of the clock from the login", () => {
    const timeAfter = (zone: string): string | undefined => {
      const login = short(0x01, `0${gt06Imei} 0001 ${zone}`);
      const { frames } = feed(gt06World, fresh(gt06World), [Buffer.concat([login, short(0x10, gpsHex)])]);
      return frames[1]?.messages.map(messageLine)[0]?.slice(4, 12);
    };
    expect(timeAfter("3200")).toBe("00:15:24");
    expect(timeAfter("2128")).toBe("13:45:24");
    expect(timeAfter("0000")).toBe("08:15:24");
  });

  it.each([
    ["a frame before the login", short(0x10, gpsHex), "frame before the login"],
    ["an IMEI that is no number", short(0x01, "0a90155500012348"), "login without an IMEI"],
    ["an IMEI that is cut", short(0x01, "0490"), "login without an IMEI"],
  ])("refuses %s", (_, frame, reason) =>
    expect(decode(gt06, frame, fresh(gt06World)).problems).toMatchObject([{ reason, isFrame: true }]),
  );

  it("refuses a login with a wrong checksum", () => {
    const damagedLogin = Buffer.from(gt06Login);
    damagedLogin[5] = 0x99;
    expect(decode(gt06, damagedLogin, fresh(gt06World)).problems).toMatchObject([
      { reason: "login with a wrong checksum" },
    ]);
  });

  it("takes a second login for a sign of life, and refuses that of another device", () => {
    expect(said(gt06Login)).toEqual(["heartbeat"]);
    expect(read(short(0x01, "0490155500099999")).problems).toMatchObject([{ reason: "another id on this connection" }]);
  });
});

describe("values", () => {
  const alarms = (...frames: Buffer[]): string[] =>
    feed(gt06World, loggedIn(gt06World), frames).frames.flatMap(({ messages }) =>
      messages.filter(({ kind }) => kind === "alarm").map(messageLine),
    );

  it("makes no gps fix of a position without the bit for it", () =>
    expect(said(short(0x10, `${clockHex} c0 047ed160 015752a0 00 0476`))[0]).toBe("fix 08:15:24 nowhere"));

  it("puts south and west below zero", () =>
    expect(said(short(0x10, `${clockHex} c9 047ed160 015752a0 04 1876`))[0]).toBe(
      "fix 08:15:24 -41.9,-12.5 4 km/h 118°",
    ));

  it("raises the alarm of a state once, when it begins", () => {
    const [calm, help] = [short(0x13, "40 06 04 00 02"), short(0x13, "60 06 04 00 02")];
    expect(alarms(calm, help, help, calm, help)).toEqual(["alarm - sos S4", "alarm - sos S4"]);
  });

  it("raises every alarm packet", () => {
    const sos = frameNamed("an alarm");
    expect(alarms(sos, sos)).toHaveLength(2);
  });

  it.each([
    ["01", "sos"],
    ["06", "overspeed"],
    ["0e", "low_battery"],
    ["0f", "low_battery"],
    ["19", "low_battery"],
    ["11", "power_off"],
    ["13", "tamper"],
    ["18", "tamper"],
    ["25", "tamper"],
    ["32", "tamper"],
    ["23", "fall"],
    ["02", "custom"],
    ["fe", "custom"],
  ])("reads alarm byte %s as %s", (code, type) =>
    expect(alarms(short(0x16, `${gpsHex} 09 00de 01 1234 005678 40 04 03 ${code} 02`))).toEqual([
      `alarm 08:15:24 ${type} ${code.toUpperCase()}`,
    ]),
  );

  it("reads the supply voltage of models that send it in place of the battery", () => {
    const world = { ...gt06World, device: { ...gt06World.device, traits: { status_layout: "voltage" } } };
    const { frames } = feed(world, loggedIn(world), [short(0x13, "46 0b12 04 00")]);
    expect(frames[0]?.messages).toMatchObject([{ metrics: { gsm_signal: 31 }, extra: { power_v: 28.34 } }]);
  });

  it("reads the place that a text tells", () => {
    const text = "Current position!Lat:S41.5,Lon:W12.25,Course:126.53,Speed:3.5,DateTime:2026-03-01  08:15:24";
    expect(said(long(0x21, `00000000 01 ${Buffer.from(text).toString("hex")}`))).toEqual([
      "fix 08:15:24 -41.5,-12.25 3.5 km/h 127°",
    ]);
  });

  it("takes no text for an answer that nobody waits for", () =>
    expect(said(long(0x21, `0000004e 01 ${Buffer.from("OK!").toString("hex")}`))).toEqual(["heartbeat"]));

  it("reads answers in UTF-16", () =>
    expect(said(long(0x21, "0000004d 02 0046 0061 0069 006c"))).toEqual(["answer 80 77 false device_rejected"]));
});
