import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { iwHeartRate, iwLogin, iwPosition } from "../support/fleet.ts";
import { fetchTokenOf, makeCredentials, type RunningVigil, startVigil } from "../support/vigil-process.ts";

const home = { lat: 41.9, lng: 12.5 };
let database: TestDatabase;
let service: RunningVigil;
let token: string;
let offsetSeconds = 0;
const env = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  VIGIL_GATEWAY_HOST: "127.0.0.1",
  VIGIL_CLOCK_OFFSET_SECONDS: String(offsetSeconds),
});

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startVigil([], env());
  token = await fetchTokenOf(service.http, await makeCredentials([], env()));
});
afterAll(async () => {
  await service.kill("SIGKILL");
  await database.drop();
});

async function call(method: string, path: string, body?: object) {
  const answer = await fetch(`${service.http}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}

/** Killed in the middle of everything, and up again so many seconds later. */
async function killAndWait(seconds: number): Promise<void> {
  await service.kill("SIGKILL");
  for (const socket of sockets.splice(0)) socket.destroy();
  offsetSeconds += seconds;
  service = await startVigil([], env());
}

const sockets: Socket[] = [];

/** A watch that has logged in; says one frame after the other and waits for each answer. */
async function watch(uid: string): Promise<(frame: string) => Promise<void>> {
  const [host, port] = service.gateway.split(":");
  const socket = connect({ host: host as string, port: Number(port) });
  sockets.push(socket);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.on("error", () => undefined);
  const say = async (frame: string): Promise<void> => {
    const word = frame.slice(0, 6).replace("IWAP", "IWBP");
    const count = received.split(word).length;
    socket.write(frame);
    await vi.waitUntil(() => received.split(word).length > count, { timeout: 20_000, interval: 10 });
  };
  await say(iwLogin(uid));
  return say;
}

const positionAt = (metresNorth: number, agoSeconds = 0): string =>
  iwPosition(Date.now() + (offsetSeconds - agoSeconds) * 1000, home.lat + metresNorth / 111_195, home.lng);

async function eventsOf(
  uid: string,
): Promise<{ id: string; event_type: string; ts: string; data: { breach_event_id?: string } }[]> {
  const { results } = await call("GET", `events/?device_uid=${uid}&order=asc`);
  return results.filter(({ event_type }: { event_type: string }) => !event_type.startsWith("device_"));
}
const typesOf = async (uid: string): Promise<string[]> => (await eventsOf(uid)).map(({ event_type }) => event_type);
const until = (uid: string, types: string[]): Promise<void> =>
  vi.waitFor(async () => expect(await typesOf(uid)).toEqual(types), { timeout: 20_000, interval: 200 });

test("a stay, a breach and a confirmation go on exactly where a kill -9 found them", async () => {
  const uids = {
    stays: "490154203000011",
    leaves: "490154203000029",
    races: "490154203000037",
    open: "490154203000045",
  };
  for (const uid of Object.values(uids)) await call("POST", "devices/", { uid, device_model_slug: "iw-h10" });
  const fence = { name: "Home", center: home, radius: 150, trigger_on_dwell: true, dwell_threshold_seconds: 600 };
  const { id } = await call("POST", "geofences/", fence);
  await call("POST", `geofences/${id}/devices/`, { device_uids: [uids.stays, uids.leaves] });
  const threshold = { scope: "Device", metric_key: "hr", high: 120 };
  await call("POST", "alert-thresholds/", { ...threshold, device: uids.races, min_duration_seconds: 60 });
  await call("POST", "alert-thresholds/", { ...threshold, device: uids.open, cooldown_seconds: 3600 });

  const stays = await watch(uids.stays);
  await stays(positionAt(500, 60));
  await stays(positionAt(0));
  const leaves = await watch(uids.leaves);
  await leaves(positionAt(0, 60));
  await leaves(positionAt(190));
  await (await watch(uids.races))(iwHeartRate(150));
  await (await watch(uids.open))(iwHeartRate(150));
  await until(uids.stays, ["geofence_enter"]);
  expect(await typesOf(uids.leaves)).toEqual([]);
  expect(await typesOf(uids.races)).toEqual([]);
  expect(await typesOf(uids.open)).toEqual(["threshold_breach"]);

  await killAndWait(120);
  await until(uids.leaves, ["geofence_exit"]);
  await until(uids.races, ["threshold_breach"]);
  expect(await typesOf(uids.stays)).toEqual(["geofence_enter"]);
  await (await watch(uids.open))(iwHeartRate(90));
  const [breach, cleared] = await eventsOf(uids.open);
  expect(cleared).toMatchObject({ event_type: "threshold_cleared", data: { breach_event_id: breach?.id } });

  await killAndWait(600);
  await until(uids.stays, ["geofence_enter", "geofence_dwell"]);
  const [entered, stayed] = await eventsOf(uids.stays);
  expect(Date.parse(stayed?.ts ?? "") - Date.parse(entered?.ts ?? "")).toBe(600_000);
  await (await watch(uids.stays))(positionAt(10));
  expect(await typesOf(uids.stays)).toEqual(["geofence_enter", "geofence_dwell"]);
  expect(await typesOf(uids.leaves)).toEqual(["geofence_exit"]);
}, 120_000);
