import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  byteByByte,
  bytesScanned,
  cutOnce,
  essence,
  expectSame,
  feed,
  fresh,
  fuzz,
  type HarnessWorld,
  loggedIn,
  randomBytes,
  seededRandom,
} from "./codec-harness.ts";

/** What every protocol owes a stream, however the network treats it. */
export interface StreamCase {
  world: HarnessWorld;
  /** A frame of every kind. */
  corpus: readonly Buffer[];
  /** Bytes of which noise is made: those that mean something to the protocol. */
  alphabet: string;
  /** A frame that never ends, longer than any may be. */
  endless: Buffer;
}

export function describeStream({ world, corpus, alphabet, endless }: StreamCase): void {
  const all = Buffer.concat(corpus);
  const whole = (bytes: Buffer) => essence(feed(world, loggedIn(world), [bytes]));
  const good = corpus[0] as Buffer;
  const read = (pieces: Iterable<Buffer>) => feed(world, loggedIn(world), pieces);

  describe("a stream", () => {
    it("gives every frame of the corpus, and no problem", () => {
      const fed = read([all]);
      expect(fed.problems).toEqual([]);
      expect(fed.frames.map(({ raw }) => raw)).toEqual(corpus);
      expect(fed.frames.every(({ messages }) => messages.length > 0)).toBe(true);
      expect(fed.rest).toHaveLength(0);
    });

    it("may be cut at every byte", () => {
      for (const frame of corpus) {
        const glued = Buffer.concat([frame, good]);
        const expected = whole(glued);
        for (const pieces of cutOnce(glued)) expectSame(essence(read(pieces)), expected);
      }
    });

    it("may come byte by byte, also before the login", () => {
      expectSame(essence(read(byteByByte(all))), whole(all));
      const fromStart = essence(feed(world, fresh(world), [all]));
      expectSame(essence(feed(world, fresh(world), byteByByte(all))), fromStart);
    });

    it("goes on after garbage between frames", () => {
      const garbage = Buffer.from("\x01\xfe]junk~", "latin1");
      for (const frame of corpus) {
        const fed = read([Buffer.concat([garbage, frame, garbage, good])]);
        expect(fed.frames.map(({ raw }) => raw)).toEqual([frame, good]);
        expect(fed.problems.every(({ isFrame }) => !isFrame)).toBe(true);
      }
    });

    it("gives up what is too long, wherever it is cut", () => {
      const bytes = Buffer.concat([endless, good]);
      const expected = whole(bytes);
      expect(read([bytes]).frames.at(-1)?.raw).toEqual(good);
      for (const size of [999, 4096, endless.length - 1, endless.length + 1]) {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        expectSame(essence(read(pieces)), expected);
      }
    });

    it("takes damaged and random input the same in one piece and in many", () =>
      expectSameInPieces({ world, corpus, alphabet, endless }, 20));

    it("is scanned in linear time, one byte at a time", () => {
      const scanned = bytesScanned(world, loggedIn(world), byteByByte(all));
      expect(scanned).toBeLessThan(60 * all.length);
    });

    it("never makes the codec throw", () => {
      const until = performance.now() + 100;
      expect(fuzz(world, corpus, seededRandom(42), () => performance.now() > until)).toBeGreaterThan(0);
    });
  });
}

/** Noise between good frames says the same however it is cut. The slow tests try more of it than the usual run. */
export function expectSameInPieces({ world, corpus, alphabet }: StreamCase, rounds: number): void {
  const random = seededRandom(7);
  const all = Buffer.concat(corpus);
  const read = (pieces: Iterable<Buffer>) => essence(feed(world, loggedIn(world), pieces));
  for (let round = 0; round < rounds; round++) {
    const noise = Buffer.from(randomBytes(random, 100).map((byte) => alphabet.charCodeAt(byte % alphabet.length)));
    const bytes = Buffer.concat([all.subarray(0, Math.floor(random() * all.length)), noise, corpus[0] as Buffer]);
    expectSame(read(byteByByte(bytes)), read([bytes]));
  }
}

/** What is still in use after a collection: without one the heap tells when the last one was, and nothing else. */
function keptBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** For the slow tests: twenty seconds of random and damaged input, or as long as VIGIL_FUZZ_SECONDS says, without a growing heap. */
export function fuzzAtLength({ world, corpus }: StreamCase): void {
  const seconds = Number(process.env.VIGIL_FUZZ_SECONDS ?? 20);
  const random = seededRandom(4242);
  const run = (share: number) => {
    const until = performance.now() + seconds * 1000 * share;
    return fuzz(world, corpus, random, () => performance.now() > until);
  };
  expect(run(0.2)).toBeGreaterThan(0);
  const before = keptBytes();
  expect(run(0.8)).toBeGreaterThan(0);
  expect(keptBytes() - before).toBeLessThan(64 * 1024 * 1024);
}
