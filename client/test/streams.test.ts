import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { multipartBody } from "../src/uploads.ts";
import { ConnectionError } from "../src/vigil-client.ts";
import { openPartnerClient, type PartnerClient } from "./support/partner-client.ts";

const uid = "490154203237518";
/** One second of silence, 8 kHz, 16 bits, mono. */
function wav(): Uint8Array {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 16_000, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(16_000, 40);
  return new Uint8Array(Buffer.concat([head, Buffer.alloc(16_000)]));
}

let world: PartnerClient;
beforeAll(async () => {
  world = await openPartnerClient();
  await world.client.devices.create({ uid, device_model_slug: "iw-h10" });
});
afterAll(() => world.api.close());

async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

describe("uploads", () => {
  it("are sent as they are read, with the fields of the form", async () => {
    const message = await world.client.messages.uploadVoice(uid, { source: inParts(wav()), senderName: "Care desk" });
    expect(message).toMatchObject({ message_type: "voice", sender_name: "Care desk", device_uid: uid });
  });

  it("create one message although the answer was lost, when the bytes can be read again", async () => {
    const before = (await world.client.messages.list(uid).toArray()).length;
    for (const source of [wav(), new Blob([new Uint8Array(wav())]), () => inParts(wav())]) {
      world.net.fail("/upload-voice/", "lost");
      await world.client.messages.uploadVoice(uid, { source });
    }
    expect((await world.client.messages.list(uid).toArray()).length - before).toBe(3);
  });

  it("of a plain stream are not retried", async () => {
    world.net.fail("/upload-voice/", "refused");
    const call = world.client.messages.uploadVoice(uid, { source: inParts(wav()) });
    await expect(call).rejects.toBeInstanceOf(ConnectionError);
  });

  it("keep a file name from breaking out of its header", async () => {
    const body = multipartBody({ source: new Uint8Array([1]), filename: 'a"\r\nX: 1' }, {});
    expect(await new Response(body.make()).text()).toContain('filename="a%22 X: 1"\r\n');
  });
});

describe("downloads", () => {
  it("have the error of the service when there is nothing to read", async () => {
    const [message] = (await world.client.messages.list(uid).page()).results;
    const sent = await world.client.messages.sendText(uid, { text: "Call me" });
    expect(message?.id).not.toBe(sent.id);
    await expect(world.client.messages.audio(uid, sent.id)).rejects.toMatchObject({ code: "not_found" });
  });
});
