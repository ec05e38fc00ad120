import { describe, expect, it } from "vitest";
import { mp4File, opusFile, opusHead, wavHeader } from "../../test/support/hostile-audio.ts";
import { fixture } from "../../test/support/voice-samples.ts";
import { checkHeaders } from "./audio-headers.ts";
import { NotAudio, TooLong } from "./audio-refusals.ts";

const outcome = (kind: string, file: Buffer, maxSeconds = 30): string => {
  try {
    checkHeaders(kind, file, maxSeconds);
    return "sound";
  } catch (error) {
    if (error instanceof NotAudio) return "not audio";
    if (error instanceof TooLong) return "too long";
    throw error;
  }
};

const recordings: [string, string][] = [
  ["mp3", "voice.mp3"],
  ["m4a", "voice.m4a"],
  ["ogg", "voice-vorbis.ogg"],
  ["opus", "voice-opus.ogg"],
  ["webm", "voice.webm"],
];

describe("headers of recordings", () => {
  it.each(recordings)("pass for %s", (kind, name) => {
    expect(outcome(kind, fixture(name))).toBe("sound");
  });

  it.each(recordings)("of %s cut off anywhere are refused or pass, and never fail", (kind, name) => {
    const file = fixture(name);
    for (let end = 0; end < Math.min(file.length, 3000); end++) {
      expect(["sound", "not audio"]).toContain(outcome(kind, file.subarray(0, end)));
    }
  });

  it("of WAV tell channels, rate and length", () => {
    expect(outcome("wav", wavHeader({}))).toBe("sound");
    expect(outcome("wav", wavHeader({ channels: 8, rate: 192_000 }))).toBe("sound");
    expect(outcome("wav", wavHeader({ channels: 0 }))).toBe("not audio");
    expect(outcome("wav", wavHeader({ channels: 9 }))).toBe("not audio");
    expect(outcome("wav", wavHeader({ channels: 65_535 }))).toBe("not audio");
    expect(outcome("wav", wavHeader({ rate: 4_000_000_000 }))).toBe("not audio");
    expect(outcome("wav", wavHeader({ rate: 1 }))).toBe("not audio");
    expect(outcome("wav", wavHeader({ dataBytes: 16_000 * 32 }))).toBe("too long");
    // What a program that writes to a pipe declares.
    expect(outcome("wav", wavHeader({ declared: 0xffff_ffff }))).toBe("sound");
  });

  it("of Opus tell channels, in every stream of a chain", () => {
    expect(outcome("opus", opusFile(2, 3))).toBe("sound");
    expect(outcome("opus", opusFile(8, 3))).toBe("sound");
    expect(outcome("opus", opusFile(230, 1))).toBe("not audio");
    expect(outcome("opus", Buffer.concat([opusFile(1, 3), opusFile(230, 1)]))).toBe("not audio");
    const streams = opusHead(2, 1);
    streams.writeUInt8(200, 19);
    expect(outcome("webm", Buffer.concat([fixture("voice.webm"), streams]))).toBe("not audio");
  });

  it("of Vorbis tell channels and rate", () => {
    const file = Buffer.from(fixture("voice-vorbis.ogg"));
    const at = file.indexOf("\x01vorbis", 0, "latin1");
    file.writeUInt8(255, at + 11);
    expect(outcome("ogg", file)).toBe("not audio");
    file.writeUInt8(1, at + 11);
    file.writeUInt32LE(0xffff_ffff, at + 12);
    expect(outcome("ogg", file)).toBe("not audio");
  });

  it("of MP4 tell channels, length and tables that fit into their box", () => {
    expect(outcome("m4a", mp4File({}))).toBe("sound");
    expect(outcome("m4a", mp4File({ seconds: 40 }))).toBe("too long");
    expect(outcome("m4a", mp4File({ channels: 200 }))).toBe("not audio");
    expect(outcome("m4a", mp4File({ samples: 0xffff_ffff }))).toBe("not audio");
    expect(outcome("m4a", mp4File({ times: 0x1000_0000 }))).toBe("not audio");
    const grown = mp4File({});
    grown.writeUInt32BE(0x7fff_ffff, grown.indexOf("moov") - 4);
    expect(outcome("m4a", grown)).toBe("not audio");
  });

  it("of MP3 have a tag that ends within the file", () => {
    const tag = (length: number): Buffer => Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, length])]);
    expect(outcome("mp3", Buffer.concat([tag(4), Buffer.alloc(4), fixture("voice.mp3")]))).toBe("sound");
    expect(outcome("mp3", Buffer.concat([tag(100), Buffer.alloc(20)]))).toBe("not audio");
  });
});
