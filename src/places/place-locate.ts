import type { Database, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { CarrierName } from "../resources/locations/carrier.ts";
import { findPlace, networksKey, writePlace } from "./place-cache.ts";
import type { PlaceClient } from "./place-client.ts";
import type { LocateJob, LocatePayload } from "./place-job.ts";
import type { LookUp } from "./place-lane.ts";
import type { Found, PlaceService } from "./place-service.ts";
import { type Claimed, finishPlaceJob, insertLocated, type LocatedPosition } from "./place-store.ts";

const maxValidAccuracyM = 10_000;

interface Place {
  lat: number;
  lng: number;
  accuracyM: number;
}

export interface LocateOptions {
  db: Database;
  clock: Clock;
  service: PlaceService;
  client: PlaceClient;
  url: URL;
  carrierName: CarrierName;
  /** Runs in the transaction that stores the position. */
  onLocated: (tx: Tx, position: LocatedPosition) => Promise<void>;
}

/** Turns the networks around a device into a position, by a service that speaks the form of Google and Ichnaea. */
export function makeLocate(options: LocateOptions): (job: Claimed<LocateJob>) => Promise<LookUp> {
  const { db, clock, service, client, url, carrierName, onLocated } = options;

  async function find(key: string, payload: LocatePayload): Promise<Found<Place>> {
    const cached = await findPlace<Place>(db, key, clock.now());
    if (cached !== undefined) return cached === null ? { kind: "unknown" } : { kind: "found", value: cached };
    const found = await service.ask(() => client.post(url, questionOf(payload)), readPlace);
    if (found.kind !== "failed") await writePlace(db, key, found.kind === "found" ? found.value : null, clock.now());
    return found;
  }

  return async (job) => {
    const key = networksKey(job.payload);
    const found = await service.once(key, () => find(key, job.payload));
    if (found.kind === "failed") return found;
    if (found.kind === "unknown") {
      await finishPlaceJob(db, job);
      return { kind: "unresolved" };
    }
    const position = positionOf(job, found.value, carrierName);
    await db.transaction(async (tx) => {
      if (!(await finishPlaceJob(tx, job))) return;
      await insertLocated(tx, position);
      await onLocated(tx, position);
    });
    return { kind: "resolved" };
  };
}

/** `considerIp` is false always: otherwise an unknown network is answered with the place of this server. */
function questionOf({ cells, access_points }: LocatePayload): object {
  const strength = (dbm: number | null): object => (dbm !== null && dbm < 0 ? { signalStrength: dbm } : {});
  return {
    considerIp: false,
    cellTowers: cells.map(({ mcc, mnc, lac, cid, signal_dbm }) => ({
      mobileCountryCode: mcc,
      mobileNetworkCode: mnc,
      locationAreaCode: lac,
      cellId: cid,
      ...strength(signal_dbm),
    })),
    wifiAccessPoints: access_points.map(({ mac, signal_dbm }) => ({ macAddress: mac, ...strength(signal_dbm) })),
  };
}

/** Google answers "not found" with status 404; others put the same code into a body with status 200. */
function readPlace(body: unknown): Found<Place> {
  const { location, accuracy, error } = (body ?? {}) as {
    location?: { lat?: unknown; lng?: unknown } | null;
    accuracy?: unknown;
    error?: { code?: unknown } | null;
  };
  if (error?.code === 404) return { kind: "unknown" };
  const { lat, lng } = location ?? {};
  if (!isWithin(lat, -90, 90) || !isWithin(lng, -180, 180) || !isWithin(accuracy, 0, 1e8)) {
    return { kind: "failed", error: "malformed" };
  }
  return { kind: "found", value: { lat, lng, accuracyM: Math.round(accuracy * 10) / 10 } };
}

const isWithin = (value: unknown, low: number, high: number): value is number =>
  typeof value === "number" && value >= low && value <= high;

function positionOf(
  { id, deviceId, organizationId, payload }: LocateJob,
  { lat, lng, accuracyM }: Place,
  carrierName: CarrierName,
): LocatedPosition {
  const { mcc, mnc } = payload;
  return {
    id,
    deviceId,
    organizationId,
    ts: new Date(payload.ts),
    deviceTs: payload.device_ts === null ? null : new Date(payload.device_ts),
    receivedAt: new Date(payload.received_at),
    lat,
    lng,
    accuracyM,
    source: payload.access_points.length > 0 ? "wifi" : "lbs",
    invalidReason: invalidReasonOf({ lat, lng, accuracyM }),
    mcc,
    mnc,
    carrier: mcc === null || mnc === null ? null : carrierName(mcc, mnc),
  };
}

function invalidReasonOf({ lat, lng, accuracyM }: Place): LocatedPosition["invalidReason"] {
  if (lat === 0 && lng === 0) return "zero_coordinates";
  return accuracyM > maxValidAccuracyM ? "low_accuracy" : null;
}
