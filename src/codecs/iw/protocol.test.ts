import { describe, expect, it } from "vitest";
import {
  byteByByte,
  cutOnce,
  decode,
  essence,
  expectSame,
  feed,
  fresh,
  loggedIn,
} from "../../../test/support/codec-harness.ts";
import { frameBytes, IW_BROKEN, IW_SAMPLES, type IwSample } from "../../../test/support/iw-corpus.ts";
import { iwDevice, iwWorld } from "../../../test/support/iw-world.ts";
import type { ProtocolDefinition } from "../protocol-definition.ts";
import { iw } from "./protocol.ts";

const codec: ProtocolDefinition = iw;
const LOGIN = "IWAP00359000000000017#";

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const expected = (sample: IwSample) => ({
  messages: sample.messages,
  replies: sample.replies,
  raw: sample.frame,
});

describe("recognizing IW", () => {
  it.each([
    ["IWAP00", true],
    ["TRVAP00", true],
    ["\r\n\0 IW", true],
    ["", undefined],
    [" \r\n", undefined],
    ["I", undefined],
    ["TR", undefined],
    ["T1", false],
    ["X", false],
    ["[3G", false],
    ["TRW", false],
  ])("%j is %s", (start, verdict) => {
    expect(codec.recognizes(bytesOf(start))).toBe(verdict);
  });
});

describe("logging in", () => {
  const world = iwWorld("A");
  const read = (text: string, session = fresh(world)) => decode(codec, bytesOf(text), session);

  it.each([
    ["the bare IMEI", LOGIN, []],
    [
      "the SIM",
      "IWAP00359000000000017,8939000000000000012F,222010000000017DCX#",
      ["8939000000000000012", "222010000000017"],
    ],
    ["a name and a language", "IWAP00,359000000000017,watch,it_IT#", []],
    ["a TRV unit", "TRVAP00359000000000017#", []],
  ])("takes %s", (_, frame, sim) => {
    const decoded = read(frame);
    const info = sim.length > 0 ? [{ kind: "info", iccid: sim[0], imsi: sim[1] }] : [];
    expect(decoded.frames).toEqual([
      { messages: [...info, { kind: "login", id: "359000000000017" }], replies: [], raw: bytesOf(frame) },
    ]);
    expect(decoded.problems).toEqual([]);
  });

  it("stops after the login and returns what follows", () => {
    const decoded = read(`${LOGIN}IWAP49,71#IWAP03`);
    expect(decoded.frames).toHaveLength(1);
    expect(decoded.rest.toString()).toBe("IWAP49,71#IWAP03");
  });

  it("shows a frame that comes before the login, without an answer and without what it says", () => {
    for (const frame of ["IWAP49,71#", "IWAP16,700001#", "IWAP07,20260506070530,1,1,5,#!AMR#"]) {
      expect(read(frame)).toEqual({
        frames: [{ messages: [{ kind: "heartbeat" }], replies: [], raw: Buffer.from(frame) }],
        problems: [],
        rest: Buffer.alloc(0),
      });
    }
  });

  it("skips a malformed frame before the login", () => {
    const decoded = read(`IWAP49,x#IWAP01nonsense#${LOGIN}`);
    expect(decoded.frames.map(({ messages }) => messages)).toEqual([[{ kind: "login", id: "359000000000017" }]]);
    expect(decoded.problems).toHaveLength(2);
  });

  it.each(["IWAP00#", "IWAP0035900000000001#", "IWAP003590000000000171#", "IWAP00,,watch#"])("refuses %s", (frame) => {
    expect(read(frame)).toMatchObject({ frames: [], problems: [{ reason: "bad IMEI", isFrame: true }] });
  });

  it("lets a logged-in device log in once more", () => {
    expect(read(LOGIN, loggedIn(world)).frames[0]?.messages).toEqual([{ kind: "login", id: "359000000000017" }]);
  });
});

describe("IW frames", () => {
  it.each(IW_SAMPLES.map((sample) => [sample.name, sample] as const))("reads %s", (_, sample) => {
    const world = iwWorld(sample.dialect);
    const fed = feed(world, loggedIn(world), [frameBytes(sample)]);
    expect(essence(fed)).toEqual({ frames: [expected(sample)], skipped: [], rest: "" });
    expect(fed.problems).toEqual([]);
  });

  it.each(IW_BROKEN)("skips, in dialect %s, %s: %s", (dialect, frame, reason) => {
    const world = iwWorld(dialect);
    const fed = feed(world, loggedIn(world), [bytesOf(`${frame}IWAP49,71#`)]);
    expect(fed.problems).toEqual([{ reason, offset: 0, isFrame: true }]);
    expect(fed.frames.map((each) => each.raw.toString())).toEqual(["IWAP49,71#"]);
  });

  it("remembers from the first part that a recording is raw, for a last part that looks like hex", () => {
    const world = iwWorld("A");
    const parts = ["IWAP07,20260506070530,2,1,6,#!AMR\n#", "IWAP07,20260506070530,2,2,4,4142#"];
    const fed = feed(world, loggedIn(world), parts.map(bytesOf));
    expect(fed.frames[1]?.messages).toMatchObject([{ kind: "voice_part", sequence: 2, bytes: Buffer.from("4142") }]);
  });

  it("takes a recording for one whatever its code, and a picture too", () => {
    const world = iwWorld("B");
    const parts = ["IWAP42,20260506070530,1,1,6,#!AMR\n#", "IWAP07,20260506070531,1,1,4,\xff\xd8\xff\x00#"];
    const fed = feed(world, loggedIn(world), parts.map(bytesOf));
    expect(fed.frames.map((frame) => frame.messages[0]?.kind)).toEqual(["voice_part", "vitals"]);
  });

  it("knows no serials of a device that waits for none", () => {
    const device = iwDevice("B", { outstandingSerials: new Set() });
    const decoded = decode(codec, bytesOf("IWAP50,36.6,1#"), { nowMs: 0, device, memory: new Map() });
    expect(decoded.frames[0]?.replies.map(String)).toEqual(["IWBP50#"]);
  });
});

