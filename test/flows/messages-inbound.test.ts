import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { deleteOldTransfers } from "../../src/ingest/voice-store.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { watchId } from "../support/command-world.ts";
import { type MessageWorld, openSpokenWorld } from "../support/message-world.ts";
import { fixture } from "../support/voice-samples.ts";
import { readAudio } from "../support/voice-upload.ts";
import { escapeWatch, openIwWatch, openSeTracker, type VoiceWatch, watchFrame } from "../support/voice-watch.ts";

describe("messages from devices", () => {
  const clock = makeManualClock(new Date());
  let world: MessageWorld;
  let port: number;
  let seTracker: string;

  beforeAll(async () => {
    ({ world, port, seTracker } = await openSpokenWorld(clock));
  });
  afterAll(() => world.close());

  /** A recording whose frames hold every byte that ends or escapes a frame somewhere. */
  const recording = (seed: number): Buffer => {
    const frame = Buffer.from([
      0x3c,
      ...Array.from({ length: 31 }, (_, at) => [0x23, 0x5d, 0x5b, 0x7d, 0x2c, 0x2a][at % 6] ?? 0),
    ]);
    const other = Buffer.from([0x3c, ...Array.from({ length: 31 }, (_, at) => (at * 7 + seed) & 0xff)]);
    return Buffer.concat([Buffer.from("#!AMR\n"), ...Array.from({ length: 80 }, (_, at) => (at % 2 ? frame : other))]);
  };
  const part = (time: string, total: number, sequence: number, data: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`IWAP07,${time},${total},${sequence},${data.length},`), data, Buffer.from("#")]);
  const chunks = (bytes: Buffer): Buffer[] =>
    Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, at) => bytes.subarray(at * 1024, (at + 1) * 1024));
  const answered = (watch: VoiceWatch, frame: string) => watch.until(() => watch.frames.includes(frame), frame);
  const count = (watch: VoiceWatch, frame: string): number => watch.frames.filter((one) => one === frame).length;
  const bytesOf = async (url: string): Promise<Buffer> =>
    (await readAudio(world.api, world.integration.token, url)).bytes;

  it("puts the parts of a recording together, byte for byte, however often they come", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const time = "20261116080000";
    const bytes = recording(1);
    const parts = chunks(bytes);
    for (const [index, data] of parts.entries()) {
      const sequence = index + 1;
      watch.write(part(time, parts.length, sequence, data));
      await answered(watch, `IWBP07,${time},${parts.length},${sequence},1#`);
      if (sequence === 2) {
        watch.write(part(time, parts.length, sequence, data));
        await watch.until(() => count(watch, `IWBP07,${time},${parts.length},2,1#`) === 2, "second answer");
      }
      if (sequence < parts.length) expect(await world.inbound(uid)).toEqual([]);
    }
    const [message] = await world.inbound(uid);
    expect(message).toMatchObject({
      direction: "inbound",
      message_type: "voice",
      device_delivery_status: "delivered",
      sender_name: uid,
      text: null,
      audio: { available: true, mime_type: "audio/amr", duration_ms: 1600, size_bytes: bytes.length },
    });
    expect((await bytesOf(message.audio.url)).equals(bytes)).toBe(true);
    expect(await world.outboundOf(uid)).toMatchObject([
      { type: "message.received", data: { message_id: message.id, audio_url: message.audio.url, duration_ms: 1600 } },
    ]);
    // The answer to the last part was lost: the watch sends it again, and then everything.
    for (const [index, data] of [...parts.entries()].reverse()) {
      watch.write(part(time, parts.length, index + 1, data));
      await watch.until(() => count(watch, `IWBP07,${time},${parts.length},${index + 1},1#`) >= 2, "another answer");
    }
    expect(await world.inbound(uid)).toHaveLength(1);
    // The same second, another recording.
    const second = chunks(recording(2));
    for (const [index, data] of second.entries()) watch.write(part(time, second.length, index + 1, data));
    await vi.waitUntil(async () => (await world.inbound(uid)).length === 2, { timeout: 10_000, interval: 20 });
    await watch.close();
  });

  it("keeps the parts over a broken connection, and takes hex", async () => {
    const uid = await world.device();
    const time = "20261116090000";
    const bytes = recording(3);
    const parts = chunks(bytes).map((chunk) => Buffer.from(chunk.toString("hex")));
    const before = await openIwWatch(port, uid);
    before.write(part(time, parts.length, 1, parts[0] as Buffer));
    await answered(before, `IWBP07,${time},${parts.length},1,1#`);
    await before.close();
    const after = await openIwWatch(port, uid);
    for (const [index, data] of parts.entries()) {
      if (index > 0) after.write(part(time, parts.length, index + 1, data));
    }
    await answered(after, `IWBP07,${time},${parts.length},${parts.length},1#`);
    const [message] = await world.inbound(uid);
    expect((await bytesOf(message.audio.url)).equals(bytes)).toBe(true);
    await after.close();
  });

  it("takes a recording in one escaped frame once, and its WAV can be heard", async () => {
    const id = watchId(seTracker);
    const watch = await openSeTracker(port, id);
    const frame = watchFrame(id, Buffer.concat([Buffer.from("TK,"), escapeWatch(fixture("voice.amr"))]));
    watch.write(frame);
    await watch.until(() => count(watch, "TK,1") === 1, "answer");
    watch.write(frame);
    await watch.until(() => count(watch, "TK,1") === 2, "answer");
    const messages = await world.inbound(seTracker);
    expect(messages).toHaveLength(1);
    expect((await bytesOf(messages[0].audio.url)).equals(fixture("voice.amr"))).toBe(true);
    const wav = await bytesOf(`${messages[0].audio.url}?format=wav`);
    expect(wav.subarray(0, 4).toString()).toBe("RIFF");
    const odd = recording(4);
    clock.advanceMs(1000);
    watch.write(watchFrame(id, Buffer.concat([Buffer.from("TK,"), escapeWatch(odd)])));
    await watch.until(() => count(watch, "TK,1") === 3, "answer");
    expect((await bytesOf((await world.inbound(seTracker))[1].audio.url)).equals(odd)).toBe(true);
    await watch.close();
  });

  it("takes the numbered parts of other makers, in any order", async () => {
    const id = watchId(seTracker);
    const watch = await openSeTracker(port, id);
    const known = (await world.inbound(seTracker)).length;
    clock.advanceMs(1000);
    const bytes = recording(5);
    const parts = chunks(bytes);
    for (const [index, data] of [...parts.entries()].reverse()) {
      const head = Buffer.from(`JXTK,0,5.amr,${index + 1},${parts.length},`);
      watch.write(watchFrame(id, Buffer.concat([head, escapeWatch(data)])));
    }
    await watch.until(() => count(watch, "JXTKR,1") === parts.length, "answers");
    const messages = await world.inbound(seTracker);
    expect(messages).toHaveLength(known + 1);
    expect((await bytesOf(messages.at(-1).audio.url)).equals(bytes)).toBe(true);
    await watch.close();
  });

  it("takes a text of a kids' watch once", async () => {
    const uid = await world.device("iw-kids");
    const watch = await openIwWatch(port, uid);
    const hex = Buffer.from("Ciao nonna", "utf16le").swap16().toString("hex");
    const frame = `IWAP07,20261116100000,0,0,${hex.length},${hex}#`;
    watch.write(frame);
    watch.write(frame);
    await watch.until(() => count(watch, "IWBP07,20261116100000,0,0,1#") === 2, "answers");
    expect(await world.inbound(uid)).toMatchObject([{ message_type: "text", text: "Ciao nonna", audio: null }]);
    expect(await world.outboundOf(uid)).toMatchObject([{ type: "message.received", data: { text: "Ciao nonna" } }]);
    await watch.close();
  });

  it("keeps what a device leaves unfinished within bounds, and forgets it in the end", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    for (let n = 10; n < 30; n++) watch.write(part(`202611161100${n}`, 5, 1, Buffer.from(`#!AMR\n${n}`)));
    await answered(watch, "IWBP07,20261116110029,5,1,1#");
    const left = async (): Promise<number> =>
      (
        await world.api.db.one<{ count: number }>`
          select count(*) as count from voice_parts p join devices d on d.id = p.device_id where d.uid = ${uid}`
      ).count;
    expect(await left()).toBe(8);
    const later = new Date(clock.nowMs() + 1);
    await deleteOldTransfers(world.api.db, clock.now(), clock.now());
    expect(await left()).toBe(8);
    await deleteOldTransfers(world.api.db, later, clock.now());
    expect(await left()).toBe(0);
    await watch.close();
  });
});
