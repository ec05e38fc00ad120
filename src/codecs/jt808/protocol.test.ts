import { describe, expect, it } from "vitest";
import {
  byteByByte,
  bytesScanned,
  cutOnce,
  damaged,
  essence,
  expectSame,
  feed,
  fresh,
  fuzz,
  loggedIn,
  seededRandom,
} from "../../../test/support/codec-harness.ts";
import { frameOf, hex, jt808Corpus, jt808World, newForm, oldForm, place } from "../../../test/support/jt808-corpus.ts";
import { readEnvelope } from "./envelope.ts";
import { escapeFrame, maxFrameBytes, unescapeFrame } from "./framing.ts";
import { jt808 } from "./protocol.ts";
import { maxParts } from "./split-message.ts";

const good = frameOf(0x0200, 8, place);
const read = (bytes: Buffer, pieces: Iterable<Buffer> = [bytes]) => feed(jt808World, loggedIn(jt808World), pieces);

/** A part of a split message: the flag and the counters are put into the header, and the checksum is mended. */
function part(messageId: number, serial: number, total: number, index: number, body: string): Buffer {
  const content = Buffer.from(unescapeFrame(frameOf(messageId, serial, body)));
  content[2] = (content[2] as number) | 0x20;
  const head = Buffer.concat([
    content.subarray(0, 12),
    hex(total.toString(16).padStart(4, "0")),
    hex(index.toString(16).padStart(4, "0")),
  ]);
  const all = Buffer.concat([head, content.subarray(12, -1)]);
  return escapeFrame(Buffer.concat([all, Buffer.of(all.reduce((sum, byte) => sum ^ byte, 0))]), 0x7e);
}

describe("frames of terminals", () => {
  it.each(jt808Corpus.map((frame, index) => [index, frame] as const))(
    "are read however they are cut: %i",
    (_, frame) => {
      const stream = Buffer.concat([good, frame]);
      const whole = essence(read(stream));
      for (const pieces of cutOnce(stream)) expectSame(essence(read(stream, pieces)), whole);
      expectSame(essence(read(stream, byteByByte(stream))), whole);
    },
  );

  it("are read when they are glued, with garbage between and after broken ones", () => {
    const broken = Buffer.from(good);
    broken[20] = (broken[20] as number) ^ 1;
    const { frames, problems } = read(Buffer.concat([good, good, hex("0d0a2400"), good, broken, good]));
    expect(frames).toHaveLength(4);
    expect(problems.map(({ reason }) => reason)).toEqual(["bytes outside of frames", "wrong checksum"]);
  });

  it("are found after a stray delimiter", () => {
    const { frames } = read(Buffer.concat([hex("7e0102"), good, hex("7e"), good]));
    expect(frames).toHaveLength(2);
  });

  it("are skipped when they are too long, and the next one is read", () => {
    const long = Buffer.concat([hex("7e"), Buffer.alloc(3 * maxFrameBytes, 1), hex("7e")]);
    const { frames, problems } = read(Buffer.concat([long, good]));
    expect(frames).toHaveLength(1);
    expect(problems[0]).toMatchObject({ isFrame: true, reason: "frame that is too long" });
  });

  it.each([
    ["too short", hex("7e0002000001397e"), "frame that is too short"],
    ["encrypted", escapeFrame(hex("0200 0400 013900000017 0001 28"), 0x7e), "encrypted message"],
    [
      "of another terminal",
      frameOf(0x0002, 1, "", { ...oldForm, terminal: hex("013900000018") }),
      "another terminal number on this connection",
    ],
  ])("are refused when they are %s", (_, frame, reason) => {
    expect(read(frame).problems.map((problem) => problem.reason)).toContain(reason);
  });

  it("are escaped in both ways", () => {
    for (const delimiter of [0x7e, 0xe7]) {
      const content = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const frame = escapeFrame(content, delimiter);
      expect(frame.subarray(1, -1).includes(delimiter)).toBe(false);
      expect(unescapeFrame(frame)).toEqual(content);
    }
  });

  it("name the terminal by its number, or by the IMEI that it stands for", () => {
    const idOf = (terminal: string): string =>
      readEnvelope(frameOf(0x0002, 1, "", { ...oldForm, terminal: hex(terminal) })).id;
    expect(idOf("013900000017")).toBe("13900000017");
    expect(idOf("4eb6fb4ad628")).toBe("865478070001047");
    expect(readEnvelope(frameOf(0x0002, 1, "", newForm)).id).toBe("13900000017");
  });

  it("with the other delimiter are read and answered with it", () => {
    const address = { delimiter: 0xe7, version: undefined, terminal: hex("00013900000017") };
    const { frames } = feed(jt808World, fresh(jt808World), [frameOf(0x0002, 9, "", address)]);
    expect(frames[1]?.replies[0]?.[0]).toBe(0xe7);
  });

  it("are recognized by their first byte", () => {
    expect(jt808.recognizes(hex("7e"))).toBe(true);
    expect(jt808.recognizes(hex("e7"))).toBe(true);
    expect(jt808.recognizes(Buffer.from("("))).toBeUndefined();
    expect(jt808.recognizes(Buffer.from("(1"))).toBe(true);
    for (const start of ["IWAP", "[3G*", "(x", "*HQ", "$", "+RESP", "GET "]) {
      expect(jt808.recognizes(Buffer.from(start))).toBe(false);
    }
  });
});

