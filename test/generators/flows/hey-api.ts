/** The flow of a partner with the client that hey-api makes from the description in OpenAPI 3.1. */
import { setTimeout as sleep } from "node:timers/promises";
import { client } from "./generated/client.gen.ts";
import {
  authUsersCreate,
  devicesAssignCreate,
  devicesCreate,
  devicesList,
  devicesLocationsList,
  geofencesCreate,
  geofencesDevicesCreate,
  oauthToken,
  partnerOutboundEventsList,
} from "./generated/sdk.gen.ts";

const { VIGIL_URL = "", VIGIL_CLIENT_ID = "", VIGIL_CLIENT_SECRET = "" } = process.env;
const { FLOW_UID: uid = "", FLOW_EMAIL: email = "" } = process.env;
client.setConfig({ baseUrl: VIGIL_URL });
const throwOnError = true;

const credentials = { client_id: VIGIL_CLIENT_ID, client_secret: VIGIL_CLIENT_SECRET };
const { data: token } = await oauthToken({ throwOnError, body: { grant_type: "client_credentials", ...credentials } });
console.log("token", token.expires_in);
client.setConfig({ auth: token.access_token });

const { data: user } = await authUsersCreate({ throwOnError, body: { email, role: "USER" } });
console.log("user", user.email);

const phone = { uid, device_model_slug: "osmand-generic", tags: ["a", "b"] };
await devicesCreate({ throwOnError, body: phone });
const { data: newest } = await devicesList({
  throwOnError,
  query: { ordering: ["-created_at", "uid"], tags: ["a", "c"], page: 1 },
});
console.log("device", newest.results[0]?.uid);

const { data: assignment } = await devicesAssignCreate({
  throwOnError,
  path: { uid },
  body: { user_id: user.id, role: "owner" },
});
console.log("assignment", assignment.role);

const home = { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 150 };
const { data: fence } = await geofencesCreate({ throwOnError, body: home });
const { data: link } = await geofencesDevicesCreate({
  throwOnError,
  path: { id: fence.id },
  body: { device_uids: [uid] },
});
console.log("geofence", fence.name, link.linked);

const positions = async () => {
  const query = { source: ["gps" as const, "unknown" as const], ordering: "-ts" as const };
  return (await devicesLocationsList({ throwOnError, path: { device_uid: uid }, query })).data.results;
};
let found = await positions();
for (; found.length === 0; found = await positions()) await sleep(500);
const place = found[0]!;
console.log("location", place.lat, place.lng, new Date(place.ts).getFullYear());

const types = ["alarm.sos", "location.update", "device.online"];
for (let isSeen = false; !isSeen; await sleep(500)) {
  const { data: page } = await partnerOutboundEventsList({ throwOnError, query: { limit: 500, types } });
  for (const event of page.data) {
    if (event.type !== "alarm.sos" || event.device.uid !== uid) continue;
    console.log("event", event.type, event.data.severity, event.data.location?.lat);
    isSeen = true;
  }
}
