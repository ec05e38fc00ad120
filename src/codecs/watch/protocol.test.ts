import { describe, expect, it } from "vitest";
import {
  byteByByte,
  cutOnce,
  decode,
  essence,
  expectSame,
  feed,
  fresh,
  fuzz,
  loggedIn,
  randomBytes,
  seededRandom,
} from "../../../test/support/codec-harness.ts";
import { corpus, frameOf, world } from "../../../test/support/watch-corpus.ts";
import { maxFrameBytes } from "./framing.ts";

const { protocol: codec } = world;
const all = Buffer.concat(corpus);
const whole = (bytes: Buffer) => essence(feed(world, loggedIn(world), [bytes]));
const lk = frameOf("LK");

describe("recognizing the protocol", () => {
  it.each(["[3G*", "[SG*5550001234*0002*LK]", "[ZJ*"])("knows %s", (start) =>
    expect(codec.recognizes(Buffer.from(start))).toBe(true),
  );
  it.each(["", "[", "[3", "[3G"])("waits after %j", (start) =>
    expect(codec.recognizes(Buffer.from(start))).toBeUndefined(),
  );
  it.each(["IW", "*HQ", "[[", "[3G4", "xx", "[*"])("refuses %s", (start) =>
    expect(codec.recognizes(Buffer.from(start))).toBe(false),
  );
});

describe("logging in", () => {
  it("gives the id of the first frame, and keeps the frame for later", () => {
    const session = fresh(world);
    const bytes = Buffer.concat([frameOf("heart,71"), lk]);
    const first = decode(codec, bytes, session);
    expect(first.frames).toEqual([
      { messages: [{ kind: "login", id: "5550001234" }], replies: [], raw: frameOf("heart,71") },
    ]);
    expect(first.rest).toEqual(bytes);

    session.device = world.device;
    const second = decode(codec, first.rest, session);
    expect(second.frames.map(({ messages }) => messages[0]?.kind)).toEqual(["vitals", "heartbeat"]);
    expect(second.frames[1]?.replies).toEqual([frameOf("LK")]);
    expect(second.rest).toHaveLength(0);
  });

  it("tells what came before the login once", () => {
    const { problems, rest } = decode(codec, Buffer.concat([Buffer.from("junk[3G*x]"), lk]), fresh(world));
    expect(problems).toEqual([
      { reason: "bytes outside of frames", offset: 0, isFrame: false },
      { reason: "frame that cannot be read", offset: 4, isFrame: true },
    ]);
    expect(rest).toEqual(lk);
  });

  it("takes a long id as it is", () =>
    expect(decode(codec, frameOf("LK", "[SG*490155500012348*"), fresh(world)).frames[0]?.messages).toEqual([
      { kind: "login", id: "490155500012348" },
    ]));

  it("lets no other id in afterwards", () => {
    const decoded = decode(codec, Buffer.concat([frameOf("LK", "[3G*5550009999*"), lk]), loggedIn(world));
    expect(decoded.problems).toEqual([{ reason: "another id on this connection", offset: 0, isFrame: true }]);
    expect(decoded.frames).toHaveLength(1);
  });
});

describe("replies", () => {
  it("repeat maker, id and index of the frame they answer", () => {
    const replies = (frame: Buffer) => decode(codec, frame, loggedIn(world)).frames[0]?.replies.map(String);
    expect(replies(frameOf("LK", "[SG*5550001234*"))).toEqual(["[SG*5550001234*0002*LK]"]);
    expect(replies(frameOf("INIT", "[YW*5550001234*00fe*"))).toEqual(["[YW*5550001234*00fe*0006*INIT,1]"]);
  });
});

describe("a stream", () => {
  it("gives every frame of the corpus, and no problem", () => {
    const fed = feed(world, loggedIn(world), [all]);
    expect(fed.frames.map(({ raw }) => raw)).toEqual(corpus);
    expect(fed.problems).toEqual([]);
    expect(fed.frames.every(({ messages }) => messages.length > 0)).toBe(true);
  });

  it.each(corpus.map((frame) => [frame.toString("latin1").slice(0, 40), frame] as const))(
    "may be cut at every byte of %j",
    (_, frame) => {
      const glued = Buffer.concat([frame, lk]);
      const expected = whole(glued);
      for (const pieces of cutOnce(glued)) expectSame(essence(feed(world, loggedIn(world), pieces)), expected);
    },
  );

  it("may come byte by byte, also before the login", () => {
    expectSame(essence(feed(world, loggedIn(world), byteByByte(all))), whole(all));
    const fromStart = essence(feed(world, fresh(world), [all]));
    expectSame(essence(feed(world, fresh(world), byteByByte(all))), fromStart);
  });

  it("goes on after garbage around and inside", () => {
    const garbage = Buffer.from("\x00\xff]]junk[x", "latin1");
    for (const frame of corpus) {
      const fed = feed(world, loggedIn(world), [Buffer.concat([garbage, frame, garbage, lk])]);
      expect(fed.frames.map(({ raw }) => raw)).toEqual([frame, lk]);
      expect(fed.problems.every(({ isFrame }) => !isFrame)).toBe(true);
      const cut = feed(world, loggedIn(world), [Buffer.concat([frame.subarray(0, -2), lk])]);
      expect(cut.frames.at(-1)?.raw).toEqual(lk);
      expect(cut.problems).toMatchObject([{ reason: "frame without an end", isFrame: true }]);
    }
  });

  it("gives up what is too long, wherever it is cut", () => {
    const endless = Buffer.concat([Buffer.from("[3G*5550001234*FFFF*TK,"), Buffer.alloc(maxFrameBytes, "x"), lk]);
    const expected = whole(endless);
    expect(expected).toMatchObject({ skipped: ["frame longer than 64 KB"], rest: "" });
    for (const size of [1000, 4096, maxFrameBytes - 1, maxFrameBytes, maxFrameBytes + 1]) {
      const pieces = Array.from({ length: Math.ceil(endless.length / size) }, (_, at) =>
        endless.subarray(at * size, (at + 1) * size),
      );
      expectSame(essence(feed(world, loggedIn(world), pieces)), expected);
    }
  });

  it("takes damaged and random input the same in one piece and in many", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 300; round++) {
      const noise = Buffer.from(randomBytes(random, 200).map((byte) => "[]*,}3G0LK\x01\x02".charCodeAt(byte % 12)));
      const bytes = Buffer.concat([all.subarray(0, Math.floor(random() * all.length)), noise, lk]);
      expectSame(essence(feed(world, loggedIn(world), byteByByte(bytes))), whole(bytes));
    }
  });

  it("never makes the codec throw", () => {
    const seconds = Number(process.env.VIGIL_FUZZ_SECONDS ?? 0.2);
    const until = performance.now() + seconds * 1000;
    expect(fuzz(world, corpus, seededRandom(42), () => performance.now() > until)).toBeGreaterThan(0);
  }, 3_600_000);

  it("takes linear time for fields without end", () => {
    const started = performance.now();
    for (const part of [",", ",a", "a", "1", ",00:00:00:00:00:00", "}", "ver:", "}\x04"])
      for (const word of ["UD", "AL", "TS", "CONFIG", "heart", "LK", "TK", "JXTK", "CR"]) {
        const content = `${word},${"1,".repeat(15)}0000,5000,1,222,1,${part.repeat(60_000 / part.length)}`;
        decode(codec, frameOf(content), loggedIn(world));
      }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
