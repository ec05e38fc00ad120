import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { fetchTokenOf, makeCredentials, type RunningVigil, startVigil } from "../support/vigil-process.ts";
import { openIwWatch } from "../support/voice-watch.ts";

let database: TestDatabase;
let service: RunningVigil;
let token: string;
const uid = "490154203237518";

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, VIGIL_GATEWAY_HOST: "127.0.0.1" };
  service = await startVigil([], env);
  token = await fetchTokenOf(service.http, await makeCredentials([], env));
  await call("POST", "/api/v1/devices/", { uid, device_model_slug: "iw-h10" });
});
afterAll(async () => {
  await service.kill("SIGKILL");
  await database.drop();
});

// biome-ignore lint/suspicious/noExplicitAny: a test looks into arbitrary JSON
async function call(method: string, path: string, body?: object | FormData): Promise<any> {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.http + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && !isForm ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  });
  return answer.json();
}

const messages = `/api/v1/devices/${uid}/messages/`;

async function uploadForm(name: string): Promise<FormData> {
  const form = new FormData();
  form.set("file", new Blob([await readFile(join(import.meta.dirname, "../fixtures/voice", name))]), name);
  return form;
}

test("the built program speaks and converts for a watch, and people who hang up cost nothing", async () => {
  const watch = await openIwWatch(Number(service.gateway.split(":")[1]), uid);
  const spoken = await call("POST", `${messages}send-tts/`, { text: "Time for your pills", language: "en" });
  const uploaded = await call("POST", `${messages}upload-voice/`, await uploadForm("voice.m4a"));
  expect([spoken.device_delivery_status, uploaded.device_delivery_status]).toEqual(["pending", "ready"]);
  const isDelivered = async (): Promise<boolean> => {
    const { results } = await call("GET", messages);
    return results.every((row: { device_delivery_status: string }) => row.device_delivery_status === "delivered");
  };
  await vi.waitUntil(isDelivered, { timeout: 25_000, interval: 100 });
  const { audio } = await call("GET", `${messages}${spoken.id}/`);
  expect(audio.duration_ms).toBeGreaterThan(800);
  const serials = [...new Set(watch.parts.map(({ serial }) => serial))];
  const sizes = serials.map((serial) =>
    watch.parts.filter((part) => part.serial === serial).reduce((size, { bytes }) => size + bytes.length, 0),
  );
  expect(sizes).toEqual([audio.size_bytes, uploaded.audio.size_bytes]);
  await watch.close();

  // More than may be in memory at a time; none of them ever says its last byte.
  const { hostname, port } = new URL(service.http);
  for (let n = 0; n < 8; n++) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined);
    const head =
      `POST ${messages}upload-voice/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000000\r\n\r\n--b\r\n";
    await new Promise((resolve) => socket.write(head, resolve));
    socket.destroy();
  }
  expect((await call("POST", `${messages}upload-voice/`, await uploadForm("voice.amr"))).message_type).toBe("voice");
});
