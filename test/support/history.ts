import { maintainPartitions } from "../../src/db/partitions.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "./api.ts";
import type { TestDevice } from "./fixtures.ts";
import type { TestOrganization } from "./world.ts";

const spans = { by: "time", spanDays: 28, pastSpans: 2, futureSpans: 1 } as const;

/** Room for rows of the last 30 days. */
export const makeHistoryPartitions = ({ db, clock }: TestApi): Promise<unknown> =>
  maintainPartitions(
    db,
    [
      { table: "locations", ...spans },
      { table: "telemetry", ...spans },
    ],
    clock.nowMs(),
  );

export interface LocationFields {
  id: string;
  ts: string;
  device_ts: string | null;
  received_at: string;
  lat: number;
  lng: number;
  altitude_m: number | null;
  speed_kmh: number | null;
  heading: number | null;
  accuracy_m: number | null;
  source: string;
  satellites: number | null;
  is_valid: boolean;
  invalid_reason: string | null;
  is_moving: boolean | null;
  carrier: string | null;
  mcc: number | null;
  mnc: number | null;
  address: string | null;
}

/** Puts a position straight into the table, as a packet would. */
export async function addLocation(
  { db }: TestApi,
  organization: TestOrganization,
  device: Pick<TestDevice, "id">,
  given: Partial<LocationFields> & { ts: string },
): Promise<LocationFields> {
  const row: LocationFields = {
    id: newUuid(),
    device_ts: null,
    received_at: given.ts,
    lat: 41.9,
    lng: 12.49,
    altitude_m: null,
    speed_kmh: null,
    heading: null,
    accuracy_m: null,
    source: "gps",
    satellites: null,
    is_valid: true,
    invalid_reason: null,
    is_moving: null,
    carrier: null,
    mcc: null,
    mnc: null,
    address: null,
    ...given,
  };
  await db.run`
    insert into locations (device_id, organization_id, id, ts, device_ts, received_at, lat, lng, altitude_m, speed_kmh, heading,
      accuracy_m, source, satellites, is_valid, invalid_reason, is_moving, carrier, mcc, mnc, address)
    values (${device.id}, ${organization.id}, ${row.id}, ${row.ts}, ${row.device_ts}, ${row.received_at}, ${row.lat}, ${row.lng},
      ${row.altitude_m}, ${row.speed_kmh}, ${row.heading}, ${row.accuracy_m}, ${row.source}, ${row.satellites}, ${row.is_valid},
      ${row.invalid_reason}, ${row.is_moving}, ${row.carrier}, ${row.mcc}, ${row.mnc}, ${row.address})`;
  return row;
}

export async function addTelemetry(
  { db }: TestApi,
  organization: TestOrganization,
  device: Pick<TestDevice, "id">,
  given: { ts: string; data: object; id?: string; device_ts?: string; received_at?: string },
): Promise<string> {
  const id = given.id ?? newUuid();
  await db.run`
    insert into telemetry (device_id, organization_id, id, ts, device_ts, received_at, data)
    values (${device.id}, ${organization.id}, ${id}, ${given.ts}, ${given.device_ts}, ${given.received_at ?? given.ts},
      ${JSON.stringify(given.data)})`;
  return id;
}
