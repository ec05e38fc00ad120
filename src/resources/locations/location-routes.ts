import { collection } from "../../http/collection.ts";
import { ok, type Route } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
import { notFound } from "../../lib/errors.ts";
import { getVisibleDevice } from "../devices/device-store.ts";
import { withSearchWindow } from "./history-page.ts";
import { Location, toLocation } from "./location-record.ts";
import { findLatestLocation, listLocations, locationList, readTrack } from "./location-store.ts";
import { DeviceSegments, readWindow, segmentQuery } from "./segment-record.ts";
import { segmentTrack } from "./segments.ts";

const locations = collection({
  path: "/api/v1/devices/:device_uid/locations/",
  operations: "devices_locations",
  tag: "Locations",
  reads: { partners: ["locations:read"], people: "VIEWER" },
  params: { device_uid: "imei" },
  loadParent: ({ db, principal, params }) => getVisibleDevice(db, principal, params.device_uid ?? ""),
});

export const locationRoutes = (): Route[] => [
  locations.list({
    summary: "Positions of a device, newest first",
    description:
      "Positions that a device uploads late appear at their own `ts`. Use the replay to receive every position without gaps.",
    list: locationList,
    item: Location,
    rows: ({ spread, object, list, now }) => listLocations(spread, object, withSearchWindow(list(), now)),
    toItem: (row, { object }) => toLocation(row, object.uid),
  }),
  locations.get("latest/", {
    summary: "Last known position",
    responses: { 200: refTo(Location) },
    handle: async ({ db, object }) => {
      const row = await findLatestLocation(db, object);
      if (!row) throw notFound("No location data for this device.");
      return ok(toLocation(row, object.uid));
    },
  }),
  locations.get("segments/", {
    summary: "Movement and stops within a time window",
    description:
      "The last 6 hours, or a window of up to 7 days. A window with more than 50,000 positions is reduced to one position per equal slice of time.",
    query: segmentQuery,
    responses: { 200: refTo(DeviceSegments) },
    handle: async ({ spread, object, query, now }) => {
      const { min_stop_seconds = 180, ...given } = query();
      const window = readWindow(given, now.getTime());
      const points = await readTrack(spread, object, window);
      return ok({
        device_uid: object.uid,
        from: new Date(window.fromMs).toISOString(),
        to: new Date(window.toMs).toISOString(),
        segments: segmentTrack(points, window, min_stop_seconds, now.getTime()),
      });
    },
  }),
];
