import { describe, expect, it } from "vitest";
import { feed, loggedIn } from "../../../test/support/codec-harness.ts";
import {
  frameOf,
  jt808World,
  newForm,
  oldForm,
  place,
  placeGps,
  placeTimeMs,
  placeWith,
  terminalId,
} from "../../../test/support/jt808-corpus.ts";
import type { Session } from "../protocol-definition.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { generalAnswer, registrationAnswer } from "./answers.ts";

function readFrames(frames: readonly Buffer[], session: Session = loggedIn(jt808World)) {
  const { frames: found, problems } = feed(jt808World, session, [Buffer.concat(frames)]);
  const replies = found.flatMap((frame) => frame.replies.map((reply) => reply.toString("hex")));
  return { messages: found.flatMap((frame) => frame.messages), replies, frames: found, problems };
}

const general = (serial: number, messageId: number, result = 0): string =>
  generalAnswer(oldForm, serial, messageId, result).toString("hex");
const kinds = (messages: readonly TrackerMessage[]): string[] => messages.map(({ kind }) => kind);
const vitalsOf = (messages: readonly TrackerMessage[]) => messages.find((message) => message.kind === "vitals");

describe("locations", () => {
  it("reads place, time and items, and answers", () => {
    const body = `${place} 01 04 00000929 30 01 1f 31 01 0c e4 02 0163 f8 02 4936`;
    const { messages, replies, frames } = readFrames([frameOf(0x0200, 8, body)]);
    expect(messages).toEqual([
      {
        kind: "fix",
        deviceTimeMs: placeTimeMs,
        gps: { ...placeGps, satellites: 12 },
        cells: [],
        accessPoints: [],
        network: null,
        isBuffered: false,
      },
      {
        kind: "vitals",
        deviceTimeMs: placeTimeMs,
        metrics: { gsm_signal: 31, satellites: 12, bat: 99, steps: 18_742 },
        extra: { ignition: false, odometer_km: 234.5, is_charging: true },
      },
    ]);
    expect(replies).toEqual([general(8, 0x0200)]);
    expect(frames[0]?.reports).toHaveLength(1);
  });

  it("reads south and west, and no place without a fix", () => {
    const south = readFrames([frameOf(0x0200, 1, placeWith("00000000", "0000000e"))]).messages[0];
    expect(south).toMatchObject({ gps: { lat: -41.903022, lng: -12.496606 } });
    const lost = readFrames([frameOf(0x0200, 1, placeWith("00000000", "00000000"))]).messages[0];
    expect(lost).toMatchObject({ kind: "fix", gps: null });
  });

  it("takes the clock of the model, unless the report names its zone", () => {
    const device = { ...jt808World.device, traits: { clock_offset_minutes: 0 } };
    const utc = readFrames([frameOf(0x0200, 1, place)], { ...loggedIn(jt808World), device });
    expect(utc.messages[0]).toMatchObject({ deviceTimeMs: placeTimeMs + 8 * 3_600_000 });
    const named = readFrames([frameOf(0x0200, 1, `${place} eb 09 5554432d30343a3030`)]);
    expect(named.messages[0]).toMatchObject({ deviceTimeMs: placeTimeMs + 12 * 3_600_000 });
  });

  it("reads cells and Wi-Fi", () => {
    const body = `${place} e1 0c 00de0001 00bbe4 001ada29 bb ec 0e 5091e3194157ae 8c86dd750382a6`;
    expect(readFrames([frameOf(0x0200, 1, body)]).messages[0]).toMatchObject({
      cells: [{ mcc: 222, mnc: 1, lac: 0xbbe4, cid: 0x1ada29, signalDbm: -69 }],
      accessPoints: [
        { mac: "50:91:e3:19:41:57", signalDbm: -82 },
        { mac: "8c:86:dd:75:03:82", signalDbm: -90 },
      ],
      network: { mcc: 222, mnc: 1 },
    });
  });

  it("keeps items that nobody knows as they came, and never the password of a lock", () => {
    const { extra } =
      vitalsOf(readFrames([frameOf(0x0200, 1, `${place} c9 02 beef 67 04 31323334 30 09 01`)]).messages) ?? {};
    expect(extra).toEqual({ ignition: false, items: { c9: "beef" } });
  });

  it("reads batches record by record, each recognizable by itself", () => {
    const single = readFrames([frameOf(0x0200, 8, place)]);
    const { frames, messages, replies } = readFrames([
      frameOf(0x0704, 9, `0002 01 001c ${place} 001c ${placeWith("00000001")}`),
    ]);
    expect(kinds(messages)).toEqual(["fix", "vitals", "fix", "vitals", "alarm"]);
    expect(messages[0]).toMatchObject({ isBuffered: true });
    expect(replies).toEqual([general(9, 0x0704)]);
    expect(frames[0]?.reports).toHaveLength(2);
    expect(frames[0]?.reports?.[0]?.raw).toEqual(single.frames[0]?.reports?.[0]?.raw);
  });

  it("refuses a batch whose records do not fit", () => {
    expect(readFrames([frameOf(0x0704, 9, `0002 01 001c ${place} 00ff 00`)]).problems).toMatchObject([
      { isFrame: true },
    ]);
  });
});