describe("IW streams", () => {
  it.each(IW_SAMPLES.map((sample) => [sample.name, sample] as const))("does not mind how %s is cut", (_, sample) => {
    const world = iwWorld(sample.dialect);
    const whole = essence(feed(world, loggedIn(world), [frameBytes(sample)]));
    for (const pieces of cutOnce(frameBytes(sample))) {
      expectSame(essence(feed(world, loggedIn(world), pieces)), whole);
    }
    expectSame(essence(feed(world, loggedIn(world), byteByByte(frameBytes(sample)))), whole);
  });

  it("reads a login and all frames glued together, with spaces between some", () => {
    for (const dialect of ["A", "B", "C"] as const) {
      const samples = IW_SAMPLES.filter((sample) => sample.dialect === dialect);
      const stream = bytesOf(LOGIN + samples.map(({ frame }, at) => frame + (at % 3 ? "" : "\r\n\0 ")).join(""));
      const world = iwWorld(dialect);
      const whole = feed(world, fresh(world), [stream]);
      expect(whole.problems).toEqual([]);
      expect(essence({ ...whole, frames: whole.frames.slice(1) })).toEqual({
        frames: samples.map(expected),
        skipped: [],
        rest: "",
      });
      expectSame(essence(feed(world, fresh(world), byteByByte(stream))), essence(whole));
    }
  });

  it.each([
    ["letters", "hello"],
    ["a hash", "#"],
    ["bytes", "\xff\xfe\x01\x80"],
    ["half a start", "IWA"],
    ["starts of nothing", "IWXX,1#TRVQ#"],
  ])("finds the frames between %s", (_, garbage) => {
    const world = iwWorld("A");
    const stream = bytesOf(`${garbage}IWAP49,71#${garbage}IWAP49,72#${garbage}`);
    for (const pieces of [[stream], byteByByte(stream)]) {
      const fed = feed(world, loggedIn(world), pieces);
      expect(fed.frames.map(({ raw }) => raw.toString("latin1"))).toEqual(["IWAP49,71#", "IWAP49,72#"]);
      expect(fed.problems.length).toBeGreaterThan(0);
      expect(fed.problems.every(({ isFrame }) => !isFrame)).toBe(true);
    }
  });

  it.each([
    ["a frame that lost its end", "IWAP49,7", ["another frame inside"]],
    ["several of them", "IWAP49,7IWAP03,0IWAP49,", ["another frame inside"]],
    ["media with a wrong length", "IWAP07,20260506070530,1,1,4,#!AMR#", ["media without end"]],
    ["media with a huge length", "IWAP07,20260506070530,1,1,99999,#!AMR#", ["bad media length"]],
    ["media without a length", "IWAP07,20260506070530,1,1,x,#!AMR#", ["bad media length"]],
    ["media with a long header", `IWAP07,${"1".repeat(80)},`, ["media header too long"]],
    ["media that broke off in its header", "IWAP07,2026050607", ["another frame inside"]],
    ["a text that never ends", `IWAP49,${"7".repeat(8192)}`, ["frame too long"]],
    ["a text that never ends, made of starts", "IWAP".repeat(2048), ["frame too long", "another frame inside"]],
  ])("continues with the next frame after %s", (_, bad, skipped) => {
    const world = iwWorld("A");
    const stream = bytesOf(`${bad}IWAP49,71#IWAP49,72#`);
    for (const pieces of [[stream], byteByByte(stream)]) {
      const fed = feed(world, loggedIn(world), pieces);
      expect(fed.frames.map(({ raw }) => raw.toString("latin1"))).toEqual(["IWAP49,71#", "IWAP49,72#"]);
      expect(fed.problems.filter(({ isFrame }) => isFrame).map(({ reason }) => reason)).toEqual(skipped);
    }
  });

  it("keeps the offset of a problem", () => {
    const world = iwWorld("A");
    const { problems } = decode(codec, bytesOf("IWAP49,71#??IWAP49,x#"), loggedIn(world));
    expect(problems).toEqual([
      { reason: "bytes outside of frames", offset: 10, isFrame: false },
      { reason: "not a number", offset: 12, isFrame: true },
    ]);
  });
});
