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
import {
  datagram,
  frame8,
  loginFrame,
  record8,
  recordTimeMs,
  teltonikaCorpus,
  teltonikaWorld,
  trackerImei,
} from "../../../test/support/teltonika-corpus.ts";
import { maxFrameBytes } from "./framing.ts";
import { teltonika } from "./protocol.ts";

const good = frame8(record8(recordTimeMs));
const read = (pieces: Iterable<Buffer>) => feed(teltonikaWorld, loggedIn(teltonikaWorld), pieces);
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(" ", ""), "hex");

describe("frames of trackers", () => {
  it.each(teltonikaCorpus.map((frame, index) => [index, frame] as const))(
    "are read however they are cut: %i",
    (_, frame) => {
      const stream = Buffer.concat([loginFrame(), good, frame, good]);
      const begin = (pieces: Iterable<Buffer>) => essence(feed(teltonikaWorld, fresh(teltonikaWorld), pieces));
      const whole = begin([stream]);
      for (const pieces of cutOnce(stream)) expect(begin(pieces)).toEqual(whole);
      expect(begin(byteByByte(stream))).toEqual(whole);
      expect(feed(teltonikaWorld, fresh(teltonikaWorld), [stream])).toMatchObject({ problems: [] });
    },
  );

  it("are read when they are glued, with garbage between and after broken ones", () => {
    const broken = Buffer.from(good);
    broken[30] = (broken[30] as number) ^ 1;
    const { frames, problems } = read([Buffer.concat([good, good, hex("4142 0000 43"), good, broken, good])]);
    expect(frames).toHaveLength(4);
    expect(problems.map(({ reason }) => reason)).toEqual(["bytes outside of frames", "wrong checksum"]);
  });

  it("are found after zeros and after a length that no frame has", () => {
    const tooLong = hex("00000000 0000ffff 08");
    for (const garbage of [hex("0000"), hex("00000000"), hex("00000000000000"), tooLong]) {
      expect(read([Buffer.concat([garbage, good])]).frames).toHaveLength(1);
    }
  });

  it("are refused when their records do not fill them", () => {
    const short = frame8(`${record8(recordTimeMs)} ff`);
    expect(read([Buffer.concat([short, good])])).toMatchObject({ frames: [{}], problems: [{ isFrame: true }] });
  });

  it("are not read before the login", () => {
    const { frames, problems } = feed(teltonikaWorld, fresh(teltonikaWorld), [good]);
    expect(frames).toEqual([]);
    expect(problems[0]?.reason).toBe("data before the login");
  });

  it("are recognized by their first bytes, one byte at a time", () => {
    for (const start of [loginFrame(), Buffer.concat([Buffer.of(0xff), loginFrame()]), datagram("08 00 00")]) {
      const verdicts = Array.from({ length: start.length }, (_, at) => teltonika.recognizes(start.subarray(0, at + 1)));
      expect(verdicts).toContain(true);
      expect(verdicts).not.toContain(false);
    }
    for (const start of ["IWAP", "[3G*", "(1", "*HQ", "$", "+RESP", "GET ", "~", "xx"]) {
      expect(teltonika.recognizes(Buffer.from(start))).toBe(false);
    }
  });
});

describe("logins", () => {
  it("are accepted with a one and refused with a zero", () => {
    const { frames } = feed(teltonikaWorld, fresh(teltonikaWorld), [loginFrame()]);
    expect(frames).toMatchObject([{ messages: [{ kind: "login", id: trackerImei }], replies: [Buffer.of(1)] }]);
    expect(teltonika.refuse?.("unknown_device", fresh(teltonikaWorld))).toEqual(Buffer.of(0));
  });

  it("are in every datagram, which is answered with its numbers", () => {
    const { frames, problems } = feed(teltonikaWorld, fresh(teltonikaWorld), [
      datagram(`08 02 ${record8(recordTimeMs)} ${record8(recordTimeMs + 1000)} 02`),
    ]);
    expect(problems).toEqual([]);
    expect(frames[0]?.messages).toEqual([{ kind: "login", id: trackerImei }]);
    expect(frames[1]?.replies.map((reply) => reply.toString("hex"))).toEqual(["0005cafe010502"]);
    expect(frames[1]?.reports).toHaveLength(2);
  });

  it("are refused on a connection of another device", () => {
    const { problems } = read([datagram(`08 01 ${record8(recordTimeMs)} 01`, "490154203237526")]);
    expect(problems.map(({ reason }) => reason)).toEqual(["another IMEI on this connection"]);
  });
});

describe("hostile input", () => {
  it("never makes the codec throw", () => {
    let left = 1500;
    expect(fuzz(teltonikaWorld, [loginFrame(), ...teltonikaCorpus], seededRandom(7), () => left-- <= 0)).toBe(1500);
  });

  it("says the same however it is cut", () => {
    const random = seededRandom(11);
    for (let count = 0; count < 100; count++) {
      const frames = Array.from(
        { length: 4 },
        () => teltonikaCorpus[Math.floor(random() * teltonikaCorpus.length)] as Buffer,
      );
      const stream = damaged(random, Buffer.concat(frames));
      expectSame(essence(read(byteByByte(stream))), essence(read([stream])));
    }
  });

  it("is scanned in proportion to its length, also byte by byte", () => {
    const records = Array.from({ length: 100 }, (_, index) => record8(recordTimeMs + index));
    const stream = Buffer.concat([frame8(...records), Buffer.alloc(2000, 0)]);
    expect(stream.length).toBeLessThan(maxFrameBytes);
    const scanned = bytesScanned(teltonikaWorld, loggedIn(teltonikaWorld), byteByByte(stream));
    expect(scanned).toBeLessThan(40 * stream.length);
  });
});
