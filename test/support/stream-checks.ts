import { describe, expect, it } from "vitest";
import {
  byteByByte,
  cutOnce,
  damaged,
  essence,
  feed,
  fuzz,
  type HarnessWorld,
  loggedIn,
  randomBytes,
  seededRandom,
} from "./codec-harness.ts";

/** What must hold of every codec, whatever its frames: cut, glued, with garbage between, damaged, random. */
export function checkStreams(world: HarnessWorld, corpus: readonly (readonly [name: string, frame: Buffer])[]): void {
  const frames = corpus.map(([, frame]) => frame);
  const whole = (bytes: Buffer) => feed(world, loggedIn(world), [bytes]);
  const rawsOf = (bytes: Buffer): string[] => whole(bytes).frames.map(({ raw }) => raw.toString("hex"));
  const random = seededRandom(5);
  const anyOf = (): Buffer => frames[Math.floor(random() * frames.length)] as Buffer;

  describe("streams", () => {
    it.each(corpus)("reads %s wherever it is cut", (_, frame) => {
      const expected = essence(whole(frame));
      for (const pieces of cutOnce(frame)) expect(essence(feed(world, loggedIn(world), pieces))).toEqual(expected);
    });

    it("reads all frames glued, and byte by byte", () => {
      const all = Buffer.concat(frames);
      expect(rawsOf(all)).toEqual(frames.map((frame) => frame.toString("hex")));
      expect(essence(feed(world, loggedIn(world), byteByByte(all)))).toEqual(essence(whole(all)));
    });

    it("reads frames with garbage between them", () => {
      const garbage = Buffer.from("\r\n 00ff \u0001\u0002 ", "latin1");
      const parts = frames.flatMap((frame) => [garbage, frame]);
      expect(rawsOf(Buffer.concat(parts))).toEqual(frames.map((frame) => frame.toString("hex")));
    });

    it("says the same of damaged streams however they are cut", () => {
      for (let count = 0; count < 60; count++) {
        const stream = damaged(random, Buffer.concat([anyOf(), anyOf(), anyOf()]));
        const inOne = essence(whole(stream));
        expect(essence(feed(world, loggedIn(world), byteByByte(stream)))).toEqual(inOne);
      }
    });

    it("never throws, and keeps no more than a frame", () => {
      let left = 500;
      expect(fuzz(world, frames, random, () => left-- <= 0)).toBe(500);
      const { rest } = whole(randomBytes(random, 4 * world.protocol.maxFrameBytes));
      expect(rest.length).toBeLessThanOrEqual(world.protocol.maxFrameBytes);
    });
  });
}

/** A minute of random and damaged input in random pieces. */
export function checkForAMinute(world: HarnessWorld, frames: readonly Buffer[]): void {
  const runMs = 60_000;
  it("takes hostile input for a minute without a fault or a growing heap", { timeout: 4 * runMs }, () => {
    const heapBefore = process.memoryUsage().heapUsed;
    const end = performance.now() + runMs;
    const inputs = fuzz(world, frames, seededRandom(Date.now()), () => performance.now() > end);
    expect(inputs).toBeGreaterThan(1000);
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(256 * 1024 * 1024);
  });
}
