/** The flow of a partner with the types of openapi-typescript and openapi-fetch. */
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./generated.ts";

const { VIGIL_URL = "", VIGIL_CLIENT_ID = "", VIGIL_CLIENT_SECRET = "" } = process.env;
const { FLOW_UID: uid = "", FLOW_EMAIL: email = "" } = process.env;
const client = createClient<paths>({
  baseUrl: VIGIL_URL,
  querySerializer: { array: { style: "form", explode: false } },
});

/** The body of a success; an error says what it was. */
function got<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const token = got(
  await client.POST("/o/token/", {
    body: { grant_type: "client_credentials", client_id: VIGIL_CLIENT_ID, client_secret: VIGIL_CLIENT_SECRET },
    headers: { "content-type": "application/x-www-form-urlencoded" },
  }),
);
console.log("token", token.expires_in);
const authorization = `Bearer ${token.access_token}`;
client.use({
  onRequest: ({ request }) => {
    request.headers.set("authorization", authorization);
    return request;
  },
});

const user = got(await client.POST("/api/v1/auth/users/", { body: { email, role: "USER" } }));
console.log("user", user.email);

const phone = { uid, device_model_slug: "osmand-generic", tags: ["a", "b"] };
got(await client.POST("/api/v1/devices/", { body: phone }));
const listed = { ordering: ["-created_at", "uid"], tags: ["a", "c"], page: 1 } satisfies Query<"/api/v1/devices/">;
const newest = got(await client.GET("/api/v1/devices/", { params: { query: listed } }));
console.log("device", newest.results[0]?.uid);

const assignment = got(
  await client.POST("/api/v1/devices/{uid}/assign/", {
    params: { path: { uid } },
    body: { user_id: user.id, role: "owner" },
  }),
);
console.log("assignment", assignment.role);

const home = { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 150 };
const fence = got(await client.POST("/api/v1/geofences/", { body: home }));
const { linked } = got(
  await client.POST("/api/v1/geofences/{id}/devices/", {
    params: { path: { id: fence.id } },
    body: { device_uids: [uid] },
  }),
);
console.log("geofence", fence.name, linked);

const path = { device_uid: uid };
const positions = async () =>
  got(
    await client.GET("/api/v1/devices/{device_uid}/locations/", {
      params: { path, query: { source: ["gps", "unknown"], ordering: "-ts" } },
    }),
  ).results;
let found = await positions();
for (; found.length === 0; found = await positions()) await sleep(500);
const place = found[0]!;
console.log("location", place.lat, place.lng, new Date(place.ts).getFullYear());

const types = ["alarm.sos", "location.update", "device.online"];
for (let isSeen = false; !isSeen; await sleep(500)) {
  const page = got(await client.GET("/api/v1/partner/outbound-events/", { params: { query: { limit: 500, types } } }));
  for (const event of page.data) {
    if (event.type !== "alarm.sos" || event.device.uid !== uid) continue;
    console.log("event", event.type, event.data.severity, event.data.location?.lat);
    isSeen = true;
  }
}

type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Q } } } ? Q : never;
