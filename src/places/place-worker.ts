import type { Database, Tx } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import { uuidV7 } from "../lib/ids.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { CarrierName } from "../resources/locations/carrier.ts";
import { makeAddress } from "./place-address.ts";
import { deleteOldPlaces } from "./place-cache.ts";
import { type ClientLimits, clientLimits, makePlaceClient } from "./place-client.ts";
import { addressJob, type PlaceKind } from "./place-job.ts";
import { maxInFlight, startPlaceLane } from "./place-lane.ts";
import { makeLocate } from "./place-locate.ts";
import { PlaceService } from "./place-service.ts";
import { dropOverduePlaceJobs, insertPlaceJobs, type LocatedPosition } from "./place-store.ts";

const hourMs = 3_600_000;
const overdueMs = 24 * hourMs;
const sweepRows = 1000;

export interface PlaceWorkerOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: the worker names its channel. */
  listener: Listener;
  metrics: Metrics;
  carrierName: CarrierName;
  /** Undefined: jobs of that kind are left to other processes. */
  geolocateUrl: string | undefined;
  geocoderUrl: string | undefined;
  /** Runs in the transaction that stores a position found by networks; for what must be committed with it. */
  onLocated?: (tx: Tx, position: LocatedPosition) => Promise<void>;
  pollMs?: number;
  sweepMs?: number;
  limits?: ClientLimits;
}

export interface PlaceWorker {
  /** Takes no more jobs, cuts off the questions in progress, and puts their jobs back. */
  close(): Promise<void>;
}

/**
 * Asks outside services for positions and addresses, after the packets they belong to were stored and answered, so that nothing
 * waits for them. A notification wakes it, polling guarantees. Each service has its own lane; any number of processes may run one.
 */
export function startPlaceWorker(options: PlaceWorkerOptions): PlaceWorker {
  const { db, clock, log, listener, metrics, carrierName, geolocateUrl, geocoderUrl } = options;
  const client = makePlaceClient(2 * maxInFlight, options.limits ?? clientLimits);
  const lookUps = metrics.counter("vigil_place_lookups_total", "Lookups of positions and addresses, by outcome.");
  const requests = metrics.counter("vigil_place_requests_total", "Requests to place services, by outcome.");
  const services = new Map<PlaceKind, PlaceService>();
  metrics.gauge(
    "vigil_place_service_left_alone",
    "1 while requests to a place service are paused because it does not answer.",
    () => Array.from(services, ([kind, service]) => [{ kind }, service.isPaused ? 1 : 0] as const),
  );
  const shared = <Kind extends PlaceKind>(kind: Kind) => {
    const service = new PlaceService({ kind, clock, log, count: (outcome) => requests.add({ kind, outcome }) });
    services.set(kind, service);
    const count = (outcome: string): void => lookUps.add({ kind, outcome });
    return { kind, db, clock, log, listener, pollMs: options.pollMs ?? 1000, service, client, count };
  };

  let addresses: ReturnType<typeof startPlaceLane> | undefined;
  if (geocoderUrl !== undefined) {
    const parts = shared("address");
    addresses = startPlaceLane({ ...parts, lookUp: makeAddress({ ...parts, url: new URL(geocoderUrl) }) });
  }
  let positions: ReturnType<typeof startPlaceLane> | undefined;
  if (geolocateUrl !== undefined) {
    const onLocated = async (tx: Tx, position: LocatedPosition): Promise<void> => {
      if (addresses && position.invalidReason === null) {
        const now = clock.now();
        const { id: locationId } = position;
        await insertPlaceJobs(tx, [addressJob({ ...position, id: uuidV7(now.getTime()), locationId, now })]);
        tx.afterCommit(() => addresses?.wake());
      }
      // Last: from what it tells partners to the commit, others wait.
      await options.onLocated?.(tx, position);
    };
    const parts = shared("locate");
    const lookUp = makeLocate({ ...parts, url: new URL(geolocateUrl), carrierName, onLocated });
    positions = startPlaceLane({ ...parts, lookUp });
  }
  const lanes = [positions, addresses].filter((lane) => lane !== undefined);

  const startedAtMs = clock.nowMs();
  const stopSweeping = repeat("old place lookups", options.sweepMs ?? hourMs, log, async () => {
    const now = clock.now();
    while ((await deleteOldPlaces(db, now, sweepRows)) === sweepRows);
    // After an absence the backlog gets an hour of work first.
    if (now.getTime() - startedAtMs < hourMs) return;
    const dueBefore = new Date(now.getTime() - overdueMs);
    for (const kind of ["locate", "address"] as const) {
      for (let dropped = sweepRows; dropped === sweepRows; ) {
        dropped = await dropOverduePlaceJobs(db, { kind, dueBefore, limit: sweepRows });
        if (dropped > 0) lookUps.add({ kind, outcome: "dropped" }, dropped);
      }
    }
  });

  return {
    close: async () => {
      const closed = Promise.all(lanes.map((lane) => lane.close()));
      client.close();
      await Promise.all([closed, stopSweeping()]);
    },
  };
}
