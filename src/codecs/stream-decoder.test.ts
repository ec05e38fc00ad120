import { describe, expect, it } from "vitest";
import { byteByByte, bytesScanned, fresh, loggedIn } from "../../test/support/codec-harness.ts";
import { iwWorld } from "../../test/support/iw-world.ts";
import { testProtocol } from "../../test/support/test-protocol.ts";
import { world as watchWorld } from "../../test/support/watch-corpus.ts";
import type { Session } from "./protocol-definition.ts";
import { StreamDecoder } from "./stream-decoder.ts";

const session = (): Session => ({ nowMs: 0, device: undefined, memory: new Map() });
const line = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

describe("a stream decoder", () => {
  it("keeps frames intact while later bytes are added after them", () => {
    const decoder = new StreamDecoder(testProtocol());
    decoder.push(Buffer.concat([line({ n: 1 }), Buffer.from('{"n":')]));
    const [first] = decoder.decode(session()).frames;
    for (const byte of byteByByte(Buffer.from('2}\n{"n":3}\n{"n":4}'))) {
      decoder.push(byte);
      decoder.decode(session());
    }
    expect(first?.raw.toString()).toBe('{"n":1}\n');
    expect(decoder.pending.toString()).toBe('{"n":4}');
  });

  it("stops after a login and reads on when asked again", () => {
    const decoder = new StreamDecoder(testProtocol());
    decoder.push(Buffer.concat([line({ login: "1" }), line({ n: 1 })]));
    expect(decoder.decode(session()).frames).toHaveLength(1);
    expect(decoder.decode(session()).frames[0]?.replies.map(String)).toEqual(["ok 1\n"]);
    expect(decoder.pendingBytes).toBe(0);
  });

  it("counts what was wrong after the last good frame apart", () => {
    const decoder = new StreamDecoder(testProtocol());
    decoder.push(Buffer.concat([Buffer.from("x\n"), line({ n: 1 }), Buffer.from("yy\nzz\n{")]));
    const { problems, trailing } = decoder.decode(session());
    expect(problems.map(({ offset }) => offset)).toEqual([0, 10, 13]);
    expect(trailing).toEqual({ malformed: 2, bytes: 6 });
  });

  it("does not go on forever with a protocol that finds empty pieces", () => {
    const protocol = { ...testProtocol(), nextPiece: () => ({ kind: "stray" as const, start: 0, end: 0 }) };
    const decoder = new StreamDecoder(protocol);
    decoder.push(Buffer.from("x"));
    expect(() => decoder.decode(session())).toThrow(/without bytes/);
  });
});

describe("bytes that come one at a time", () => {
  const size = 6000;
  /** A look at the head of a frame for each new byte is allowed, a look at all of it is not. */
  const maxLooksPerByte = 150;

  it.each([
    ["a frame", "[3G*5550001234*FFFF*TK,", "x"],
    ["opening brackets", "[3G*5550001234*FFFF*TK,", "["],
    ["headers that are never finished", "[3G*5550001234*FFFF*TK,", "[3G*55500012345"],
    ["pairs of brackets", "[3G*5550001234*FFFF*TK,", "[]"],
    ["strays", "", "x"],
  ])("are scanned once in watch streams: %s", (_, start, filling) => {
    const bytes = Buffer.concat([Buffer.from(start), Buffer.alloc(size, filling)]);
    for (const state of [fresh(watchWorld), loggedIn(watchWorld)]) {
      expect(bytesScanned(watchWorld, state, byteByByte(bytes))).toBeLessThan(bytes.length * maxLooksPerByte);
    }
  });

  it.each([
    ["a frame", "IWAP49,", "7"],
    ["a media header", "IWAP07,", "7"],
    ["media", "IWAP07,20260506070530,1,1,4096,", "x"],
    ["starts", "IWAP49,", "IWAP"],
    ["strays", "", "x"],
    ["blanks", "", " "],
  ])("are scanned once in IW streams: %s", (_, start, filling) => {
    const world = iwWorld("A");
    const bytes = Buffer.concat([Buffer.from(start), Buffer.alloc(size, filling)]);
    expect(bytesScanned(world, loggedIn(world), byteByByte(bytes))).toBeLessThan(bytes.length * maxLooksPerByte);
  });

  it("are copied a number of times that does not grow with the frame", () => {
    const decoder = new StreamDecoder(testProtocol());
    let stores = 0;
    let store: ArrayBufferLike | undefined;
    for (const byte of byteByByte(Buffer.alloc(64 * 1024, "x"))) {
      decoder.push(byte);
      decoder.decode(session());
      if (decoder.pending.buffer !== store) stores++;
      store = decoder.pending.buffer;
    }
    expect(decoder.pendingBytes).toBe(64 * 1024);
    expect(stores).toBeLessThan(20);
  });
});