describe("split messages", () => {
  const body = hex(place).toString("hex");
  const first = part(0x0200, 20, 2, 1, body.slice(0, 30));
  const second = part(0x0200, 21, 2, 2, body.slice(30));

  it.each([
    ["in order", [first, second]],
    ["in any order", [second, first]],
    ["with a part twice", [first, first, second]],
  ])("are joined %s, and answered when they are whole", (_, parts) => {
    const { frames, problems } = read(Buffer.concat(parts));
    expect(problems).toEqual([]);
    expect(frames.slice(0, -1).every((frame) => frame.replies.length === 0)).toBe(true);
    expect(frames.at(-1)?.replies).toHaveLength(2);
    expect(frames.at(-1)?.messages[0]).toMatchObject({ kind: "fix", gps: { lat: 41.903022 } });
  });

  it("give way to the next one, so that a connection holds no more than one", () => {
    const session = loggedIn(jt808World);
    const halves = Array.from({ length: 300 }, (_, index) => part(0x0200, 30 + index * 3, 2, 1, body.slice(0, 30)));
    feed(jt808World, session, [Buffer.concat(halves)]);
    expect([...session.memory.keys()].filter((key) => key.startsWith("split"))).toHaveLength(2);
  });

  it("are refused when they have too many parts", () => {
    const { problems } = read(part(0x0200, 20, maxParts + 1, 1, "00"));
    expect(problems.map(({ reason }) => reason)).toEqual(["part of a message that is too long"]);
  });
});

describe("hostile input", () => {
  it("never makes the codec throw", () => {
    let left = 1500;
    expect(fuzz(jt808World, jt808Corpus, seededRandom(7), () => left-- <= 0)).toBe(1500);
  });

  it("says the same however it is cut", () => {
    const random = seededRandom(11);
    for (let count = 0; count < 100; count++) {
      const frames = Array.from({ length: 4 }, () => jt808Corpus[Math.floor(random() * jt808Corpus.length)] as Buffer);
      const stream = damaged(random, Buffer.concat(frames));
      expectSame(essence(read(stream, byteByByte(stream))), essence(read(stream)));
    }
  });

  it("is scanned once, also byte by byte", () => {
    const stream = Buffer.concat([good, Buffer.alloc(2000, 1), good]);
    expect(bytesScanned(jt808World, loggedIn(jt808World), byteByByte(stream))).toBeLessThan(8 * stream.length);
  });
});
