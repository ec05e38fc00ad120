import { type LoadContext, ok, type Route, route } from "../../http/route.ts";
import { cursorPageOf, refTo } from "../../http/schemas.ts";
import { notFound } from "../../lib/errors.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { withSearchWindow } from "./history-page.ts";
import { Location, toLocation } from "./location-record.ts";
import { findLatestLocation, listLocations, locationList, readTrack } from "./location-store.ts";
import { DeviceSegments, readWindow, segmentQuery } from "./segment-record.ts";
import { segmentTrack } from "./segments.ts";

const reads = {
  method: "GET",
  tag: "Locations",
  params: { device_uid: "imei" },
  partners: ["locations:read"],
  people: "VIEWER",
} as const;

type AnyLoad = Pick<LoadContext<Record<never, never>, Record<never, never>>, "db" | "principal" | "params">;
const loadDevice = ({ db, principal, params }: AnyLoad): Promise<DeviceRow> =>
  getVisibleDevice(db, principal, params.device_uid ?? "");

export const locationRoutes = (): Route[] => [
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/locations/",
    operationId: "devices_locations_list",
    summary: "Positions of a device, newest first",
    description: "Positions that a device uploads late appear at their own `ts`; the gap-free channel is the replay.",
    list: locationList,
    responses: { 200: refTo(cursorPageOf(Location)) },
    load: loadDevice,
    handle: async ({ db, object, list, page, now }) =>
      page(await listLocations(db, object, withSearchWindow(list(), now)), (row) => toLocation(row, object.uid)),
  }),
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/locations/latest/",
    operationId: "devices_locations_latest_retrieve",
    summary: "Last known position",
    responses: { 200: refTo(Location) },
    load: loadDevice,
    handle: async ({ db, object }) => {
      const row = await findLatestLocation(db, object);
      if (!row) throw notFound("No location data for this device.");
      return ok(toLocation(row, object.uid));
    },
  }),
  route({
    ...reads,
    path: "/api/v1/devices/:device_uid/locations/segments/",
    operationId: "devices_locations_segments_retrieve",
    summary: "Travel and stops in a window of time",
    description:
      "The last 6 hours, or a window of up to 7 days. Of a window with more than 50,000 positions one per equal slice of time is used.",
    query: segmentQuery,
    responses: { 200: refTo(DeviceSegments) },
    load: loadDevice,
    handle: async ({ db, object, query, now }) => {
      const { min_stop_seconds = 180, ...given } = query();
      const window = readWindow(given, now.getTime());
      const points = await readTrack(db, object, window);
      return ok({
        device_uid: object.uid,
        from: new Date(window.fromMs).toISOString(),
        to: new Date(window.toMs).toISOString(),
        segments: segmentTrack(points, window, min_stop_seconds, now.getTime()),
      });
    },
  }),
];
