import { amrFrameMs, readAmrFrames } from "../lib/amr-frames.ts";
import { amrRate, makeAmrEncoder, modeOf } from "./amr-encoder.ts";
import { NotAudio, TooLong } from "./audio-refusals.ts";
import { decodeAmr, decodeAudio } from "./decode-audio.ts";
import { loadEspeak, type Speak, Unspeakable } from "./espeak.ts";
import { isSilent, raiseLevel, resample, type Sound } from "./samples.ts";
import { writeWav } from "./wav-file.ts";

/** What an audio process is asked to do. */
export type AudioJob =
  | { op: "to_amr"; file: Uint8Array; bitRate: number; maxSeconds: number }
  | { op: "to_wav"; amr: Uint8Array }
  /** Of what another one spoke. */
  | { op: "speech_to_amr"; file: Uint8Array; bitRate: number; maxSeconds: number }
  | { op: "speak"; text: string; language: string; bitRate: number; maxSeconds: number };

export type AudioResult =
  | { kind: "amr"; amr: Uint8Array; durationMs: number }
  | { kind: "wav"; wav: Uint8Array }
  | { kind: "not_audio" }
  | { kind: "too_long" }
  | { kind: "unspeakable" };

/** Encoders add some hundredths of a second of padding, which is cut; a recording that is longer than that is refused. */
const paddingSeconds = 0.1;
/** What a device sent may be longer than what it is sent. */
const maxWavSeconds = 700;

export function makeAudioJobs(): (job: AudioJob) => Promise<AudioResult> {
  let encode: ReturnType<typeof makeAmrEncoder> | undefined;
  let speak: Speak | undefined;

  const toAmr = (sound: Sound, bitRate: number, maxSeconds: number): AudioResult => {
    encode ??= makeAmrEncoder();
    const samples = resample(sound, amrRate).subarray(0, maxSeconds * amrRate);
    return amrResult(encode(raiseLevel(Float32Array.from(samples)), modeOf(bitRate)));
  };

  const perform = async (job: AudioJob): Promise<AudioResult> => {
    switch (job.op) {
      case "to_amr": {
        const file = bufferOf(job.file);
        const kept = keepAmr(file, job.bitRate, job.maxSeconds);
        if (kept) return kept;
        return toAmr(await decodeAudio(file, job.maxSeconds + paddingSeconds), job.bitRate, job.maxSeconds);
      }
      case "speech_to_amr": {
        if (job.file.length === 0) return { kind: "unspeakable" };
        const sound = await decodeAudio(bufferOf(job.file), job.maxSeconds + paddingSeconds);
        if (isSilent(sound.samples)) return { kind: "unspeakable" };
        const kept = keepAmr(bufferOf(job.file), job.bitRate, job.maxSeconds);
        return kept ?? toAmr(sound, job.bitRate, job.maxSeconds);
      }
      case "to_wav":
        return { kind: "wav", wav: writeWav(await decodeAmr(Buffer.from(job.amr), maxWavSeconds)) };
      case "speak":
        speak ??= await loadEspeak();
        return toAmr(speak(job.text, job.language, job.maxSeconds), job.bitRate, job.maxSeconds);
    }
  };

  return async (job) => {
    try {
      return await perform(job);
    } catch (error) {
      if (error instanceof NotAudio) return { kind: "not_audio" };
      if (error instanceof TooLong) return { kind: "too_long" };
      if (error instanceof Unspeakable) return { kind: "unspeakable" };
      throw error;
    }
  };
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const amrResult = (amr: Buffer): AudioResult => ({
  kind: "amr",
  amr,
  durationMs: (readAmrFrames(amr)?.count ?? 0) * amrFrameMs,
});

/** A file that is already what the device plays goes to it as it is, but for the padding of its encoder. */
function keepAmr(file: Buffer, bitRate: number, maxSeconds: number): AudioResult | undefined {
  const frames = readAmrFrames(file);
  if (!frames?.isWhole || frames.isWideband || frames.count === 0 || frames.maxMode > modeOf(bitRate)) {
    return undefined;
  }
  if (frames.count * amrFrameMs > (maxSeconds + paddingSeconds) * 1000) return { kind: "too_long" };
  const kept = readAmrFrames(file, (maxSeconds * 1000) / amrFrameMs);
  return amrResult(file.subarray(0, kept?.end));
}
