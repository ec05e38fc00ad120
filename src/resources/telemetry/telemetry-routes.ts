import { type Static, Type } from "@sinclair/typebox";
import { metricKeys } from "../../codecs/metric-keys.ts";
import { collection } from "../../http/collection.ts";
import { ok, type Route } from "../../http/route.ts";
import { FreeObject, Nullable, refTo, Timestamp, Uuid } from "../../http/schemas.ts";
import { notFound } from "../../lib/errors.ts";
import { getVisibleDevice } from "../devices/device-store.ts";
import { withSearchWindow } from "../locations/history-page.ts";
import { latestReadings, type Readings } from "./latest-readings.ts";
import { listTelemetry, newestTelemetry, type TelemetryRow, telemetryList } from "./telemetry-store.ts";

const Telemetry = Type.Object(
  {
    id: Uuid,
    ts: Type.String({ format: "date-time", description: "Server time of ingestion." }),
    device_ts: Nullable(Type.String({ format: "date-time", description: "The device's clock, as sent." })),
    received_at: Timestamp,
    data: Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: "Values by key, as ingested." }),
  },
  { $id: "Telemetry" },
);
export type Telemetry = Static<typeof Telemetry>;

const TelemetryReading = Type.Object({ value: Type.Number(), ts: Timestamp }, { $id: "TelemetryReading" });

const TelemetryLatest = Type.Object(
  {
    data: Type.Unsafe<Readings>(
      Type.Object(Object.fromEntries(metricKeys.map((key) => [key, Type.Optional(refTo(TelemetryReading))]))),
    ),
  },
  { $id: "TelemetryLatest" },
);

const toTelemetry = (row: TelemetryRow): Telemetry => ({
  id: row.id,
  ts: row.ts.toISOString(),
  device_ts: row.device_ts?.toISOString() ?? null,
  received_at: row.received_at.toISOString(),
  data: row.data,
});

const telemetry = collection({
  path: "/api/v1/devices/:device_uid/telemetry/",
  operations: "devices_telemetry",
  tag: "Telemetry",
  reads: { partners: ["telemetry:read"], people: "VIEWER" },
  params: { device_uid: "imei" },
  loadParent: ({ db, principal, params }) => getVisibleDevice(db, principal, params.device_uid ?? ""),
});

export const telemetryRoutes = (): Route[] => [
  telemetry.list({
    summary: "Telemetry of a device, newest first",
    list: telemetryList,
    item: Telemetry,
    rows: ({ spread, object, list, now }) => listTelemetry(spread, object, withSearchWindow(list(), now)),
    toItem: toTelemetry,
  }),
  telemetry.get("latest/", {
    summary: "Last value of each metric",
    description:
      "Merges the 50 newest rows into the newest value of each key. Only keys of `last_status` with a plausible value are included; nulls are omitted, zeros are kept.",
    responses: { 200: refTo(TelemetryLatest) },
    handle: async ({ db, object }) => {
      const rows = await newestTelemetry(db, object);
      if (rows.length === 0) throw notFound("No telemetry data for this device.");
      return ok({ data: latestReadings(rows) });
    },
  }),
];
