import { checkHeaders } from "../../src/audio/audio-headers.ts";
import { NotAudio, TooLong } from "../../src/audio/audio-refusals.ts";
import { readAmrFrames } from "../../src/lib/amr-frames.ts";
import { mp4File, opusFile, wavHeader } from "../support/hostile-audio.ts";
import { fixture } from "../support/voice-samples.ts";
import type { FuzzTarget } from "./fuzz.ts";
import { damage } from "./mutations.ts";

const heads = ["voice.mp3", "voice.m4a", "voice-vorbis.ogg", "voice-opus.ogg", "voice.webm", "voice.amr"];
const seeds = [...heads.map((name) => fixture(name).subarray(0, 4096)), opusFile(2, 3), wavHeader({}), mp4File({})];
const kinds = ["mp3", "m4a", "ogg", "opus", "webm", "wav"];

/** What is read of files before a process with limits sees them. */
export const audioTarget: FuzzTarget = {
  name: "audio headers",
  run: (random) => {
    const input = damage(seeds, random);
    readAmrFrames(input);
    try {
      checkHeaders(random.pick(kinds), input, 30);
    } catch (error) {
      if (!(error instanceof NotAudio || error instanceof TooLong)) throw error;
    }
    return input;
  },
};
