import { describe, expect, it } from "vitest";
import { decode, loggedIn } from "../../../test/support/codec-harness.ts";
import { frameOf, world } from "../../../test/support/watch-corpus.ts";
import type { Alarm, CellTower, Fix, TrackerMessage, Vitals } from "../tracker-message.ts";

/** The messages and replies of one frame with this content. */
function readContent(content: string | Buffer, traits: Record<string, unknown> = world.device.traits) {
  const session = { ...loggedIn(world), device: { ...world.device, traits } };
  const { frames, problems, rest } = decode(world.protocol, frameOf(content), session);
  expect(rest).toHaveLength(0);
  expect(frames.length + problems.length).toBe(1);
  const replies = frames.flatMap((frame) => frame.replies.map((reply) => reply.toString("latin1")));
  return { messages: frames[0]?.messages ?? [], replies, problem: problems[0]?.reason };
}
const messagesOf = (content: string): TrackerMessage[] => readContent(content).messages;
const readings = (metrics: Vitals["metrics"], extra: Vitals["extra"] = {}): Vitals => ({
  kind: "vitals",
  deviceTimeMs: null,
  metrics,
  extra,
});
const heartbeat: TrackerMessage = { kind: "heartbeat" };

describe("signs of life", () => {
  it.each(["LK", "LK,0,100"])("answers %s, which has no data", (content) =>
    expect(readContent(content)).toEqual({
      messages: [heartbeat],
      replies: ["[3G*5550001234*0002*LK]"],
      problem: undefined,
    }),
  );

  it("reads steps, rolls and battery of a long one", () => {
    expect(messagesOf("LK,4210,12,67")).toEqual([readings({ steps: 4210, bat: 67 }, { rolls: 12 })]);
    expect(messagesOf("LK,0,0,0")).toEqual([readings({ steps: 0, bat: 0 }, { rolls: 0 })]);
    expect(messagesOf("LK,,,")).toEqual([readings({ steps: null, bat: null })]);
  });

  it.each([
    ["INIT,5550001,0,W9_V1.2,02", "INIT,1", "0006"],
    ["TKQ", "TKQ", "0003"],
    ["TKQ2", "TKQ2", "0004"],
  ])("answers %s", (content, answer, length) =>
    expect(readContent(content)).toMatchObject({
      messages: [heartbeat],
      replies: [`[3G*5550001234*${length}*${answer}]`],
    }),
  );

  it("takes a word it does not know for a sign of life, and stays silent", () => {
    for (const content of ["HEALTH,1,2", "DEVICEFUNC,9", "RYIMEI,490154203237518", "img", "PULSE"])
      expect(readContent(content)).toEqual({ messages: [heartbeat], replies: [], problem: undefined });
  });

  it.each(["", ",1,2", "\x8a\x10\xff\x00", "1LK", "L K"])("refuses content without a word: %j", (content) =>
    expect(readContent(content)).toEqual({ messages: [], replies: [], problem: "content that cannot be read" }),
  );
});

const deviceTimeMs = Date.UTC(2026, 1, 28, 23, 59, 58);
const status = (hex: string): string => `280226,235958,A,41.902782,N,12.496366,E,3.2,117.6,37.5,9,71,64,4210,12,${hex}`;
const fixOf = (content: string): Fix => messagesOf(content).find((message) => message.kind === "fix") as Fix;

