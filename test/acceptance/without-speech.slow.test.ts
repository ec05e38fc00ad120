import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { hidePackage } from "../support/hidden-package.ts";
import {
  fetchTokenOf,
  makeCredentials,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
} from "../support/vigil-process.ts";

const uid = "490154203237518";
let folder: Awaited<ReturnType<typeof tempFolder>>;
let database: TestDatabase;
let service: RunningVigil | undefined;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await tempFolder();
  database = await createTestDatabase();
  env = {
    DATABASE_URL: database.url,
    VIGIL_DATA_DIR: folder.path,
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    NODE_OPTIONS: await hidePackage(folder.path, "@echogarden/espeak-ng-emscripten"),
  };
  service = await startVigil([], env);
});
afterAll(async () => {
  await service?.kill("SIGKILL");
  await database.drop();
  await folder.remove();
});

test("without the speech package doctor says so, and send-tts is a missing capability instead of a message that waits", async () => {
  const { http } = service as RunningVigil;
  const { stdout } = await runVigil(["doctor", "--json"], env);
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  expect(checks.find(({ name }) => name === "speech")).toMatchObject({
    ok: true,
    detail: expect.stringContaining("npm install --include=optional"),
  });
  const token = await fetchTokenOf(http, await makeCredentials([], env));
  const call = async (method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${http}/api/v1/devices/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, body: await answer.json() };
  };
  expect((await call("POST", "", { uid, device_model_slug: "iw-h10" })).status).toBe(201);
  const spoken = await call("POST", `${uid}/messages/send-tts/`, { text: "Time for your pills", language: "en" });
  expect(spoken).toMatchObject({
    status: 400,
    body: { code: "validation_error", errors: { non_field_errors: [expect.stringContaining("does not support")] } },
  });
  expect(await call("GET", `${uid}/messages/`)).toMatchObject({ status: 200, body: { count: 0 } });
  const written = await call("POST", `${uid}/messages/send-text/`, { text: "Time for your pills" });
  expect(written.status).toBe(201);
});
