/**
 * What messages need done with sound. It is done elsewhere, away from the event loop, and passed in. Everything answers 503
 * `service_unavailable` when too much waits.
 */
export interface VoiceTools {
  /** False: no text can be spoken here. */
  speaks: boolean;
  /** Brings a file of any accepted format into the form that a device plays. */
  toDeviceAudio(file: Buffer, form: DeviceAudioForm): Promise<ConvertedAudio>;
  /** Throws when the text cannot be spoken; trying again may help. */
  speak(text: string, speech: { language: string; voice: string }, form: DeviceAudioForm): Promise<SpokenAudio>;
  /** Undefined when the recording cannot be read. */
  toWav(amr: Buffer): Promise<Buffer | undefined>;
}

export interface DeviceAudioForm {
  /** Bits per second, one of the rates of AMR-NB. */
  bitRate: number;
  maxDurationMs: number;
}

export interface SpokenAudio {
  amr: Buffer;
  durationMs: number;
}

export type ConvertedAudio = ({ kind: "converted" } & SpokenAudio) | { kind: "not_audio" } | { kind: "too_long" };