describe("positions", () => {
  it("reads every field, and answers nothing", () => {
    const networks = "1,255,222,1,5120,24680,-71,2,home,A4:0B:0C:0D:0E:01,-48,,a4-0b-0c-0d-0e-02,-80,12.5";
    expect(readContent(`UD,${status("00000008")},${networks}`)).toEqual({
      messages: [
        {
          kind: "fix",
          deviceTimeMs,
          gps: {
            lat: 41.902782,
            lng: 12.496366,
            altitudeM: 37.5,
            speedKmh: 3.2,
            heading: 118,
            accuracyM: 12.5,
            satellites: 9,
          },
          cells: [{ mcc: 222, mnc: 1, lac: 5120, cid: 24680, signalDbm: -71 }],
          accessPoints: [
            { mac: "a4:0b:0c:0d:0e:01", signalDbm: -48 },
            { mac: "a4:0b:0c:0d:0e:02", signalDbm: -80 },
          ],
          network: { mcc: 222, mnc: 1 },
          isBuffered: false,
        },
        {
          kind: "vitals",
          deviceTimeMs,
          metrics: { bat: 64, steps: 4210, gsm_signal: 22, satellites: 9 },
          extra: { rolls: 12, status: "00000008" },
        },
      ],
      replies: [],
      problem: undefined,
    });
  });

  it.each(["UD", "UD2", "UD3", "UD_LTE", "UD_WCDMA", "WT", "ud2"])("knows %s, and what was stored", (word) =>
    expect(fixOf(`${word},${status("0000")}`)).toMatchObject({
      gps: { lat: 41.902782 },
      isBuffered: word.toUpperCase() === "UD2",
    }),
  );

  it("believes no coordinates without a fix", () => {
    const content = `UD,${status("0000").replace(",A,", ",V,")},1,1,222,10,100,200,,0`;
    expect(fixOf(content)).toMatchObject({
      gps: null,
      cells: [{ mcc: 222, mnc: 10, lac: 100, cid: 200, signalDbm: null }],
    });
  });

  it.each([
    ["41.5,N, 9.25,E", 41.5, 9.25],
    ["41.5,S,9.25,W", -41.5, -9.25],
    ["-41.5,N,-9.25,E", -41.5, -9.25],
    ["-41.5,S,-9.25,W", -41.5, -9.25],
    ["41.5,,-9.25,", 41.5, -9.25],
    ["0,S,0,W", 0, 0],
  ])("reads the hemispheres of %s", (coordinates, lat, lng) =>
    expect(fixOf(`UD,280226,235958,A,${coordinates},0,0,0,5,50,50,0,0,0000`).gps).toMatchObject({ lat, lng }),
  );

  it("leaves out what is no number or cannot be", () => {
    const gps = (tail: string) => fixOf(`UD,280226,235958,A,${tail}`).gps;
    expect(gps("1,N,2,E,-3,400,-1,,,")).toMatchObject({
      altitudeM: null,
      speedKmh: null,
      heading: null,
      satellites: null,
    });
    expect(gps("1,N,2,E,0,359.7,0")).toMatchObject({ heading: 0, altitudeM: 0, speedKmh: 0 });
    expect(gps("x,N,2,E,0,0,0")).toBeNull();
    expect(gps(",N,,E")).toBeNull();
  });

  it.each(["310226,120000", "001326,120000", "280226,240000", "280226,126000", "2802261,20000", ",", "28o226,120000"])(
    "has no device time for %s",
    (time) => expect(fixOf(`UD,${time},A,1,N,2,E`).deviceTimeMs).toBeNull(),
  );

  it.each([
    ["0", 0],
    ["100", 31],
    ["50", 16],
    ["99", 31],
    ["101", null],
    ["-70", null],
    ["", null],
  ])("turns %s percent of signal into a level", (percent, level) => {
    const vitals = messagesOf(`UD,280226,235958,V,0,N,0,E,0,0,0,0,${percent},50`)[1] as Vitals;
    expect(vitals.metrics.gsm_signal).toBe(level);
  });

  it.each(["UD", "UD,280226", "WT,1,2,3,4,5"])("refuses %s", (content) =>
    expect(readContent(content)).toEqual({ messages: [], replies: [], problem: "position without coordinates" }),
  );
});

describe("networks of a position", () => {
  const networksOf = (tail: string) => fixOf(`UD,${status("00000000")},${tail}`);
  const cell = (lac: number, cid: number): CellTower => ({ mcc: 222, mnc: 1, lac, cid, signalDbm: null });

  it("reads cells in hexadecimal when one number has a letter", () =>
    expect(networksOf("2,1,222,1,1234,3B882A2,132,10,20,131").cells).toEqual([
      cell(0x1234, 0x3b882a2),
      cell(0x10, 0x20),
    ]));

  it("leaves out cells that cannot be", () => {
    expect(networksOf("5,1,222,01,10,20,,70000,20,,10,0,,x,20,,30,40,").cells).toEqual([cell(10, 20), cell(30, 40)]);
    expect(networksOf("1,1,,,10,20,140")).toMatchObject({ cells: [], network: null });
    expect(networksOf("1,1,0,0,10,20,140")).toMatchObject({ cells: [], network: null });
    expect(networksOf("999999999,1,222,1,10,20").cells).toEqual([cell(10, 20)]);
  });

  const mac = "a4:0b:0c:0d:0e:01";
  it.each([
    ["no cells, no advance", `0,1,home,${mac},-48`],
    ["no cells, but an advance", `0,255,1,home,${mac},-48`],
    ["a name with brackets", `0,1,[LG] tv,${mac},-48`],
    ["a name with an escaped comma", `0,1,a}\x04b,${mac},-48`],
    ["a name with a plain comma", `0,1,a,b,${mac},-48`],
    ["a name that is an address", `0,1,a4:0b:0c:0d:0e:02,${mac},-48`],
    ["points without address", `0,3,x,0,-30,home,${mac},-48,y,,-70`],
    ["a zero address", `0,2,x,00:00:00:00:00:00,-30,home,${mac},-48`],
  ])("finds access points with %s", (_, tail) =>
    expect(networksOf(tail).accessPoints).toEqual([{ mac, signalDbm: -48 }]),
  );

  it.each([
    [`0,1,home,${mac},-48,9.5`, 9.5],
    [`0,1,home,${mac},-48`, null],
    [`0,1,home,${mac},,9.5`, 9.5],
    ["1,1,222,1,10,20,140,0,65.8", 65.8],
    ["0,0,15.0", 15],
    ["0,255,0,15.0", 15],
    ["0,0,0", null],
    ["0,0", null],
    ["0,1,0,0,,10", null],
    ["0,1,,,,00", null],
    ["1,1,222,1,10,20,139,,00", null],
  ])("reads the accuracy of %s", (tail, accuracyM) => expect(networksOf(tail).gps?.accuracyM).toBe(accuracyM));
});

