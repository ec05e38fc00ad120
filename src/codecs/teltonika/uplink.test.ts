import { describe, expect, it } from "vitest";
import { feed, loggedIn } from "../../../test/support/codec-harness.ts";
import {
  answerFrame,
  dataFrame,
  frame8,
  gpsHex,
  record8,
  recordGps,
  recordTimeMs,
  teltonikaWorld,
  timeHex,
} from "../../../test/support/teltonika-corpus.ts";
import type { TrackerMessage } from "../tracker-message.ts";

function readFrame(frame: Buffer) {
  const { frames, problems } = feed(teltonikaWorld, loggedIn(teltonikaWorld), [frame]);
  expect(problems).toEqual([]);
  const [only] = frames;
  return {
    messages: only?.messages ?? [],
    replies: only?.replies.map((reply) => reply.toString("hex")) ?? [],
    reports: only?.reports ?? [],
  };
}

const alarmsOf = (messages: readonly TrackerMessage[]): string[] =>
  messages.flatMap((message) => (message.kind === "alarm" ? [`${message.type} ${message.code}`] : []));

describe("records", () => {
  it("say where the device is, and are counted in the answer", () => {
    const { messages, replies } = readFrame(frame8(record8(recordTimeMs, [[239, 1]])));
    expect(messages).toEqual([
      {
        kind: "fix",
        deviceTimeMs: recordTimeMs,
        gps: recordGps,
        cells: [],
        accessPoints: [],
        network: null,
        isBuffered: false,
      },
      {
        kind: "vitals",
        deviceTimeMs: recordTimeMs,
        metrics: { satellites: 9, gsm_signal: 23, bat: 87 },
        extra: { ignition: true, battery_v: 4.023 },
      },
    ]);
    expect(replies).toEqual(["00000001"]);
  });

  it("of one frame are recognized by themselves, in whatever frame they come again", () => {
    const [first, second] = [record8(recordTimeMs), record8(recordTimeMs + 1000)];
    const both = readFrame(frame8(first, second));
    expect(both.replies).toEqual(["00000002"]);
    expect(both.reports.map(({ raw }) => raw)).toEqual(
      [frame8(first), frame8(second)].map((frame) => readFrame(frame).reports[0]?.raw),
    );
  });

  it("without satellites are no fix", () => {
    const record = `${timeHex()} 00 0772ecb8 18f9c9ec 0025 0076 00 0000 00 00 00 00 00 00`;
    expect(readFrame(frame8(record)).messages[0]).toMatchObject({ kind: "fix", gps: null });
  });

  it.each([
    [236, "sos 236"],
    [242, "fall 242"],
    [247, "custom 247"],
  ])("raise an alarm for value %i", (id, alarm) => {
    expect(alarmsOf(readFrame(frame8(record8(recordTimeMs, [[id, 1]], id))).messages)).toEqual([alarm]);
    expect(alarmsOf(readFrame(frame8(record8(recordTimeMs, [[id, 0]]))).messages)).toEqual([]);
  });

  it("of the extended codec have long ids, cells and values of any length", () => {
    const values =
      "0001 0001 05 0001 00ce 1a2b 0002 00f1 000056b9 027c 00abcdef 0001 004e 8000000000000001 0001 0101 0003 414243";
    const { messages } = readFrame(dataFrame(`8e 01 ${timeHex()} 01 ${gpsHex} 00ec 0006 ${values} 01`));
    expect(messages[0]).toMatchObject({
      cells: [{ mcc: 222, mnc: 1, lac: 0x1a2b, cid: 0xabcdef, signalDbm: null }],
      network: { mcc: 222, mnc: 1 },
    });
    expect(messages[1]).toMatchObject({
      extra: { event_id: 236, io: { 1: 5, 78: "8000000000000001", 257: "414243" } },
    });
  });

  it("of codec 16 have a kind of generation", () => {
    const { messages } = readFrame(
      dataFrame(`10 01 ${timeHex()} 00 ${gpsHex} 0000 05 02 01 0071 5c 01 0042 2ee0 00 00 01`),
    );
    expect(messages[1]).toMatchObject({ metrics: { bat: 92 }, extra: { power_v: 12 } });
  });

  it("of codec 7 count their seconds from 2007", () => {
    const record = "22000000 03 1f 42279cd6 4147f4a9 0025 54 03 09 02 01 57 de 01";
    const { messages, replies } = readFrame(dataFrame(`07 01 ${record} 01`));
    expect(messages[0]).toMatchObject({
      deviceTimeMs: Date.UTC(2007, 0, 1) + 0x22000000 * 1000,
      gps: { lat: 41.90316, lng: 12.497231, heading: 118, speedKmh: 3, satellites: 9 },
    });
    expect(messages[1]).toMatchObject({ metrics: { bat: 87 } });
    expect(alarmsOf(messages)).toEqual(["sos 222"]);
    expect(replies).toEqual(["00000001"]);
  });

  it("may have a group of 16 bytes that nothing announces", () => {
    const { messages } = readFrame(dataFrame(`08 01 ${record8(recordTimeMs)} 01 cb ${"0a".repeat(16)} 01`));
    expect(messages[1]).toMatchObject({ extra: { io: { 203: "0a".repeat(16) } } });
  });

  it("keep the beacons and sensors nearby", () => {
    const beacons = "01 0f 0001c6 0106babbf3630055 0202806d";
    const values = `0000 0001 2a30 fb5d 0000 0000 0001 0224 0011 ${beacons}`;
    const { messages } = readFrame(dataFrame(`8e 01 ${timeHex()} 01 ${gpsHex} 0000 0002 ${values} 01`));
    expect(messages[1]).toMatchObject({
      extra: {
        tags: [{ mac: "ba:bb:f3:63:00:55", signal_dbm: -58, battery_mv: 3090 }],
        eye_1_temperature_c: -11.87,
      },
    });
  });
});

describe("texts", () => {
  it("answer the command in progress, and are not answered themselves", () => {
    const { messages, replies } = readFrame(answerFrame("New data record triggered!\r\n"));
    expect(messages[0]).toEqual({
      kind: "command_answer",
      word: "TEXT",
      serial: null,
      isAccepted: true,
      fields: ["New data record triggered!"],
    });
    expect(replies).toEqual([]);
  });

  it("refuse a command that the device does not know, or that is for another one", () => {
    expect(readFrame(answerFrame("Unknown command or invalid format")).messages[0]).toMatchObject({
      isAccepted: false,
      refusal: "not_supported",
    });
    expect(readFrame(dataFrame("0e 01 11 00000008 0490154203237518 01")).messages[0]).toMatchObject({
      isAccepted: false,
    });
  });

  it("of the serial port are kept with their time", () => {
    expect(readFrame(dataFrame("0d 01 06 0000000a 69a3f9dc 48656c6c6f21 01")).messages).toEqual([
      { kind: "vitals", deviceTimeMs: 0x69a3f9dc * 1000, metrics: {}, extra: { result: "Hello!" } },
    ]);
  });

  it("that are pictures say nothing", () => {
    expect(readFrame(dataFrame("0c 01 0d 00000004 ffd8ffe0 01")).messages).toEqual([{ kind: "heartbeat" }]);
  });

  it("a single byte keeps the connection open", () => {
    expect(readFrame(Buffer.of(0xff))).toMatchObject({ messages: [{ kind: "heartbeat" }], replies: [] });
  });
});
