import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VoiceService } from "../../src/audio/voice-service.ts";
import { makeDevice } from "../support/fixtures.ts";
import { opusFile, wavHeader } from "../support/hostile-audio.ts";
import { fixture } from "../support/voice-samples.ts";
import { multipart } from "../support/voice-upload.ts";
import { openPartnerApi, type PartnerApi } from "../support/world.ts";

/** Files that ask a decoder for more memory or time than there is. */
const form = { bitRate: 12_200, maxDurationMs: 30_000 };
const megabyte = 1024 * 1024;

/** The memory that the processes of audio have had at most, by the books of Linux. */
function peakOfChildrenBytes(): number {
  const peaks = readdirSync("/proc").flatMap((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const isOurs = Number(/PPid:\s+(\d+)/.exec(status)?.[1]) === process.pid;
      const command = isOurs ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
      return command.includes("audio-process") ? [Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024] : [];
    } catch {
      return [];
    }
  });
  return Math.max(0, ...peaks);
}

describe("a hostile recording", () => {
  let partner: PartnerApi;
  let address: string;
  let uid: string;

  beforeAll(async () => {
    partner = await openPartnerApi({ isPrivate: true });
    address = await partner.api.app.listen({ host: "127.0.0.1", port: 0 });
    uid = (await makeDevice(partner.api, partner.organization)).uid;
  });
  afterAll(() => partner.api.close());

  const upload = async (file: Buffer): Promise<{ status: number; ms: number }> => {
    const { payload, contentType } = multipart({ file });
    const startedMs = performance.now();
    const answer = await fetch(`${address}/api/v1/devices/${uid}/messages/upload-voice/`, {
      method: "POST",
      headers: { authorization: `Bearer ${partner.token}`, "content-type": contentType },
      body: new Uint8Array(payload),
    });
    await answer.text();
    return { status: answer.status, ms: Math.round(performance.now() - startedMs) };
  };

  it("with 230 channels is refused by its header, and the next one is served", async () => {
    expect((await upload(fixture("voice.mp3"))).status).toBe(201);
    const small = await upload(opusFile(230, 1));
    const large = await upload(opusFile(230, 4000));
    const peakMb = Math.round(peakOfChildrenBytes() / megabyte);
    const own = Math.round(process.memoryUsage.rss() / megabyte);
    console.log(`230 channels: ${small.ms} ms and ${large.ms} ms, processes ${peakMb} MB, service ${own} MB`);
    expect([small.status, large.status]).toEqual([415, 415]);
    expect(peakMb).toBeLessThan(400);
    expect((await upload(fixture("voice.mp3"))).status).toBe(201);
  });

  it.runIf(process.platform === "linux")("beyond the memory of a process costs that process alone", async () => {
    const narrow = new VoiceService({ kind: "off" }, { memoryMb: 220 });
    const wide = (rate: number): Buffer => wavHeader({ channels: 8, rate, dataBytes: 29 * rate * 16 });
    try {
      expect((await narrow.toDeviceAudio("a", fixture("voice.mp3"), form)).kind).toBe("converted");
      expect(await narrow.toDeviceAudio("a", wide(192_000), form)).toEqual({ kind: "not_audio" });
      expect((await narrow.toDeviceAudio("a", fixture("voice.mp3"), form)).kind).toBe("converted");
    } finally {
      await narrow.close();
    }
    const enough = new VoiceService({ kind: "off" });
    try {
      expect((await enough.toDeviceAudio("a", wide(48_000), form)).kind).toBe("converted");
      console.log(`8 channels at 48 kHz need ${Math.round(peakOfChildrenBytes() / megabyte)} MB`);
      expect(peakOfChildrenBytes()).toBeLessThan(512 * megabyte);
    } finally {
      await enough.close();
    }
  });

  it.runIf(process.platform === "linux")("is not blamed for a process that cannot even start", async () => {
    const broken = new VoiceService({ kind: "off" }, { memoryMb: 1 });
    await expect(broken.toDeviceAudio("a", fixture("voice.mp3"), form)).rejects.toThrow("could not be started");
    await broken.close();
  });

  it("and many long texts delay no other organization", async () => {
    const service = new VoiceService({ kind: "espeak" });
    const english = { language: "en", voice: "default" };
    try {
      // Many long texts of one organization, and one of another in between.
      const jobs = Promise.allSettled(
        Array.from({ length: 8 }, () => service.speak("a", "one two three ".repeat(35), english, form)),
      );
      const startedMs = performance.now();
      const other = await service.toDeviceAudio("b", fixture("voice.mp3"), form);
      console.log(`beside eight jobs of another: ${Math.round(performance.now() - startedMs)} ms`);
      expect(other.kind).toBe("converted");
      await jobs;
    } finally {
      await service.close();
    }
  });
});
