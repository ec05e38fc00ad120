/** The flow of a partner with the client that openapi-generator makes for TypeScript (typescript-fetch). */
import { setTimeout as sleep } from "node:timers/promises";
import {
  AssignmentsApi,
  AssignRequestRoleEnum,
  Configuration,
  DevicesApi,
  GeofencesApi,
  LocationsApi,
  OAuthApi,
  OutboundEventsApi,
  UserRequestRoleEnum,
  UsersApi,
} from "./generated/index.ts";

const { VIGIL_URL = "", VIGIL_CLIENT_ID = "", VIGIL_CLIENT_SECRET = "" } = process.env;
const { FLOW_UID: uid = "", FLOW_EMAIL: email = "" } = process.env;
const token = await new OAuthApi(new Configuration({ basePath: VIGIL_URL })).oauthToken({
  grantType: "client_credentials",
  clientId: VIGIL_CLIENT_ID,
  clientSecret: VIGIL_CLIENT_SECRET,
});
console.log("token", token.expiresIn);
// It writes the token of the scheme oauth2 into the header as it is, after that of the scheme bearer.
const accessToken = (scheme?: string) => (scheme === "oauth2" ? `Bearer ${token.accessToken}` : token.accessToken);
const configuration = new Configuration({ basePath: VIGIL_URL, accessToken });

const role = UserRequestRoleEnum.USER_REQUEST_ROLE_USER;
const user = await new UsersApi(configuration).authUsersCreate({ userRequest: { email, role } });
console.log("user", user.email);

const devices = new DevicesApi(configuration);
const phone = { uid, deviceModelSlug: "osmand-generic", tags: ["a", "b"] };
await devices.devicesCreate({ deviceRequest: phone });
const newest = await devices.devicesList({ ordering: ["-created_at", "uid"], tags: ["a", "c"], page: 1 });
console.log("device", newest.results[0]?.uid);

const assignment = await new AssignmentsApi(configuration).devicesAssignCreate({
  uid,
  assignRequest: { userId: user.id, role: AssignRequestRoleEnum.ASSIGN_REQUEST_ROLE_OWNER },
});
console.log("assignment", assignment.role);

const geofences = new GeofencesApi(configuration);
const geofenceRequest = { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 150 };
const fence = await geofences.geofencesCreate({ geofenceRequest });
const { linked } = await geofences.geofencesDevicesCreate({
  id: fence.id,
  geofenceLinkRequest: { deviceUids: [uid] },
});
console.log("geofence", fence.name, linked);

const locations = new LocationsApi(configuration);
const positions = () => locations.devicesLocationsList({ deviceUid: uid, source: ["gps", "unknown"], ordering: "-ts" });
let found = await positions();
for (; found.results.length === 0; found = await positions()) await sleep(500);
const place = found.results[0]!;
console.log("location", place.lat, place.lng, place.ts.getFullYear());

const events = new OutboundEventsApi(configuration);
const types = ["alarm.sos", "location.update", "device.online"];
for (let isSeen = false; !isSeen; await sleep(500)) {
  for (const event of (await events.partnerOutboundEventsList({ limit: 500, types })).data) {
    if (event.type !== "alarm.sos" || event.device.uid !== uid) continue;
    console.log("event", event.type, event.data.severity, event.data.location?.lat);
    isSeen = true;
  }
}
