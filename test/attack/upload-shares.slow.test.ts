import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeDevice } from "../support/fixtures.ts";
import { fixture } from "../support/voice-samples.ts";
import { uploadVoice } from "../support/voice-upload.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type PartnerApi } from "../support/world.ts";

/** One organization opens uploads and never ends them. */
let partner: PartnerApi;
let port: number;
let uid: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  partner = await openPartnerApi({ isPrivate: true });
  port = Number(new URL(await partner.api.app.listen({ host: "127.0.0.1", port: 0 })).port);
  uid = (await makeDevice(partner.api, partner.organization)).uid;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await partner.api.close();
});

/** Announces a megabyte and sends a byte of it. Returns what is answered so far. */
function openSlowUpload(): () => string {
  const socket = connect({ host: "127.0.0.1", port });
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk.toString();
  });
  socket.on("error", () => undefined);
  sockets.push(socket);
  socket.write(
    `POST /api/v1/devices/${uid}/messages/upload-voice/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${partner.token}\r\n` +
      "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n-",
  );
  return () => heard;
}

describe("uploads that never end", () => {
  it("fill the share of their organization, and others go on", async () => {
    const { api } = partner;
    const answers = Array.from({ length: 20 }, openSlowUpload);
    // Two are read and ten wait; the others are told so at once.
    await vi.waitUntil(() => answers.filter((heard) => heard().includes("too_busy")).length === 8, { timeout: 20_000 });
    const refused = answers.map((heard) => heard()).filter((text) => text !== "");
    expect(refused).toHaveLength(8);
    for (const text of refused) expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: \d+/i);

    const other = await makeOrganization(api);
    const { token } = await makeIntegration(api, other);
    const device = await makeDevice(api, other);
    const startedMs = performance.now();
    const answer = await uploadVoice(api, { token, uid: device.uid, file: fixture("voice.mp3") });
    console.log(`an upload beside 20 slow ones of another: ${Math.round(performance.now() - startedMs)} ms`);
    expect(answer.status).toBe(201);
  });
});
