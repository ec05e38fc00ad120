import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { expireMessages } from "../../src/resources/messages/message-delivery.ts";
import { watchId } from "../support/command-world.ts";
import { auditOf } from "../support/fixtures.ts";
import { type MessageWorld, openSpokenWorld } from "../support/message-world.ts";
import { fixture } from "../support/voice-samples.ts";
import { readAudio, uploadVoice } from "../support/voice-upload.ts";
import { openIwWatch, openSeTracker, type VoiceWatch } from "../support/voice-watch.ts";

describe("messages to devices", () => {
  const clock = makeManualClock(new Date());
  let world: MessageWorld;
  let port: number;
  let seTracker: string;

  beforeAll(async () => {
    ({ world, port, seTracker } = await openSpokenWorld(clock));
  });
  afterAll(() => world.close());

  const utf16 = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");
  const typesOf = async (uid: string): Promise<string[]> => (await world.outboundOf(uid)).map(({ type }) => type);
  const upload = async (uid: string): Promise<{ id: string; url: string }> => {
    const { token } = world.integration;
    const { body } = await uploadVoice(world.api, { token, uid, file: fixture("voice.mp3") });
    return { id: body.id, url: body.audio.url };
  };
  const textFrames = ({ frames }: VoiceWatch): string[] => frames.filter((frame) => frame.startsWith("IWBP40"));

  it("delivers a text to a connected watch and notifies partners in order", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const id = await world.sendText(uid, "Pilloló 😀");
    const message = await world.untilStatus(uid, id, "delivered");
    expect(message.delivered_at).toBe(clock.now().toISOString());
    expect(textFrames(watch)[0]).toMatch(new RegExp(`^IWBP40,${uid},\\d{6},${utf16("Pilloló 😀")}#$`));
    const outbound = await world.outboundOf(uid);
    expect(outbound.map(({ type, data }) => [type, data.device_delivery_status])).toEqual([
      ["message.sent", "sending"],
      ["message.delivered", "delivered"],
    ]);
    expect(outbound[1]?.data).toEqual({
      message_id: id,
      direction: "outbound",
      message_type: "text",
      device_delivery_status: "delivered",
      text: "Pilloló 😀",
      audio_url: null,
      duration_ms: null,
      sender_name: "Care Co",
      sender_user_id: null,
      failure_reason: null,
      ts: message.ts,
    });
    await watch.close();
  });

  it("never dates the delivery before the sending, which may be noted later than the answer came in", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid, { answersText: false });
    const id = await world.sendText(uid, "soon");
    await vi.waitUntil(async () => (await typesOf(uid)).includes("message.sent"), { timeout: 10_000, interval: 10 });
    clock.advanceMs(-5);
    watch.write(`IWAP40,${textFrames(watch)[0]?.split(",")[2]}#`);
    const { delivered_at } = await world.untilStatus(uid, id, "delivered");
    clock.advanceMs(5);
    expect((await world.outboundOf(uid)).map(({ occurred_at }) => occurred_at)).toEqual([delivered_at, delivered_at]);
    await watch.close();
  });

  it("keeps texts for a device that is away, and sends them in the order of creation", async () => {
    const uid = await world.device();
    const texts = ["one", "two", "three", "never"];
    const ids: string[] = [];
    for (const text of texts) ids.push(await world.sendText(uid, text));
    const { token } = world.integration;
    await world.api.call("DELETE", `/api/v1/devices/${uid}/messages/${ids.pop()}/`, { token });
    expect((await world.message(uid, ids[0] as string)).device_delivery_status).toBe("pending");
    const watch = await openIwWatch(port, uid);
    await world.untilStatus(uid, ids[2] as string, "delivered");
    expect(textFrames(watch).map((frame) => frame.slice(0, -1).split(",")[3])).toEqual(texts.slice(0, 3).map(utf16));
    await watch.close();
  });

  it("delivers texts to a watch that answers with the word alone, beside a command of the same word", async () => {
    const uid = seTracker;
    const watch = await openSeTracker(port, watchId(uid), { answersText: false });
    const command = await world.command(uid, "send_message", { text: "from a command" });
    await watch.until(() => watch.frames.length === 2, "text of the command");
    const id = await world.sendText(uid, "from a message");
    await watch.until(() => watch.frames.length === 3, "text of the message");
    expect(watch.frames.slice(1)).toEqual([`MESSAGE,${utf16("from a command")}`, `MESSAGE,${utf16("from a message")}`]);
    const echo = `[3G*${watchId(uid)}*0007*MESSAGE]`;
    watch.write(echo);
    await world.until(uid, command, "ack_ok");
    expect((await world.message(uid, id)).device_delivery_status).toBe("sending");
    watch.write(echo);
    await world.untilStatus(uid, id, "delivered");
    await watch.close();
  });

  it("lets the message of a command follow the command", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const command = await world.command(uid, "send_message", { text: "drink", sender_name: "Ada" });
    await world.until(uid, command, "ack_ok");
    const { token } = world.integration;
    const [row] = (await world.api.call("GET", `/api/v1/devices/${uid}/messages/`, { token })).body.results;
    expect(row).toMatchObject({
      command_uuid: command,
      text: "drink",
      sender_name: "Ada",
      device_delivery_status: "delivered",
    });
    expect(await typesOf(uid)).toEqual(["message.sent", "message.delivered"]);
    await watch.close();
  });

  it("deletes the pending command of a message that is deleted", async () => {
    const uid = await world.device();
    const command = await world.command(uid, "send_message", { text: "not any more" });
    const { token } = world.integration;
    const path = `/api/v1/devices/${uid}/messages/`;
    const [row] = (await world.api.call("GET", path, { token })).body.results;
    await world.api.call("DELETE", `${path}${row.id}/`, { token });
    expect((await world.get(uid, command)).code).toBe("not_found");
    const entries = await auditOf(world.api, command);
    expect(entries).toMatchObject([{ action: 0 }, { action: 2, content_type: 8, object_repr: "send_message" }]);
  });

  it("writes down the message of a command, also when the command is deleted", async () => {
    const uid = await world.device();
    const command = await world.command(uid, "send_message", { text: "private" });
    const { token } = world.integration;
    const [row] = (await world.api.call("GET", `/api/v1/devices/${uid}/messages/`, { token })).body.results;
    await world.api.call("DELETE", `/api/v1/devices/${uid}/commands/${command}/`, { token });
    expect((await world.message(uid, row.id)).code).toBe("not_found");
    const entries = await auditOf(world.api, row.id);
    expect(entries).toMatchObject([
      { action: 0, content_type: 9, actor_type: "partners", object_repr: "text" },
      { action: 2, content_type: 9, actor_type: "partners", object_repr: "text" },
    ]);
    expect(JSON.stringify(entries)).not.toContain("private");
  });

  it("sends a recording in parts, each after the answer to the one before", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const { id, url } = await upload(uid);
    await world.untilStatus(uid, id, "delivered");
    const { bytes } = await readAudio(world.api, world.integration.token, url);
    expect(watch.parts.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(watch.parts.every((part) => part.total === 5 && part.bytes.length <= 1024)).toBe(true);
    expect(Buffer.concat(watch.parts.map((part) => part.bytes)).equals(bytes)).toBe(true);
    expect(await typesOf(uid)).toEqual(["message.sent", "message.delivered"]);
    await watch.close();
  });

  it("sends a recording in one piece to a watch that takes it so", async () => {
    const uid = seTracker;
    const watch = await openSeTracker(port, watchId(uid));
    const { id, url } = await upload(uid);
    await world.untilStatus(uid, id, "delivered");
    const { bytes } = await readAudio(world.api, world.integration.token, url);
    expect(watch.parts).toHaveLength(1);
    expect(watch.parts[0]?.bytes.equals(bytes)).toBe(true);
    await watch.close();
  });

  it("repeats a part that is refused, and gives up after the third refusal", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid, { answersPart: (_, count) => (count === 2 || count === 3 ? "0" : "1") });
    const { id } = await upload(uid);
    await world.untilStatus(uid, id, "delivered");
    expect(watch.parts.map(({ sequence }) => sequence)).toEqual([1, 2, 2, 2, 3, 4, 5]);
    await watch.close();
    const stubborn = await openIwWatch(port, uid, { answersPart: () => "0" });
    const refused = await upload(uid);
    const failed = await world.untilStatus(uid, refused.id, "failed");
    expect([failed.failure_reason, stubborn.parts.length]).toEqual(["device_rejected", 3]);
    const [last] = (await world.outboundOf(uid)).slice(-1);
    expect([last?.type, last?.data.failure_reason]).toEqual(["message.failed", "device_rejected"]);
    await stubborn.close();
  });

  it("writes a part again after 30 seconds without an answer, twice, and goes on with the next message", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid, { answersText: false });
    const id = await world.sendText(uid, "anybody?");
    const next = await world.sendText(uid, "next");
    for (const writes of [1, 2, 3]) {
      await watch.until(() => textFrames(watch).length === writes, `write ${writes}`);
      // The answer to the login comes first, and the write must be noted before time goes on.
      await vi.waitUntil(async () => (await typesOf(uid)).includes("message.sent"), { timeout: 10_000, interval: 10 });
      clock.advanceMs(29_000);
      expect(textFrames(watch)).toHaveLength(writes);
      clock.advanceMs(1500);
    }
    const failed = await world.untilStatus(uid, id, "failed");
    expect(failed.failure_reason).toBe("no_ack");
    await watch.until(() => textFrames(watch).length === 4, "next message");
    expect((await world.message(uid, next)).device_delivery_status).toBe("sending");
    await watch.close();
  });

  it("begins a recording again with its first part when the connection was broken", async () => {
    const uid = await world.device();
    const broken = await openIwWatch(port, uid, { answersPart: ({ sequence }) => (sequence < 3 ? "1" : undefined) });
    const { id } = await upload(uid);
    await broken.until(() => broken.parts.length === 3, "third part");
    await broken.close();
    expect((await world.message(uid, id)).device_delivery_status).toBe("sending");
    const again = await openIwWatch(port, uid);
    await world.untilStatus(uid, id, "delivered");
    expect(again.parts.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(again.parts[0]?.serial).not.toBe(broken.parts[0]?.serial);
    expect(await typesOf(uid)).toEqual(["message.sent", "message.delivered"]);
    await again.close();
  });

  it("fails what its device never fetched", async () => {
    const uid = await world.device();
    const id = await world.sendText(uid, "too late");
    const expiresMs = clock.nowMs() + 86_400_000;
    await expireMessages(world.api.db, new Date(expiresMs - 1));
    expect((await world.message(uid, id)).device_delivery_status).toBe("pending");
    await expireMessages(world.api.db, new Date(expiresMs));
    const failed = await world.message(uid, id);
    expect([failed.device_delivery_status, failed.failure_reason]).toEqual(["failed", "device_offline_expired"]);
    expect(await typesOf(uid)).toEqual(["message.failed"]);
    expect((await auditOf(world.api, id)).at(-1)).toMatchObject({
      action: 1,
      actor_type: "system",
      changes: { device_delivery_status: ["pending", "failed"], failure_reason: [null, "device_offline_expired"] },
      additional_data: { via: "task" },
    });
    const watch = await openIwWatch(port, uid);
    const fresh = await world.sendText(uid, "in time");
    await world.untilStatus(uid, fresh, "delivered");
    expect(textFrames(watch)).toHaveLength(1);
    await watch.close();
  });

  it("speaks a text, and sends what was written later after it", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const spoken = await world.sendTts(uid, "Time for your pills");
    const later = await world.sendText(uid, "later");
    expect((await world.message(uid, spoken)).device_delivery_status).toBe("pending");
    const asked: unknown[] = [];
    const worker = world.speech(async (...request) => {
      asked.push(request);
      return { kind: "spoken", amr: fixture("voice.amr"), durationMs: 3020 };
    });
    const message = await world.untilStatus(uid, spoken, "delivered");
    await world.untilStatus(uid, later, "delivered");
    await worker.close();
    expect(asked).toMatchObject([
      [expect.any(String), "Time for your pills", { language: "it", voice: "default" }, { bitRate: 12_200 }],
    ]);
    expect(message.audio).toMatchObject({ available: true, duration_ms: 3020 });
    expect(Buffer.concat(watch.parts.map(({ bytes }) => bytes)).equals(fixture("voice.amr"))).toBe(true);
    expect(await typesOf(uid)).toEqual(["message.sent", "message.delivered", "message.sent", "message.delivered"]);
    await watch.close();
  });

  it("sends at once what waited after a message that is deleted", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const spoken = await world.sendTts(uid, "not spoken yet");
    const later = await world.sendText(uid, "urgent");
    expect((await world.message(uid, later)).device_delivery_status).toBe("pending");
    const { token } = world.integration;
    await world.api.call("DELETE", `/api/v1/devices/${uid}/messages/${spoken}/`, { token });
    await world.untilStatus(uid, later, "delivered");
    await watch.close();
  });

  it("fails a text that could not be spoken three times", async () => {
    const uid = await world.device();
    const id = await world.sendTts(uid, "Time for your pills");
    let attempts = 0;
    const worker = world.speech(async () => {
      attempts++;
      throw new Error("the speech program ended with 1");
    });
    const allTried = (): boolean => {
      clock.advanceMs(1000);
      return attempts === 3;
    };
    await vi.waitUntil(allTried, { timeout: 10_000, interval: 20 });
    const failed = await world.untilStatus(uid, id, "failed");
    await worker.close();
    expect([failed.failure_reason, failed.audio.available]).toEqual(["tts_failed", false]);
    expect((await auditOf(world.api, id)).at(-1)).toMatchObject({
      actor_type: "system",
      changes: { device_delivery_status: ["processing", "failed"], failure_reason: [null, "tts_failed"] },
    });
    expect(await typesOf(uid)).toEqual(["message.failed"]);
  });

  it("fails a text that nobody can speak at once, and sends what waits after it", async () => {
    const uid = await world.device();
    const watch = await openIwWatch(port, uid);
    const unspeakable = await world.sendTts(uid, "...");
    const later = await world.sendText(uid, "later");
    let attempts = 0;
    const worker = world.speech(async () => {
      attempts++;
      return { kind: "unspeakable" };
    });
    await world.untilStatus(uid, later, "delivered");
    await worker.close();
    const failed = await world.message(uid, unspeakable);
    expect([failed.device_delivery_status, failed.failure_reason, attempts]).toEqual(["failed", "tts_failed", 1]);
    expect(await typesOf(uid)).toEqual(["message.failed", "message.sent", "message.delivered"]);
    await watch.close();
  });
});
