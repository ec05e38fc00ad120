import { describe, expect, it } from "vitest";
import { feed, loggedIn } from "../../../test/support/codec-harness.ts";
import { binary, h02Corpus, h02World, text } from "../../../test/support/h02-corpus.ts";
import { checkStreams } from "../../../test/support/stream-checks.ts";
import { maxFrameBytes } from "./framing.ts";
import { h02 } from "./protocol.ts";

checkStreams(h02World, h02Corpus);

const read = (...pieces: Buffer[]) => feed(h02World, loggedIn(h02World), [Buffer.concat(pieces)]);
const good = text("V0");
const raws = (...pieces: Buffer[]): Buffer[] => read(...pieces).frames.map(({ raw }) => raw);

describe("recognizing the protocol", () => {
  it.each([
    ["*HQ,", true],
    ["*hq,4", true],
    ["*TH,1", true],
    ["$U\u0000\u0000\u00124", true],
    ["*", undefined],
    ["*H", undefined],
    ["$", undefined],
    ["X", undefined],
    ["", undefined],
    ["*H,", false],
    ["**", false],
    ["$GPRMC", false],
    ["XML", false],
    ["IW", false],
    ["[3G*", false],
    ["GET ", false],
  ] as const)("%j is %s", (start, verdict) => expect(h02.recognizes(Buffer.from(start, "latin1"))).toBe(verdict));
});

describe("bad frames", () => {
  it.each([
    ["a text without an end", Buffer.from("*HQ,5550001234,V1,0815")],
    ["a text that is too long", Buffer.from(`*HQ,5550001234,V1,${"0".repeat(2 * maxFrameBytes)}#`)],
    ["a text without an id", Buffer.from("*HQ,,V1#")],
    ["a binary frame that is cut", binary.subarray(0, 20)],
    ["a binary frame without a time", Buffer.concat([binary.subarray(0, 6), Buffer.alloc(26, 0xff)])],
    ["a lonely marker", Buffer.from("$")],
    ["a lonely star", Buffer.from("*")],
  ])("reads the good frame after %s", (_, bad) => expect(raws(bad, good, good).slice(-2)).toEqual([good, good]));

  it("silently skips line ends between frames", () => {
    const fed = read(good, Buffer.from("\r\n"), good, Buffer.from("\r\n"));
    expect([fed.frames.length, fed.problems, fed.rest.length]).toEqual([2, [], 0]);
  });
});
