import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { type Clock, makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import type { ClientLimits } from "../../src/places/place-client.ts";
import {
  addressJob,
  type LocateJob,
  locateJob,
  type NetworkReport,
  type PlaceJob,
} from "../../src/places/place-job.ts";
import { insertPlaceJobs } from "../../src/places/place-store.ts";
import { type PlaceWorker, startPlaceWorker } from "../../src/places/place-worker.ts";
import { createTestDatabase } from "./database.ts";
import { logInto } from "./log-lines.ts";
import { until } from "./until.ts";

export const start = new Date("2026-03-01T08:15:30.000Z");
/** In the address of every service. */
export const secret = "k3y-of-the-operator";
export const organizationId = newUuid();
export const rome = { lat: 41.902782, lng: 12.496366 };
export const answered = { location: rome, accuracy: 35 };
export const wifi = [
  { mac: "00:11:22:33:44:55", signalDbm: -60 },
  { mac: "00:11:22:33:44:66", signalDbm: null },
];

interface Question {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: { cellTowers: { cellId: number }[]; wifiAccessPoints: unknown[]; considerIp: boolean };
}
type Behaviour = (question: Question, response: ServerResponse) => void | Promise<void>;

/** A geolocation service or a geocoder. */
interface Service {
  url: string;
  questions: Question[];
  behave(behaviour: Behaviour): void;
  close(): Promise<unknown>;
}

interface WorkerSetup {
  clock?: Clock;
  geolocateUrl?: string;
  geocoderUrl?: string;
  db?: Database;
  pollMs?: number;
  logLines?: string[];
  limits?: ClientLimits;
  sweepMs?: number;
}

interface StoredLocation {
  [column: string]: unknown;
  id: string;
  address: string | null;
}

interface StoredJob {
  [column: string]: unknown;
  attempts: number;
  due_at: Date;
}

/** Place workers and the services they ask, on one database. */
export interface PlaceWorld {
  db: Database;
  openService(behaviour: Behaviour, port?: number): Promise<Service>;
  openWorker(setup: WorkerSetup): Promise<{ worker: PlaceWorker; metrics: Metrics }>;
  queue<Job extends PlaceJob>(...jobs: Job[]): Promise<Job[]>;
  /** A location without an address, and the job that asks for it. */
  storeFix(deviceId: string, ts: Date, place: { lat: number; lng: number }): Promise<PlaceJob>;
  storeState(deviceId: string, lastLocation: object | null): Promise<void>;
  lastLocationOf(deviceId: string): Promise<unknown>;
  locations(): Promise<StoredLocation[]>;
  jobs(): Promise<StoredJob[]>;
  untilDone(): Promise<unknown>;
  untilAttempts(attempts: number): Promise<unknown>;
  /** At the end of the test, before everything that was opened earlier. */
  closeLater(close: () => Promise<unknown>): void;
  /** Closes what a test has opened, and empties the tables. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openPlaceWorld(): Promise<PlaceWorld> {
  const database = await createTestDatabase();
  const db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  await db.run`create table locations_test partition of locations for values from ('2026-01-01') to ('2030-01-01')`;
  const opened: (() => Promise<unknown>)[] = [];
  const jobs = (): Promise<StoredJob[]> => db.many<StoredJob>`select * from place_jobs order by id`;

  return {
    db,
    openService: async (behaviour, port = 0) => {
      const service = await openService(behaviour, port);
      opened.push(service.close);
      return service;
    },
    openWorker: async (setup) => {
      const { worker, metrics, listener } = await openWorker(db, setup);
      opened.push(
        () => listener.close(),
        () => worker.close(),
      );
      return { worker, metrics };
    },
    queue: async (...added) => {
      await db.transaction((tx) => insertPlaceJobs(tx, added));
      return added;
    },
    storeFix: async (deviceId, ts, { lat, lng }) => {
      const locationId = newUuid();
      await db.run`
        insert into locations (device_id, ts, id, organization_id, received_at, lat, lng, source, is_valid)
        values (${deviceId}, ${ts}, ${locationId}, ${organizationId}, ${ts}, ${lat}, ${lng}, 'gps', true)`;
      return addressJob({ id: newUuid(), deviceId, organizationId, locationId, ts, lat, lng, now: ts });
    },
    storeState: async (deviceId, lastLocation) => {
      await db.run`
        insert into device_state (device_id, organization_id, is_online, last_status, last_location, located_at)
        values (${deviceId}, ${organizationId}, true, '{}', ${lastLocation}, ${(lastLocation as { ts?: string } | null)?.ts ?? null})`;
    },
    lastLocationOf: async (deviceId) =>
      (await db.one`select last_location from device_state where device_id = ${deviceId}`).last_location,
    locations: () => db.many<StoredLocation>`select * from locations order by ts, id`,
    jobs,
    untilDone: () => until(async () => expect(await jobs()).toEqual([])),
    untilAttempts: (attempts) =>
      until(async () => {
        for (const job of await jobs()) expect(job).toMatchObject({ attempts, due_at: expect.any(Date) });
      }),
    closeLater: (close) => void opened.push(close),
    reset: async () => {
      for (const close of opened.splice(0).reverse()) await close();
      await db.run`truncate place_jobs, place_cache, locations, device_state`;
    },
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

export const replyWith =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (_question, response) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };

async function openService(behaviour: Behaviour, port: number): Promise<Service> {
  const questions: Question[] = [];
  let current = behaviour;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const question = {
      method: request.method ?? "",
      url: new URL(request.url ?? "", "http://service"),
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    questions.push(question);
    await current(question, response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/v1/place?key=${secret}`,
    questions,
    behave: (next) => {
      current = next;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function openWorker(db: Database, setup: WorkerSetup) {
  const { clock = makeManualClock(start), geolocateUrl, geocoderUrl, pollMs = 20, logLines, limits, sweepMs } = setup;
  const log = logInto(logLines);
  const listener = new Listener(db, log);
  const metrics = new Metrics();
  const worker = startPlaceWorker({
    db: setup.db ?? db,
    clock,
    log,
    listener,
    metrics,
    carrierName: (mcc, mnc) => (mcc === 222 && mnc === 1 ? "TIM" : null),
    geolocateUrl,
    geocoderUrl,
    pollMs,
    ...(limits ? { limits } : {}),
    ...(sweepMs ? { sweepMs } : {}),
  });
  await listener.start();
  return { worker, metrics, listener };
}

let nextCell = 1000;

/** Each report sees a cell of its own unless it names one. */
export function report(changes: Partial<NetworkReport> = {}): LocateJob {
  const cells = [{ mcc: 222, mnc: 1, lac: 7, cid: nextCell++, signalDbm: -80 }];
  return locateJob({
    id: newUuid(),
    deviceId: newUuid(),
    organizationId,
    ts: start,
    deviceTs: start,
    receivedAt: start,
    cells,
    accessPoints: [],
    network: { mcc: 222, mnc: 1 },
    ...changes,
  })!;
}

export const counted = (metrics: Metrics, labels: string): number =>
  Number(new RegExp(`^vigil_place_lookups_total\\{${labels}\\} (\\d+)$`, "m").exec(metrics.render())?.[1] ?? 0);
export const isPaused = (metrics: Metrics, kind: string): boolean =>
  metrics.render().includes(`vigil_place_service_left_alone{kind="${kind}"} 1`);
