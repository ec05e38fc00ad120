import { describe, expect, it } from "vitest";
import { feed, loggedIn } from "../../../test/support/codec-harness.ts";
import { gpsHex, gt06Corpus, gt06World, long, short } from "../../../test/support/gt06-corpus.ts";
import { checkStreams } from "../../../test/support/stream-checks.ts";
import { maxFrameBytes } from "./framing.ts";
import { gt06 } from "./protocol.ts";

checkStreams(gt06World, gt06Corpus);

const read = (...pieces: Buffer[]) => feed(gt06World, loggedIn(gt06World), [Buffer.concat(pieces)]);
const good = short(0x10, gpsHex);
const raws = (...pieces: Buffer[]): Buffer[] => read(...pieces).frames.map(({ raw }) => raw);

describe("recognizing the protocol", () => {
  it.each([
    ["7878", true],
    ["7979", true],
    ["78780d01", true],
    ["78", undefined],
    ["79", undefined],
    ["", undefined],
    ["7879", false],
    ["2a48", false],
    ["49", false],
  ] as const)("%s is %s", (start, verdict) => expect(gt06.recognizes(Buffer.from(start, "hex"))).toBe(verdict));
});

describe("bad frames", () => {
  const withByte = (frame: Buffer, at: number, byte: number): Buffer => {
    const changed = Buffer.from(frame);
    changed[at] = byte;
    return changed;
  };

  it("reads a known frame with a wrong checksum, as some units send no other", () => {
    const wrong = withByte(good, good.length - 3, 0);
    expect(raws(wrong, good)).toEqual([wrong, good]);
  });

  it("skips an unknown frame with a wrong checksum", () => {
    const wrong = withByte(short(0x77, "010203"), 6, 9);
    const fed = read(wrong, good);
    expect(fed.problems).toMatchObject([{ reason: "unknown frame with a wrong checksum", isFrame: true }]);
    expect(fed.frames.map(({ raw }) => raw)).toEqual([good]);
  });

  it.each([
    ["a length that is too large", withByte(short(0x77, "010203"), 2, 0x40)],
    ["a length that is too small", withByte(short(0x77, "01020304050607"), 2, 3)],
    ["no end", short(0x77, "010203040506").subarray(0, -3)],
    ["only its beginning", Buffer.from("78781f12", "hex")],
    ["a third start byte", Buffer.from("78", "hex")],
    ["a long length of 65535", Buffer.from("7979ffff12", "hex")],
  ])("reads the good frame after one with %s", (_, bad) =>
    expect(raws(bad, good, good).slice(-2)).toEqual([good, good]),
  );

  it("does not wait for a frame that cannot be so long", () => {
    const fed = read(Buffer.alloc(4 * maxFrameBytes, 0x79));
    expect(fed.rest.length).toBeLessThan(maxFrameBytes);
  });

  it("takes a frame as long as they get", () => {
    const maxFrame = long(0x9b, "41".repeat(2000));
    expect(raws(maxFrame, good)).toEqual([maxFrame, good]);
  });
});