describe("alarms", () => {
  const alarmsOf = (hex: string, traits?: Record<string, unknown>): [string, string][] =>
    readContent(`AL,${status(hex)}`, traits)
      .messages.filter((message): message is Alarm => message.kind === "alarm")
      .map(({ type, code }) => [type, code]);

  it.each([
    ["00010000", [["sos", "16"]]],
    ["00020000", [["low_battery", "17"]]],
    ["00040000", [["custom", "18"]]],
    ["00080000", [["custom", "19"]]],
    ["00100008", [["not_worn", "20"]]],
    ["00200010", [["fall", "21"]]],
    ["00400000", [["fall", "22"]]],
    [
      "00230000",
      [
        ["sos", "16"],
        ["low_battery", "17"],
        ["fall", "21"],
      ],
    ],
    ["0001", [["custom", "0001"]]],
    ["80000000", [["custom", "80000000"]]],
    ["", [["custom", "AL"]]],
  ])("reads the status %j", (hex, alarms) => expect(alarmsOf(hex)).toEqual(alarms));

  it("reads bit 22 as the model means it", () =>
    expect(alarmsOf("00400000", { alarm_bit_22: "heart_rate" })).toEqual([["custom", "22"]]));

  it.each(["AL", "AL_LTE", "ALCUSTOMER1", "al"])("gives position, battery and alarm of %s, and answers", (word) => {
    const { messages, replies } = readContent(`${word},${status("00010000")}`);
    expect(messages.map((message) => message.kind)).toEqual(["fix", "vitals", "alarm"]);
    expect(messages[2]).toEqual({ kind: "alarm", type: "sos", code: "16", deviceTimeMs });
    expect(replies).toEqual(["[3G*5550001234*0002*AL]"]);
  });

  it("never loses an alarm for want of a position", () => {
    const custom: Alarm = { kind: "alarm", type: "custom", code: "AL", deviceTimeMs: null };
    for (const content of ["AL", "AL,1,2"])
      expect(readContent(content)).toMatchObject({ messages: [custom], replies: ["[3G*5550001234*0002*AL]"] });
    expect(messagesOf("ALARM")).toEqual([heartbeat]);
  });

  it("makes no alarm of the status of a position", () =>
    expect(messagesOf(`UD,${status("00010000")}`).map((message) => message.kind)).toEqual(["fix", "vitals"]));
});

describe("health", () => {
  it.each<[string, Vitals]>([
    ["PULSE,72", readings({ hr: 72 })],
    ["heart,71", readings({ hr: 71 })],
    ["HEART,0", readings({ hr: null })],
    ["heart,", readings({ hr: null })],
    ["BLOOD,120,80", readings({ sbp: 120, dbp: 80 })],
    ["bphrt,120,79,73,,,,", readings({ sbp: 120, dbp: 79, hr: 73 })],
    [
      "bphrt,0,0,73,170,2,81,64",
      readings({ sbp: null, dbp: null, hr: 73 }, { height: 170, gender: 2, age: 81, weight: 64 }),
    ],
    ["TEMP,36.6", readings({ temp: 36.6 })],
    ["btemp2,1,35.29", readings({ temp: 35.29 }, { measure_type: 1 })],
    ["btemp2,0,36.1", readings({ temp: 36.1 }, { measure_type: 0 })],
  ])("reads %s, and answers nothing", (content, vitals) =>
    expect(readContent(content)).toEqual({ messages: [vitals], replies: [], problem: undefined }),
  );

  it.each<[string, Vitals, string[]]>([
    ["bodytemp2,,36.4", readings({ temp: 36.4 }), ["", "36.4"]],
    ["oxygen,0,98", readings({ spo2: 98 }, { measure_type: 0 }), ["0", "98"]],
    ["oxygen,0,0", readings({ spo2: null }, { measure_type: 0 }), ["0", "0"]],
  ])("reads %s, which may be all the answer to a request", (content, vitals, fields) => {
    const word = content.split(",")[0]?.toUpperCase();
    const echo = { kind: "command_answer", word, serial: null, isAccepted: null, fields };
    expect(readContent(content)).toEqual({ messages: [vitals, echo], replies: [], problem: undefined });
  });
});

