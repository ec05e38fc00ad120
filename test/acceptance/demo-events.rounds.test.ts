import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { freeLowPort } from "../support/free-port.ts";
import { type Credentials, type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";

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

interface Arrived {
  type: string;
  id: string;
  device: string;
  is_verified: boolean;
  reason: string | null;
}

test("the demo raises every type of event, calls for help first, and shows what its receiver got", {
  timeout: 400_000,
}, async () => {
  const demo = await startDemo(1, "--receiver", "--receiver-port", await freeLowPort());
  const { page = "", hook = "" } = demo.receiver ?? {};
  const arrived = async (): Promise<Arrived[]> =>
    ((await (await fetch(`${page}events.json`)).json()) as Arrived[]).toReversed();
  const description = await (await fetch(`${service?.http}/api/schema/?format=json`)).json();
  const types = Object.keys((description as { "x-webhooks": object })["x-webhooks"]).toSorted();
  await vi.waitFor(
    async () => expect([...new Set((await arrived()).map(({ type }) => type))].toSorted()).toEqual(types),
    { timeout: 300_000, interval: 1000 },
  );
  const seen = await arrived();
  expect(seen.filter(({ is_verified }) => !is_verified)).toEqual([]);
  const ofWatch = seen.flatMap(({ type, device }) => (device === demo.showcase.caller ? [type] : []));
  const alarms = ofWatch.filter((type) => type.startsWith("alarm."));
  expect(alarms.slice(0, 2)).toEqual(["alarm.sos", "alarm.fall"]);
  const forged = { method: "POST", body: JSON.stringify({ id: "<b>", type: "alarm.sos" }) };
  expect((await fetch(hook, forged)).status).toBe(401);
  const html = await (await fetch(page)).text();
  expect(html).toContain("not verified: no signature");
  expect(html).toContain("&lt;b&gt;");
  expect(await service?.kill("SIGTERM")).toBe(0);
});