describe("alarms", () => {
  const alarmsOf = (words: readonly string[]): string[] =>
    readFrames(words.map((word, index) => frameOf(0x0200, index, placeWith(word)))).messages.flatMap((message) =>
      message.kind === "alarm" ? [`${message.type} ${message.code}`] : [],
    );

  it.each([
    ["00000001", "sos 0"],
    ["00000002", "overspeed 1"],
    ["00000080", "low_battery 7"],
    ["00000100", "power_off 8"],
    ["00010000", "tamper 16"],
    ["00040000", "low_battery 18"],
    ["20000000", "custom 29"],
  ])("reads the word %s", (word, alarm) => expect(alarmsOf([word])).toEqual([alarm]));

  it("raises a lasting alarm once, and an emergency every time", () => {
    expect(alarmsOf(["00000003", "00000003", "00000000", "00000002"])).toEqual([
      "sos 0",
      "overspeed 1",
      "sos 0",
      "overspeed 1",
    ]);
  });
});

describe("registration", () => {
  const fresh = (): Session => ({ nowMs: jt808World.nowMs, device: undefined, memory: new Map() });
  const register = frameOf(0x0100, 4, "002c012f 3730313131");

  it("tells the code, and stores it first", () => {
    const { messages, replies } = readFrames([register], fresh());
    expect(messages).toEqual([
      { kind: "login", id: terminalId, proof: { kind: "registers" } },
      { kind: "authentication", code: "a1b2c3d4" },
    ]);
    expect(replies).toEqual([registrationAnswer(oldForm, 4, 0, "a1b2c3d4").toString("hex")]);
    expect(replies[0]).toBe("7e8100000b01390000001700000004006131623263336434a17e");
  });

  it("requires the code once it was given", () => {
    const session = fresh();
    const right = frameOf(0x0102, 5, "6131623263336434");
    const wrong = frameOf(0x0102, 6, "6131623263336400");
    const { replies } = readFrames([register, right, wrong], session);
    expect(replies.slice(1)).toEqual([general(5, 0x0102), general(6, 0x0102, 1)]);
  });

  it("asks nothing of a terminal that never registered", () => {
    expect(readFrames([frameOf(0x0102, 6, "313233")]).replies).toEqual([general(6, 0x0102)]);
  });

  it("offers the code as proof of a login, in both forms", () => {
    const proofs = [frameOf(0x0102, 5, "6131"), frameOf(0x0102, 5, "02 6131 343930", newForm), frameOf(0x0002, 1, "")];
    expect(proofs.map((frame) => readFrames([frame], fresh()).messages[0])).toEqual([
      { kind: "login", id: terminalId, proof: { kind: "code", code: "a1" } },
      { kind: "login", id: terminalId, proof: { kind: "code", code: "a1" } },
      { kind: "login", id: terminalId, proof: { kind: "none" } },
    ]);
  });

  it("gives the code up with the registration", () => {
    expect(readFrames([frameOf(0x0003, 5, "")]).messages).toEqual([{ kind: "authentication", code: null }]);
  });

  it("answers a refused login as the standard says", () => {
    const session = fresh();
    readFrames([frameOf(0x0102, 5, "6131")], session);
    expect(jt808World.protocol.refuse?.("unknown_device", session)?.toString("hex")).toBe(general(5, 0x0102, 1));
  });
});