describe("answers of the device", () => {
  it.each([
    ["CR", "CR", []],
    ["UPLOAD,600", "UPLOAD", ["600"]],
    ["hrtstart", "HRTSTART", []],
    ["bodytemp2", "BODYTEMP2", []],
    ["btemp2,1", "BTEMP2", ["1"]],
    ["oxygen", "OXYGEN", []],
    ["SOS1,+390600001", "SOS1", ["+390600001"]],
    ["PHB2", "PHB2", []],
    ["LZ,0,+2", "LZ", ["0", "+2"]],
    ["VERNO", "VERNO", []],
    ["rcapture", "RCAPTURE", []],
  ])("takes %s for one", (content, word, fields) =>
    expect(readContent(Buffer.from(content, "latin1"))).toEqual({
      messages: [{ kind: "command_answer", word, serial: null, isAccepted: null, fields }],
      replies: [],
      problem: undefined,
    }),
  );

  const messageAnswer = (messageType: "text" | "voice", isAccepted: boolean): TrackerMessage => ({
    kind: "message_answer",
    serial: null,
    messageType,
    isAccepted,
    sequence: null,
    isLast: true,
  });

  it("reads MESSAGE as the answer to a command with a text, and to a text", () =>
    expect(readContent(Buffer.from("MESSAGE,\x00caf\xc3\xa9", "latin1")).messages).toEqual([
      { kind: "command_answer", word: "MESSAGE", serial: null, isAccepted: null, fields: ["café"] },
      messageAnswer("text", true),
    ]));

  it.each([
    ["TK,1", true],
    ["TK,0", false],
    ["TK", true],
    ["TK2,1", true],
  ])("reads %s as the answer to our recording", (content, isAccepted) =>
    expect(readContent(content)).toEqual({
      messages: [messageAnswer("voice", isAccepted)],
      replies: [],
      problem: undefined,
    }),
  );

  it.each([
    ["VERNO,W9_V1.2", { firmware: "W9_V1.2" }],
    ["TS,ver:W9_V1.2;ID:5550001234;imei:490154203237518;bat:71", { firmware: "W9_V1.2" }],
    [
      "CONFIG,TY:w9,UL:600,VER:1.2,ICCID:8939000000000000001,IMSI:222010000000001",
      { firmware: "1.2", iccid: "8939000000000000001", imsi: "222010000000001" },
    ],
  ])("learns about the device from %s", (content, info) =>
    expect(readContent(content)).toEqual({ messages: [{ kind: "info", ...info }], replies: [], problem: undefined }),
  );

  it("learns nothing from a configuration without facts", () =>
    expect(messagesOf("CONFIG,TY:w9,UL:600,ICCID:0")).toEqual([heartbeat]));
});

describe("recordings and pictures", () => {
  const escaped = Buffer.from("#!AMR\n}\x01}\x02}\x03}\x04}\x05\xff\x00", "latin1");
  const plain = Buffer.from("#!AMR\n}[],*\xff\x00", "latin1");
  const withBytes = (start: string): Buffer => Buffer.concat([Buffer.from(start), escaped]);

  it("takes a recording in one frame, and names the same one alike", () => {
    const { messages, replies } = readContent(withBytes("TK,"));
    expect(messages).toEqual([
      {
        kind: "voice_part",
        deviceTimeMs: null,
        transfer: expect.stringMatching(/^[0-9a-f]{16}$/),
        total: 1,
        sequence: 1,
        bytes: plain,
      },
    ]);
    expect(replies).toEqual(["[3G*5550001234*0004*TK,1]"]);
    expect(readContent(withBytes("TK2,")).messages).toEqual(messages);
  });

  it("takes a recording in parts", () =>
    expect(readContent(withBytes("JXTK,0,rec_1,2,6,"))).toEqual({
      messages: [{ kind: "voice_part", deviceTimeMs: null, transfer: "rec_1", total: 6, sequence: 2, bytes: plain }],
      replies: ["[3G*5550001234*0007*JXTKR,1]"],
      problem: undefined,
    }));

  it.each(["JXTK", "JXTK,0,rec,1,1", "JXTK,0,,1,1,x", "JXTK,0,rec,0,1,x", "JXTK,0,rec,2,1,x", "JXTK,0,rec,1,9999,x"])(
    "refuses the part %s",
    (content) => expect(readContent(content).problem).toBe("voice part that cannot be read"),
  );

  it("keeps the size of a picture, and stays silent", () =>
    expect(readContent(withBytes("img,5,260228235958,"))).toEqual({
      messages: [readings({}, { picture_bytes: plain.length })],
      replies: [],
      problem: undefined,
    }));
});
