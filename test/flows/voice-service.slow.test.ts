import { afterAll, describe, expect, it } from "vitest";
import { VoiceService } from "../../src/audio/voice-service.ts";
import { writeWav } from "../../src/audio/wav-file.ts";
import { readAmrFrames } from "../../src/lib/amr-frames.ts";
import { fixture, floatWavFile, loudness, wavFile } from "../support/voice-samples.ts";
import { wavSamples } from "../support/voice-upload.ts";

const tenant = "organization";
const form = { bitRate: 12_200, maxDurationMs: 30_000 };

describe("the voice service", () => {
  const service = new VoiceService({ kind: "espeak" }, { timeoutMs: 60_000 });
  afterAll(() => service.close());

  const sentences = {
    en: "It is time for your pills, please drink a glass of water with them and sit down for a while. ",
    it: "È ora di prendere le pillole, beva un bicchiere d'acqua e si sieda un momento per favore. ",
    de: "Es ist Zeit für Ihre Tabletten, trinken Sie bitte ein Glas Wasser dazu und setzen Sie sich. ",
    fr: "C'est l'heure de vos médicaments, buvez un verre d'eau et asseyez-vous un moment s'il vous plaît. ",
    es: "Es hora de sus pastillas, beba un vaso de agua y siéntese un momento por favor. ",
  };
  it.each(Object.entries(sentences))(
    "speaks 500 characters of %s within 30 seconds, to be heard",
    async (language, text) => {
      const spoken = await service.speak(tenant, text.repeat(10).slice(0, 500), { language, voice: "default" }, form);
      if (spoken.kind !== "spoken") throw new Error(spoken.kind);
      expect(spoken.durationMs).toBeGreaterThan(10_000);
      expect(spoken.durationMs).toBeLessThanOrEqual(30_000);
      const samples = wavSamples((await service.toWav(tenant, spoken.amr)) as Buffer);
      expect(Math.abs(samples.length / 8 - spoken.durationMs)).toBeLessThan(100);
      expect(loudness(samples)).toBeGreaterThan(0.03);
      const frames = Array.from({ length: Math.floor(samples.length / 800) }, (_, at) =>
        loudness(samples.subarray(at * 800, (at + 1) * 800)),
      );
      expect(frames.filter((level) => level > 0.01).length / frames.length).toBeGreaterThan(0.5);
    },
  );

  it("reads marks in a text as nothing, and says no more than fits", async () => {
    const english = { language: "en", voice: "default" };
    const timeOf = async (text: string): Promise<number> => {
      const spoken = await service.speak(tenant, text, english, form);
      return spoken.kind === "spoken" ? spoken.durationMs : Number.NaN;
    };
    expect(await timeOf('Hello <break time="9s"/> there')).toBeLessThan((await timeOf("Hello there")) + 6000);
    const hasty = { ...form, maxDurationMs: 1000 };
    expect(await service.speak(tenant, "98765 43210", english, hasty)).toEqual({ kind: "unspeakable" });
    for (const text of [" ", "...", "?!", "—"]) {
      expect(await service.speak(tenant, text, english, form)).toEqual({ kind: "unspeakable" });
    }
    await expect(service.speak(tenant, "x", { language: "xx-none", voice: "default" }, form)).rejects.toThrow("voice");
  });

  it("takes nothing, silence and too much of a program as a text that cannot be spoken", async () => {
    const english = { language: "en", voice: "default" };
    const silence = writeWav({ samples: new Float32Array(8000), rate: 8000 });
    // It says the text that it is to say.
    const program = "process.stdout.write(Buffer.from(require('node:fs').readFileSync(0, 'utf8'), 'base64'))";
    const other = new VoiceService({ kind: "command", argv: [process.execPath, "-e", program] });
    const speakAs = async (file: Buffer, maxDurationMs = 30_000): Promise<string> => {
      const spoken = other.speak(tenant, file.toString("base64"), english, { ...form, maxDurationMs });
      return spoken.then(
        ({ kind }) => kind,
        (error: Error) => error.message,
      );
    };
    expect(await speakAs(fixture("voice.amr"))).toBe("spoken");
    expect(await speakAs(fixture("voice.amr"), 1000)).toBe("unspeakable");
    expect(await speakAs(Buffer.alloc(0))).toBe("unspeakable");
    expect(await speakAs(silence)).toBe("unspeakable");
    expect(await speakAs(Buffer.from("no sound"))).toBe("the spoken text is not_audio");
    await other.close();
  });

  it("keeps an AMR file as it is, but for a model that takes a lower rate", async () => {
    const file = fixture("voice.amr");
    const kept = await service.toDeviceAudio(tenant, file, form);
    expect(kept.kind === "converted" && kept.amr.equals(file)).toBe(true);
    const lower = await service.toDeviceAudio(tenant, file, { ...form, bitRate: 5000 });
    expect(lower.kind === "converted" && readAmrFrames(lower.amr)?.maxMode).toBe(0);
  });

  it("reads samples that lie at any place of a WAV file", async () => {
    for (const before of [0, 2]) {
      const audio = await service.toDeviceAudio(tenant, floatWavFile(1, before), form);
      expect(audio).toMatchObject({ kind: "converted", durationMs: 1000 });
    }
  });

  it("survives damaged files of every format", async () => {
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    const names = [
      "voice.mp3",
      "voice.m4a",
      "voice-vorbis.ogg",
      "voice-opus.ogg",
      "voice.webm",
      "voice.amr",
      "voice-wb.amr",
    ];
    const files = [...names.map(fixture), wavFile(1)];
    for (const file of files) {
      for (let round = 0; round < 5; round++) {
        const damaged = Buffer.from(file.subarray(0, round % 2 ? file.length : random(file.length)));
        for (let hit = 0; hit < 20 && damaged.length > 0; hit++) damaged[random(damaged.length)] = random(256);
        const { kind } = await service.toDeviceAudio(tenant, damaged, form);
        expect(["converted", "not_audio", "too_long"]).toContain(kind);
      }
    }
    expect((await service.toDeviceAudio(tenant, fixture("voice.mp3"), form)).kind).toBe("converted");
  });

  it("ends a process that takes too long, and refuses more than may wait", async () => {
    const impatient = new VoiceService({ kind: "espeak" }, { timeoutMs: 1, maxWaitingPerTenant: 1 });
    const jobs = [1, 2, 3].map(() => impatient.toDeviceAudio(tenant, fixture("voice.mp3"), form));
    const [first, second, third] = await Promise.allSettled(jobs);
    expect(first).toMatchObject({ status: "fulfilled", value: { kind: "not_audio" } });
    expect(second).toMatchObject({ status: "fulfilled", value: { kind: "not_audio" } });
    expect(third).toMatchObject({ status: "rejected", reason: { code: "too_busy" } });
    await impatient.close();
    await expect(impatient.toWav(tenant, fixture("voice.amr"))).rejects.toMatchObject({ code: "service_unavailable" });
    const silent = new VoiceService({ kind: "off" });
    expect(silent.speaks).toBe(false);
    await silent.close();
  });
});