describe("answers of the terminal", () => {
  it.each([
    ["00", true, undefined],
    ["01", false, "device_rejected"],
    ["02", false, "invalid_params"],
    ["03", false, "not_supported"],
    ["04", true, undefined],
  ])("reads result %s", (result, isAccepted, refusal) => {
    const { messages, replies } = readFrames([frameOf(0x0001, 1, `0007 8103 ${result}`)]);
    expect(messages).toMatchObject([{ kind: "command_answer", word: "8103", serial: "7", isAccepted }]);
    expect(messages[0]).toHaveProperty("fields", []);
    expect((messages[0] as { refusal?: string }).refusal).toBe(refusal);
    expect(replies).toEqual([]);
  });

  it("reads the position that was asked for as an answer", () => {
    const { messages, replies } = readFrames([frameOf(0x0201, 1, `0007 ${place}`)]);
    expect(kinds(messages)).toEqual(["command_answer", "fix", "vitals"]);
    expect(messages[0]).toMatchObject({ word: "8201", serial: "7", isAccepted: true });
    expect(replies).toEqual([]);
  });

  it("takes the answer to a text for commands and for messages", () => {
    expect(readFrames([frameOf(0x0001, 1, "0007 8300 00")]).messages).toMatchObject([
      { kind: "command_answer", word: "8300", serial: "7" },
      { kind: "message_answer", serial: "7", isAccepted: true, isLast: true },
    ]);
  });

  it("reads a text in answer to a text", () => {
    const { messages } = readFrames([frameOf(0x1300, 1, "0007 0053006500740020004f004b0021000d")]);
    expect(messages[0]).toMatchObject({ kind: "command_answer", word: "8300", serial: "7" });
    expect(vitalsOf(messages)?.extra).toEqual({ result: "Set OK!" });
  });
});

describe("other messages", () => {
  it("reads battery and signal of a heartbeat", () => {
    expect(readFrames([frameOf(0x0002, 2, "")]).messages).toEqual([{ kind: "heartbeat" }]);
    expect(vitalsOf(readFrames([frameOf(0x0002, 2, "5c 14 00")]).messages)?.metrics).toEqual({
      bat: 92,
      gsm_signal: 20,
    });
  });

  it("tells the time in UTC", () => {
    const [reply] = readFrames([frameOf(0x0109, 3, "")]).replies;
    expect(reply?.slice(26, 42)).toBe("07ea0301080f1e00");
  });

  it("answers what it does not know", () => {
    expect(readFrames([frameOf(0x0f7e, 3, "7d7e")])).toMatchObject({
      messages: [{ kind: "heartbeat" }],
      replies: [general(3, 0x0f7e)],
    });
  });

  it("makes a message of a recording", () => {
    const { messages, replies } = readFrames([frameOf(0x0801, 18, `0000002a 01 00 00 00 ${place} 2321414d520a3c`)]);
    expect(messages.at(-1)).toMatchObject({ kind: "voice_part", transfer: "media-42", total: 1, sequence: 1 });
    expect(replies[0]).toContain("8800");
  });

  it("answers the question of a lock for the time", () => {
    const { replies } = readFrames([Buffer.from("(13900000017,1,001,BASE,2,TIME)")]);
    expect(Buffer.from(replies[0] ?? "", "hex").toString()).toBe("(13900000017,1,001,BASE,2,20260301081530)");
  });
});
