import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
} from "../support/vigil-process.ts";

interface Demo extends Credentials {
  organization: { slug: string; features: string[] };
  owner: { email: string; password: string };
  users: { email: string; device_uid: string | null }[];
  devices: string[];
  showcase: Record<"caller" | "spare" | "phone", string>;
  receiver: { page: string; hook: string; webhook_secret: string } | null;
  geofences: number;
  thresholds: number;
}

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof tempFolder>>;
let service: RunningVigil | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await tempFolder();
});
afterEach(async () => {
  await service?.kill("SIGKILL");
});
afterAll(async () => {
  await folder.remove();
  await database.drop();
});

const env = () => ({ DATABASE_URL: database.url, VIGIL_GATEWAY_HOST: "127.0.0.1", VIGIL_DATA_DIR: folder.path });
async function startDemo(devices: number, ...more: string[]): Promise<Demo> {
  service = await startVigil(["--devices", String(devices), ...more], env(), "demo");
  return service.document as unknown as Demo;
}
async function get(path: string, token: string) {
  const answer = await fetch(`${service?.http}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  return { status: answer.status, body: (await answer.json()) as any };
}

test("the demo runs with a fleet that reports, and goes on with the same data", { timeout: 400_000 }, async () => {
  const demo = await startDemo(4);
  expect(demo.organization).toMatchObject({
    slug: "vigil-demo",
    features: expect.arrayContaining(["geofence_scoping", "managed_onboarding"]),
  });
  expect(demo.devices).toHaveLength(4);
  const token = await fetchTokenOf(service?.http ?? "", demo);
  await vi.waitFor(
    async () => {
      const { results } = (await get("/devices/?search=Simulated", token)).body;
      expect(results.map(({ is_online }: { is_online: boolean }) => is_online)).toEqual([true, true, true, true]);
      const ecg = await get(`/devices/${demo.devices[0]}/ecg/`, token);
      expect(ecg.body.results).toMatchObject([{ status: "complete", sample_count: 7500, duration_ms: 30_000 }]);
    },
    { timeout: 60_000, interval: 200 },
  );
  const [recording] = (await get(`/devices/${demo.devices[0]}/ecg/`, token)).body.results;
  const { body: waveform } = await get(`/devices/${demo.devices[0]}/ecg/${recording.id}/waveform/`, token);
  expect([waveform.leads[0].samples.length, waveform.missing]).toEqual([7500, []]);
  expect((await get("/geofences/", token)).body.count).toBe(demo.geofences);
  expect((await get("/alert-thresholds/", token)).body.count).toBe(demo.thresholds);
  // Four owners, a carer and a relative.
  expect((await get("/assignments/", token)).body.count).toBe(6);
  const login = await fetch(`${service?.http}/console/api/login/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(demo.owner),
  });
  expect(login.status).toBe(200);
  expect(((await stat(join(folder.path, "demo.json"))).mode & 0o777).toString(8)).toBe("600");
  expect(await service?.kill("SIGTERM")).toBe(0);

  const again = await startDemo(5);
  const { http, gateway, ops, devices, ...same } = { ...again } as Demo & Record<string, unknown>;
  expect(demo).toMatchObject(same);
  expect(again.devices.slice(0, 4)).toEqual(demo.devices);
  const { body } = await get("/devices/?search=Simulated", await fetchTokenOf(service?.http ?? "", again));
  expect(body.count).toBe(5);
  expect(await service?.kill("SIGTERM")).toBe(0);
});

test("the demo refuses more devices than it is for", async () => {
  const { code, stderr } = await runVigil(["demo", "--devices", "1001"], env());
  expect([code, stderr]).toEqual([2, expect.stringContaining("at most 1000")]);
});
