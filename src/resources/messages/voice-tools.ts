/**
 * What messages need done with sound. It is done elsewhere, away from the event loop, and passed in. Organizations have equal
 * shares of it: everything answers 503 `too_busy` when too much of one waits, and `service_unavailable` when too much waits in all.
 */
export interface VoiceTools {
  /** False: no text can be spoken here. */
  speaks: boolean;
  /** Brings a file of any accepted format into the form that a device plays. */
  toDeviceAudio(organizationId: string, file: Buffer, form: DeviceAudioForm): Promise<ConvertedAudio>;
  /** Throws when the text was not spoken and trying again may help. */
  speak(
    organizationId: string,
    text: string,
    speech: { language: string; voice: string },
    form: DeviceAudioForm,
  ): Promise<SpokenText>;
  /** Undefined when the recording cannot be read. */
  toWav(organizationId: string, amr: Buffer): Promise<Buffer | undefined>;
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

/** `unspeakable`: nothing can be heard of the text (only signs), or not in the time there is. */
export type SpokenText = ({ kind: "spoken" } & SpokenAudio) | { kind: "unspeakable" };

export type ConvertedAudio = ({ kind: "converted" } & SpokenAudio) | { kind: "not_audio" } | { kind: "too_long" };
