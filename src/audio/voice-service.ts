import type { Metrics } from "../lib/metrics.ts";
import { JobLost } from "./audio-child.ts";
import type { AudioJob, AudioResult } from "./audio-jobs.ts";
import { countedJobs, type RunJob } from "./audio-metrics.ts";
import { isEspeakInstalled } from "./espeak.ts";
import { ProcessPool, type ProcessPoolOptions } from "./process-pool.ts";
import { type SpeechRequest, type SpeechSetting, speakByCommand, speakByHttp } from "./speech-provider.ts";

export interface AudioForm {
  bitRate: number;
  maxDurationMs: number;
}

export interface DeviceAudio {
  amr: Buffer;
  durationMs: number;
}

export interface VoiceOptions extends ProcessPoolOptions {
  metrics?: Metrics;
  /** Whether the speech engine is installed; looked up unless given. */
  hasEngine?: boolean;
}

/** Recordings and speech for devices; the work is done by processes that may be ended at any time. */
export class VoiceService {
  readonly speaks: boolean;
  readonly #setting: SpeechSetting;
  readonly #pool: ProcessPool;
  readonly #run: RunJob;

  constructor(setting: SpeechSetting, { metrics, hasEngine, ...options }: VoiceOptions = {}) {
    this.#setting = setting;
    this.speaks = setting.kind === "espeak" ? (hasEngine ?? isEspeakInstalled()) : setting.kind !== "off";
    const pool = new ProcessPool(options);
    const run: RunJob = (tenant, job) => pool.run(tenant, job);
    this.#pool = pool;
    this.#run = metrics ? countedJobs(metrics, () => pool.waiting, run) : run;
  }

  async toDeviceAudio(
    organizationId: string,
    file: Buffer,
    form: AudioForm,
  ): Promise<({ kind: "converted" } & DeviceAudio) | { kind: "not_audio" } | { kind: "too_long" }> {
    const result = await this.#runOrRefuse(organizationId, { op: "to_amr", file, ...limitsOf(form) });
    if (result.kind === "amr") return { kind: "converted", ...deviceAudioOf(result) };
    return result.kind === "too_long" ? { kind: "too_long" } : { kind: "not_audio" };
  }

  /** It has a share beside that of uploads: texts wait in the database, where an upload must not push them out. */
  async speak(
    organizationId: string,
    text: string,
    { language, voice }: Omit<SpeechRequest, "text">,
    form: AudioForm,
  ): Promise<({ kind: "spoken" } & DeviceAudio) | { kind: "unspeakable" }> {
    const job = await this.#speechJob({ text, language, voice }, form);
    if (!job) return { kind: "unspeakable" };
    const result = await this.#run(`speech ${organizationId}`, job);
    switch (result.kind) {
      case "amr":
        return { kind: "spoken", ...deviceAudioOf(result) };
      case "too_long":
      case "unspeakable":
        return { kind: "unspeakable" };
      default:
        throw new Error(`the spoken text is ${result.kind}`);
    }
  }

  /** Undefined: the one who speaks refuses this text. */
  async #speechJob(request: SpeechRequest, form: AudioForm): Promise<AudioJob | undefined> {
    const setting = this.#setting;
    switch (setting.kind) {
      case "espeak":
        return { op: "speak", text: request.text, language: request.language, ...limitsOf(form) };
      case "command":
        return { op: "speech_to_amr", file: await speakByCommand(setting.argv, request), ...limitsOf(form) };
      case "http": {
        const file = await speakByHttp(setting.url, request);
        return file && { op: "speech_to_amr", file, ...limitsOf(form) };
      }
      case "off":
        throw new Error("no speech is configured");
    }
  }

  async toWav(organizationId: string, amr: Buffer): Promise<Buffer | undefined> {
    const result = await this.#runOrRefuse(organizationId, { op: "to_wav", amr });
    return result.kind === "wav" ? bufferOf(result.wav) : undefined;
  }

  /** A file that brings a process down or holds it too long is like one that cannot be read. */
  async #runOrRefuse(organizationId: string, job: AudioJob): Promise<AudioResult> {
    try {
      return await this.#run(organizationId, job);
    } catch (error) {
      if (error instanceof JobLost) return { kind: "not_audio" };
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const limitsOf = ({ bitRate, maxDurationMs }: AudioForm) => ({ bitRate, maxSeconds: maxDurationMs / 1000 });

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const deviceAudioOf = ({ amr, durationMs }: Extract<AudioResult, { kind: "amr" }>): DeviceAudio => ({
  amr: bufferOf(amr),
  durationMs,
});
