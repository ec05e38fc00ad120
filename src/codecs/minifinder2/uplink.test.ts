import { describe, expect, it } from "vitest";
import { decode, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import {
  atMs,
  data,
  f32,
  frame,
  gps,
  i32,
  idItem,
  imei,
  item,
  minifinder2Case,
  nowMs,
  plainStatus,
  status,
  time,
  u32,
} from "../../../test/support/minifinder2-corpus.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { writeFrame } from "./framing.ts";

const { world } = minifinder2Case;
const spot = { lat: 41.902782, lng: 12.496366 };
const unknown = { altitudeM: null, speedKmh: null, heading: null, accuracyM: null, satellites: null };

function read(bytes: Buffer): TrackerMessage[] {
  const { frames, problems } = decode(world.protocol, bytes, loggedIn(world));
  expect(problems).toEqual([]);
  return frames.flatMap(({ messages }) => messages);
}
const repliesTo = (bytes: Buffer) => decode(world.protocol, bytes, loggedIn(world)).frames[0]?.replies;
const find = (bytes: Buffer, kind: TrackerMessage["kind"]) => read(bytes).find((message) => message.kind === kind);

describe("records of a pendant", () => {
  it("have a fix, battery and signal", () =>
    expect(read(data(status(plainStatus), gps))).toEqual([
      {
        kind: "fix",
        deviceTimeMs: atMs,
        gps: { ...spot, altitudeM: 38, speedKmh: 3, heading: 118, accuracyM: null, satellites: 9 },
        cells: [],
        accessPoints: [],
        network: null,
        isBuffered: false,
      },
      {
        kind: "vitals",
        deviceTimeMs: atMs,
        metrics: { bat: 64, gsm_signal: 19, satellites: 9 },
        extra: { charging: false, moving: false, odometer_km: 2.669 },
      },
    ]));

  it("tell charging, moving and buffered", () => {
    const messages = read(data(status((plainStatus | (1 << 4) | (1 << 7) | (1 << 9)) >>> 0), gps));
    expect(messages).toMatchObject([{ isBuffered: true }, { extra: { charging: true, moving: true } }]);
  });

  it("without a dilution of precision are no fix", () => {
    const none = item(0x20, `${i32(419027820)} ${i32(124963660)} 0300 7600 2600 0000 ${u32(0)} 00`);
    expect(find(data(status(plainStatus), none), "fix")).toBeUndefined();
  });

  it("start again when a key repeats", () => {
    const times = read(data(status(plainStatus), gps, status(plainStatus), gps)).map(({ kind }) => kind);
    expect(times).toEqual(["fix", "vitals", "fix", "vitals"]);
  });

  it("list cells and access points", () => {
    const cell = { mcc: 222, mnc: 1, lac: 0x14d, signalDbm: -75 };
    expect(find(data(item(0x21, "de00 01 b5 4d01 6860")), "fix")).toMatchObject({ cells: [{ ...cell, cid: 0x6068 }] });
    expect(find(data(item(0x29, "de00 01 b5 4d01 68600100")), "fix")).toMatchObject({
      cells: [{ ...cell, cid: 0x16068 }],
    });
    expect(find(data(item(0x2b, "de00 0100 b5 4d01 68600100")), "fix")).toMatchObject({
      cells: [{ ...cell, cid: 0x16068 }],
      network: { mcc: 222, mnc: 1 },
    });
    expect(find(data(item(0x19, "d0 a40b0c0d0e01 04 686f6d65 b0 a40b0c0d0e02 00")), "fix")).toMatchObject({
      accessPoints: [
        { mac: "a4:0b:0c:0d:0e:01", signalDbm: -48 },
        { mac: "a4:0b:0c:0d:0e:02", signalDbm: -80 },
      ],
    });
  });

  it.each([
    ["23", item(0x23, `010e0d0c0ba4 ${i32(419027820)} ${i32(124963660)} 486f6d65`), null],
    ["26", item(0x26, `010e0d0c0ba4 ${i32(419027820)} ${i32(124963660)} 0a00 2600`), 38],
    ["27", item(0x27, `${i32(419027820)} ${i32(124963660)} 0a00 2600`), 38],
    ["28", item(0x28, `c0 010e0d0c0ba4 b5 c5 ${i32(419027820)} ${i32(124963660)} 486f6d65`), null],
    ["2A", item(0x2a, `c0 a40b0c0d0e01 b5 ${i32(419027820)} ${i32(124963660)} 486f6d65`), null],
    ["2C", item(0x2c, `c0 010e0d0c0ba4 b5 c5 40 ${i32(419027820)} ${i32(124963660)} 04 486f6d65 f100`), null],
  ])("know the place of item %s", (_, place, altitudeM) =>
    expect(find(data(status(plainStatus), place), "fix")).toMatchObject({ gps: { ...unknown, ...spot, altitudeM } }),
  );

  it("keep an access point without coordinates", () =>
    expect(find(data(item(0x2a, "00 a40b0c0d0e01 b5")), "fix")).toMatchObject({
      gps: null,
      accessPoints: [{ mac: "a4:0b:0c:0d:0e:01", signalDbm: -75 }],
    }));

  it("have readings with times of their own, and 0 and 1 for none", () => {
    const vitals = (metrics: object) => ({ kind: "vitals", deviceTimeMs: atMs, metrics, extra: {} });
    expect(read(data(item(0x30, `${time} ${u32(4210)}`), item(0x40, `${time} 48`), item(0x41, `${time} 61`)))).toEqual([
      vitals({ steps: 4210 }),
      vitals({ hr: 72 }),
      vitals({ spo2: 97 }),
    ]);
    expect(read(data(item(0x40, `${time} 01`)))).toEqual([vitals({ hr: null })]);
    expect(read(data(item(0x30, `${time} ${u32(4210 << 16)}`)))).toEqual([vitals({ steps: 4210 })]);
  });

  it("keep what is whole when an item is cut short", () =>
    expect(read(data(item(0x40, "00"), item(0x14, "40 a20e")))).toMatchObject([{ metrics: { bat: 64 } }]));
});

describe("alarms of a pendant", () => {
  it.each([
    [0, "low_battery", "0"],
    [1, "overspeed", "1"],
    [2, "fall", "2"],
    [3, "custom", "3"],
    [8, "power_off", "8"],
    [9, "power_on", "9"],
    [11, "inactivity", "11"],
    [12, "sos", "12"],
    [4, "custom", "4:exit"],
  ])("bit %i is %s", (bit, type, code) =>
    expect(find(data(item(0x02, `${u32(1 << bit)} ${time}`)), "alarm")).toEqual({
      kind: "alarm",
      type,
      code,
      deviceTimeMs: atMs,
    }),
  );

  it("say which way a fence was crossed", () =>
    expect(find(data(item(0x02, u32((1 << 5) | (1 << 27)))), "alarm")).toMatchObject({ code: "5:enter" }));
});

describe("records of a watch", () => {
  const watch = (...items: Buffer[]): Buffer => frame(0x01, [idItem, ...items], 0xd001, 1);
  const watchStatus = item(0x11, `${time} 01 40 04 13 0300 16`);

  it("have floats for coordinates, and codes for alarms", () => {
    const fix = item(0x20, `${f32(spot.lat)} ${f32(spot.lng)} 0300 7600 2600 0a00 ${u32(0)} 09`);
    const messages = read(watch(watchStatus, fix, item(0x10, `${time} 02`)));
    expect(messages[0]).toMatchObject({ kind: "fix", deviceTimeMs: atMs });
    expect(messages[0]?.kind === "fix" && messages[0].gps?.lat).toBeCloseTo(spot.lat, 5);
    expect(messages[1]).toMatchObject({
      metrics: { bat: 64, gsm_signal: 19, satellites: 9 },
      extra: { charging: true, moving: true, worn: true },
    });
    expect(messages[2]).toMatchObject({ kind: "alarm", type: "fall", code: "2", deviceTimeMs: atMs });
  });

  it("have heart rate, oxygen, temperature and steps", () => {
    const warmth = item(0x62, `${time} 01 ${f32(36.6)} ${f32(36.5)} ${f32(36.7)}`);
    const readings = [item(0x60, `${time} 00 48 40 50 5a`), item(0x61, `${time} 00 61 60 62 5a`), warmth];
    expect(read(watch(...readings, item(0x50, `${time} ${u32(4210)}`)))).toMatchObject([
      { metrics: { hr: 72 } },
      { metrics: { spo2: 97 } },
      { metrics: { temp: 36.6 } },
      { metrics: { steps: 4210 } },
    ]);
  });

  it("are answered with the bare command", () =>
    expect(repliesTo(watch(watchStatus))).toEqual([writeFrame(Buffer.from([0x01]), 0xd001, 1, true)]));
});

describe("answers", () => {
  it("confirm data, and tell the time", () => {
    expect(repliesTo(data(gps))).toEqual([Buffer.from("ab00030008c734127f0100", "hex")]);
    const seconds = u32(Math.floor(nowMs / 1000));
    const payload = Buffer.from(`030512${seconds}`, "hex");
    expect(repliesTo(frame(0x03, [idItem, item(0x12, "")]))).toEqual([writeFrame(payload, 0x1234, 0, false)]);
    expect(
      repliesTo(frame(0x03, [idItem, item(0x11, "")]))?.[0]
        ?.subarray(8)
        .toString("hex"),
    ).toBe(`030a11${"00".repeat(9)}`);
  });

  it("are not given where none is wanted", () =>
    expect(repliesTo(writeFrame(Buffer.concat([Buffer.from([0x01]), idItem, gps]), 1, 0, false))).toEqual([]));

  it("of the device name the command, and why it was refused", () => {
    const answer = (reason: string, version: 0 | 1 = 0) =>
      read(writeFrame(Buffer.from(`7f01${reason}`, "hex"), 18, version, false))[0];
    expect(answer("00")).toMatchObject({ kind: "command_answer", serial: "18", isAccepted: true });
    expect(answer("0b")).toMatchObject({ isAccepted: false, refusal: "device_rejected" });
    expect(answer("0b", 1)).toMatchObject({ isAccepted: false, refusal: "invalid_params" });
    expect(answer("08", 1)).toMatchObject({ isAccepted: false, refusal: "not_supported" });
    expect(read(writeFrame(Buffer.from([0x04]), 18, 1, true))[0]).toMatchObject({ serial: "18", isAccepted: true });
  });
});

describe("identity", () => {
  it("is the first item, and the frame is read again after the login", () => {
    const first = decode(world.protocol, data(gps), fresh(world));
    expect(first.frames[0]?.messages).toEqual([{ kind: "login", id: imei }]);
    expect(first.rest).toEqual(data(gps));
  });

  it("must not change, and must be there at the beginning", () => {
    const other = frame(0x01, [item(0x01, Buffer.from("490155500099999").toString("hex"))]);
    expect(decode(world.protocol, other, loggedIn(world)).problems).toMatchObject([
      { reason: "another id on this connection" },
    ]);
    const nameless = frame(0x7f, [Buffer.from("0100", "hex")]);
    expect(decode(world.protocol, nameless, fresh(world)).problems).toMatchObject([{ isFrame: true }]);
  });
});
