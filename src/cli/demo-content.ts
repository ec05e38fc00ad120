import type { FleetMember } from "../simulator/fleet.ts";
import { placeOf } from "../simulator/itinerary.ts";
import { type Call, type DemoClient, type Json, signIn } from "./demo-partner.ts";
import { type Showcase, showcaseFence, showcaseFenceName, showcaseThreshold } from "./demo-showcase.ts";

/**
 * People, fences and thresholds of the demo, made through the service's own API as a partner would. What is there already is
 * left alone, so that it may run on the same data again.
 */
export interface DemoContent {
  users: { id: string; email: string; device_uid: string | null }[];
  geofences: number;
  thresholds: number;
}

const people = [
  ["Ada", "Bianchi"],
  ["Bruno", "Conti"],
  ["Carla", "De Luca"],
  ["Dino", "Esposito"],
] as const;

/** They own the first devices of the fleet. */
export const demoPeople = people.length;

export async function makeDemoContent(
  client: DemoClient,
  fleet: readonly FleetMember[],
  showcase: Showcase,
): Promise<DemoContent> {
  const call = await signIn(client);
  const users = [];
  for (const [index, [first_name, last_name]] of people.entries()) {
    const email = `${first_name.toLowerCase()}@demo.example`;
    const user = await ensureUser(call, { email, first_name, last_name });
    const device = fleet[index];
    if (device) await ensureOwner(call, user.id, device.imei);
    users.push({ id: user.id, email, first_name, device });
  }
  for (const [index, email] of [carer, family].entries()) {
    const device = fleet[index];
    if (device) await ensureSeen(call, email, device.imei, email === carer ? "assigned" : "viewer");
  }
  const fences = [...fencesOf(users), showcaseFence(showcase)];
  const geofences = await ensureAll(call, "/geofences/", fences, ({ name }) => String(name));
  const stage = geofences.find(({ name }) => name === showcaseFenceName);
  if (stage) await call("POST", `/geofences/${stage.id}/devices/`, { device_uids: [showcase.caller.imei] });
  for (const { first_name, device } of users) {
    const home = geofences.find(({ name }) => name === homeOf(first_name));
    if (device && home) await call("POST", `/geofences/${home.id}/devices/`, { device_uids: [device.imei] });
  }
  const target = ({ scope, metric_key, device, user }: Json): string => [scope, metric_key, device, user].join("|");
  const wanted = [...thresholdsOf(users), showcaseThreshold(showcase)];
  const thresholds = await ensureAll(call, "/alert-thresholds/", wanted, target);
  return {
    users: users.map(({ id, email, device }) => ({ id, email, device_uid: device?.imei ?? null })),
    geofences: geofences.length,
    thresholds: thresholds.length,
  };
}

const carer = "carer@demo.example";
const family = "family@demo.example";

/** A carer sees the devices that are assigned to them, a relative those that were shared. */
async function ensureSeen(call: Call, email: string, uid: string, role: "assigned" | "viewer"): Promise<void> {
  const { results } = await call<{ results: { user_id: string }[] }>("GET", `/assignments/?search=${uid}`);
  const user = await ensureUser(call, { email });
  if (results.some(({ user_id }) => user_id === user.id)) return;
  if (role === "assigned") await call("POST", `/devices/${uid}/assign/`, { user_id: user.id, role });
  else await call("POST", `/devices/${uid}/share/`, { email });
}

interface Person {
  id: string;
  first_name: string;
  device: FleetMember | undefined;
}

async function ensureUser(call: Call, user: { email: string } & Json): Promise<{ id: string }> {
  const path = `/auth/users/?search=${encodeURIComponent(user.email)}`;
  const { results } = await call<{ results: { id: string; email: string }[] }>("GET", path);
  return results.find(({ email }) => email === user.email) ?? call<{ id: string }>("POST", "/auth/users/", user);
}

async function ensureOwner(call: Call, userId: string, uid: string): Promise<void> {
  const path = `/assignments/?search=${uid}`;
  const { results } = await call<{ results: { role: string }[] }>("GET", path);
  if (results.some(({ role }) => role === "owner")) return;
  await call("POST", `/devices/${uid}/assign/`, { user_id: userId, role: "owner" });
}

const homeOf = (name: string): string => `Home of ${name}`;

function fencesOf(users: readonly Person[]): Json[] {
  const fences: Json[] = [
    {
      name: "City",
      scope: "org",
      center: { lat: 41.9028, lng: 12.4964 },
      radius: 2500,
      description: "Applies to every device of the organization.",
    },
  ];
  for (const { id, first_name, device } of users) {
    if (!device) continue;
    const { lat, lng } = placeOf(device.person, "home");
    fences.push({ name: homeOf(first_name), center: { lat, lng }, radius: 150 });
    if (fences.length > 2) continue;
    const park = placeOf(device.person, "park");
    const stay = { trigger_on_dwell: true, dwell_threshold_seconds: 60 };
    fences.push({
      name: `Park of ${first_name}`,
      scope: "user",
      user: id,
      center: { lat: park.lat, lng: park.lng },
      radius: 120,
      ...stay,
    });
  }
  return fences;
}

function thresholdsOf(users: readonly Person[]): Json[] {
  const thresholds: Json[] = [
    { scope: "Organization", metric_key: "hr", low: 45, high: 115 },
    { scope: "Organization", metric_key: "spo2", low: 92, high: null, severity: "Critical" },
    { scope: "Organization", metric_key: "bat", low: 20, high: null, severity: "Info" },
  ];
  const [first, second] = users;
  // Low enough to be broken on a walk, so that there is something to see.
  if (first?.device)
    thresholds.push({ scope: "Device", device: first.device.imei, metric_key: "hr", low: 45, high: 90 });
  if (second) thresholds.push({ scope: "User", user: second.id, metric_key: "hr", low: 45, high: 95 });
  return thresholds;
}

/** All of the list, after what was missing in it was made. */
async function ensureAll(call: Call, path: string, wanted: readonly Json[], keyOf: (item: Json) => string) {
  const { results } = await call<{ results: (Json & { id: string })[] }>("GET", `${path}?page_size=200`);
  const known = new Set(results.map((item) => keyOf(item)));
  for (const item of wanted) {
    const key = keyOf({ device: null, user: null, ...item });
    if (!known.has(key)) results.push(await call<Json & { id: string }>("POST", path, item));
  }
  return results;
}
