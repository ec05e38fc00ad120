import { describe, expect, it } from "vitest";
import {
  byteByByte,
  damaged,
  essence,
  expectSame,
  feed,
  fuzz,
  loggedIn,
  seededRandom,
} from "../../../test/support/codec-harness.ts";
import { frameBytes, IW_BROKEN, IW_SAMPLES } from "../../../test/support/iw-corpus.ts";
import { iwWorld } from "../../../test/support/iw-world.ts";
import { maxTextFrameBytes } from "./framing.ts";

// A minute of it: VIGIL_FUZZ_SECONDS=60 npm run test:slow -- src/codecs/iw
const seconds = Number(process.env.VIGIL_FUZZ_SECONDS ?? 0);
const SHORT_RUN_INPUTS = 3000;

const corpus = [
  Buffer.from("IWAP00359000000000017#"),
  ...IW_SAMPLES.map(frameBytes),
  ...IW_BROKEN.map(([, frame]) => Buffer.from(frame, "latin1")),
];

describe("hostile input", () => {
  it("never makes the codec throw, nor hold on to memory", { timeout: 60_000 + seconds * 2000 }, () => {
    const heapBefore = process.memoryUsage().heapUsed;
    const end = performance.now() + (seconds * 1000) / 3;
    for (const [turn, dialect] of (["A", "B", "C"] as const).entries()) {
      let left = SHORT_RUN_INPUTS / 3;
      const until = end + (turn * seconds * 1000) / 3;
      const isOver = (): boolean => (seconds > 0 ? performance.now() > until : left-- <= 0);
      const inputs = fuzz(iwWorld(dialect), corpus, seededRandom(seconds > 0 ? Date.now() : 7 + turn), isOver);
      expect(inputs).toBeGreaterThan(100);
    }
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(256 * 1024 * 1024);
  });

  it("says the same however it is cut", () => {
    const random = seededRandom(11);
    const world = iwWorld("A");
    for (let count = 0; count < 100; count++) {
      const frames = Array.from({ length: 4 }, () => corpus[Math.floor(random() * corpus.length)] as Buffer);
      const stream = damaged(random, Buffer.concat(frames));
      const whole = feed(world, loggedIn(world), [stream]);
      expectSame(essence(feed(world, loggedIn(world), byteByByte(stream))), essence(whole));
    }
  });

  const LENGTH = 256 * 1024;
  it.each([
    ["starts", "IWAP"],
    ["starts and ends", "IWAP#"],
    ["media headers", "IWAP07,1,1,1,4096,"],
    ["media headers without data", "IWAP07,1,1,1,1,#"],
    ["noise and starts", "x IWAP#"],
    ["letters", "I"],
    ["words", "IWTRVIWTRV"],
    ["blanks", " "],
    ["hashes", "#"],
    ["frames in frames", "IWAP01IWAP49,1"],
    ["commas", "IWAP02,a,0,0,222,1,&&&&,,,,||||"],
  ])("takes time in proportion to its length: %s", (_, unit) => {
    const world = iwWorld("A");
    const time = (length: number): number => {
      const bytes = Buffer.alloc(length, unit, "latin1");
      const start = performance.now();
      const { rest } = feed(world, loggedIn(world), [bytes]);
      expect(rest.length).toBeLessThanOrEqual(maxTextFrameBytes);
      return performance.now() - start;
    };
    time(LENGTH / 8);
    // Quadratic would be sixty-four times as long; the constant absorbs a busy machine.
    expect(time(LENGTH)).toBeLessThan(24 * time(LENGTH / 8) + 250);
  });

  it("takes a long frame byte by byte without looking back too often", () => {
    const world = iwWorld("A");
    const start = performance.now();
    const fed = feed(world, loggedIn(world), byteByByte(Buffer.alloc(maxTextFrameBytes * 2, "IWAP49,7", "latin1")));
    expect(fed.frames).toEqual([]);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
