import { describe, expect, it } from "vitest";
import { decode, feed, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import { binary, h02Corpus, h02World, longBinary, place, text } from "../../../test/support/h02-corpus.ts";
import { messageLine } from "../../../test/support/message-line.ts";
import { h02 } from "./protocol.ts";

const read = (...frames: Buffer[]) => feed(h02World, loggedIn(h02World), frames);
const said = (...frames: Buffer[]): string[] =>
  read(...frames).frames.flatMap(({ messages }) => messages.map(messageLine));
const replies = (frame: Buffer): string[] =>
  read(frame).frames.flatMap((one) => one.replies.map((reply) => reply.toString()));
const frameNamed = (name: string): Buffer => h02Corpus.find(([one]) => one === name)?.[1] as Buffer;

const fix = "fix 08:15:24 41.9,12.5 8.15 km/h 118°";
const state = 'vitals {"status":"FFFFFBFF"}';
const cell = "222/1/4660/22136";

const table: readonly (readonly [name: string, ...messages: string[]])[] = [
  ["a position", fix, state],
  ["a position of the IMEI", fix, state],
  ["a position with its network", `${fix} ${cell}@null`, 'vitals {"bat":80,"status":"FFFFFBFF"}'],
  ["a position with a battery", fix, 'vitals {"bat":60,"status":"FFFFFBFF"}'],
  ["a position with an altitude", `${fix} 37 m`, state],
  ["a position with its SIM", fix, state, "info 8939000000000000001"],
  ["a position without a dot", fix, state],
  ["a position with dashes", "fix 08:15:24 -41.9,-12.5 8.15 km/h 118°", state],
  ["a position without a fix", "fix 08:15:24 nowhere", state],
  ["a position without anything", "fix - nowhere", state],
  ["a call for help", fix, 'vitals {"status":"FFFFFBFD"}', "alarm 08:15:24 sos 1"],
  ["a call for help by bit 18", fix, 'vitals {"status":"FFFBFFFF"}', "alarm 08:15:24 sos 18"],
  ["overspeed", fix, 'vitals {"status":"FFFFFBFB"}', "alarm 08:15:24 overspeed 2"],
  ["a power cut", fix, 'vitals {"status":"FFF7FBFF"}', "alarm 08:15:24 custom 19"],
  ["a binary position", "fix 08:15:24 41.9,12.5 7.41 km/h 118°", 'vitals {"bat":100,"status":"FFFFFBFF"}'],
  ["neighbours", `fix 08:15:24 nowhere ${cell}@-67 222/1/4660/22137@null`, 'vitals {"bat":100}'],
  ["a state", 'vitals {"gsm_signal":20,"satellites":8,"bat":67,"steps":4210,"turnovers":3}'],
  ["cells", `fix 08:15:24 nowhere ${cell}@-62 222/1/4660/22137@null`, 'vitals {"battery_raw":740}'],
  ["a short position", "fix - 41.9,12.5 8.15 km/h 118°"],
  ["short cells", `fix - nowhere ${cell}@null 222/1/4660/22137@null`],
  ["a heartbeat", "heartbeat"],
  ["a heartbeat with a battery", 'vitals {"bat":88}'],
  ["an answer", "answer S71 010203 true"],
  ["an answer with a position", fix, state, "answer S71 010203 true"],
  ["a refusal", fix, state, "answer R1 010203 false"],
  ["a text", "heartbeat"],
  ["an unknown kind", "heartbeat"],
  ["no kind at all", "heartbeat"],
];

describe("what frames say", () => {
  it("has a row for every frame of the corpus", () =>
    expect(table.map(([name]) => name)).toEqual(h02Corpus.map(([name]) => name)));
  it.each(table)("reads %s", (name, ...messages) => expect(said(frameNamed(name))).toEqual(messages));

  it("reads a binary position of a unit that sends its IMEI", () =>
    expect(said(longBinary)).toEqual([
      "fix 08:15:24 41.9,12.5 7.41 km/h 118°",
      'vitals {"bat":100,"status":"FFFFFBFF"}',
    ]));

  it("takes a binary frame that begins with X for a sign of life", () => {
    const repeated = Buffer.from(binary);
    repeated[0] = 0x58;
    expect(said(repeated)).toEqual(["heartbeat"]);
  });

  it("reads a binary frame with bytes that some units add", () => {
    const fed = read(binary, Buffer.from("060000002c02dc0c000000001f", "hex"), frameNamed("a heartbeat"));
    expect(fed.frames).toHaveLength(2);
    expect(fed.problems.every(({ isFrame }) => !isFrame)).toBe(true);
  });
});

describe("answers", () => {
  it.each([
    ["a position", "*HQ,5550001234,V4,V1,20260301081530#"],
    ["neighbours", "*HQ,5550001234,V4,NBR,20260301081530#"],
    ["a heartbeat", "*HQ,5550001234,V0#"],
    ["a heartbeat with a battery", "*HQ,5550001234,HTBT#"],
  ])("answers %s", (name, answer) => expect(replies(frameNamed(name))).toEqual([answer]));

  it.each(["a state", "cells", "a binary position", "an answer", "an unknown kind"])("says nothing to %s", (name) =>
    expect(replies(frameNamed(name))).toEqual([]),
  );

  it("repeats the letters of the maker", () =>
    expect(replies(text("V0", "5550001234", "TH"))).toEqual(["*TH,5550001234,V0#"]));
});

describe("identity", () => {
  it.each([
    ["text", frameNamed("a position"), "5550001234"],
    ["binary", binary, "5550001234"],
    ["binary with an IMEI", longBinary, "490155500012348"],
  ])("takes the id of the first frame for the login, and reads the frame again: %s", (_, frame, id) => {
    const first = decode(h02, frame, fresh(h02World));
    expect(first.frames).toMatchObject([{ messages: [{ kind: "login", id }], replies: [] }]);
    expect(first.rest).toEqual(frame);
    expect(feed(h02World, fresh(h02World), [frame]).frames).toHaveLength(2);
  });

  it.each([
    ["another id", text("V0", "5550009999"), "another id on this connection"],
    ["an id that is no number", text("V0", "55500x9999"), "text frame that cannot be read"],
  ])("refuses %s", (_, frame, reason) => expect(read(frame).problems).toMatchObject([{ reason, isFrame: true }]));
});

describe("alarms", () => {
  const alarms = (...words: string[]): string[] =>
    said(...words.map((word) => text(`V1,081524,${place},010326,${word}`))).filter((one) => one.startsWith("alarm"));

  it("raises a call for help with every report", () => expect(alarms("FFFFFFFD", "FFFFFFFD")).toHaveLength(2));
  it("raises other states when they begin", () =>
    expect(alarms("FFF7FFFF", "FFF7FFFF", "FFFFFFFF", "FFF7FFFF")).toHaveLength(2));
  it("raises both bits of a call for help as one", () => expect(alarms("FFFBFFFD")).toEqual(["alarm 08:15:24 sos 1"]));
  it("raises nothing when all bits are one", () => expect(alarms("FFFFFFFF")).toEqual([]));
});
