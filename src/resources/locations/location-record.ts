import { type Static, Type } from "@sinclair/typebox";
import { Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { LocationSource } from "../devices/location-source.ts";

const InvalidReason = StringEnum("LocationInvalidReasonEnum", [
  "zero_coordinates",
  "out_of_range",
  "low_accuracy",
  "implausible_jump",
]);

export const Location = Type.Object(
  {
    id: Uuid,
    device_uid: Type.String(),
    ts: Type.String({
      format: "date-time",
      description: "Time of the fix, or time of reception if the former is implausible.",
    }),
    device_ts: Nullable(Type.String({ format: "date-time", description: "The device's clock, as sent." })),
    received_at: Timestamp,
    lat: Type.Number(),
    lng: Type.Number(),
    altitude_m: Nullable(Type.Number()),
    speed_kmh: Nullable(Type.Number()),
    heading: Nullable(Type.Integer({ description: "Degrees, clockwise from north." })),
    accuracy_m: Nullable(Type.Number({ description: "Never null for lbs and wifi." })),
    source: refTo(LocationSource),
    satellites: Nullable(Type.Integer()),
    is_valid: Type.Boolean(),
    invalid_reason: Nullable(refTo(InvalidReason)),
    is_moving: Nullable(Type.Boolean()),
    carrier: Nullable(Type.String({ description: "Name of the network operator, from MCC and MNC." })),
    mcc: Nullable(Type.Integer()),
    mnc: Nullable(Type.Integer()),
    address: Nullable(Type.String({ description: "Only where a geocoder is configured." })),
  },
  { $id: "Location" },
);
export type Location = Static<typeof Location>;

/** A row as stored: the record, with times as such and without the IMEI. */
export type LocationRow = Omit<Location, "device_uid" | "ts" | "device_ts" | "received_at"> & {
  ts: Date;
  device_ts: Date | null;
  received_at: Date;
};

/** Written out, as in toDevice: with the fields of the row spread into it a record takes ten times as long to make. */
export const toLocation = (row: LocationRow, deviceUid: string): Location => ({
  id: row.id,
  device_uid: deviceUid,
  ts: row.ts.toISOString(),
  device_ts: row.device_ts?.toISOString() ?? null,
  received_at: row.received_at.toISOString(),
  lat: row.lat,
  lng: row.lng,
  altitude_m: row.altitude_m,
  speed_kmh: row.speed_kmh,
  heading: row.heading,
  accuracy_m: row.accuracy_m,
  source: row.source,
  satellites: row.satellites,
  is_valid: row.is_valid,
  invalid_reason: row.invalid_reason,
  is_moving: row.is_moving,
  carrier: row.carrier,
  mcc: row.mcc,
  mnc: row.mnc,
  address: row.address,
});
