import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener, notify } from "../../src/db/listener.ts";
import { type Clock, makeClock, makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import type { ClientLimits } from "../../src/resources/locations/place-client.ts";
import {
  addressJob,
  type LocateJob,
  locateJob,
  type NetworkReport,
  type PlaceJob,
  placeChannel,
} from "../../src/resources/locations/place-job.ts";
import { mostInFlight } from "../../src/resources/locations/place-lane.ts";
import { giveUpAfterMs, retryWaitsMs } from "../../src/resources/locations/place-policy.ts";
import { insertPlaceJobs } from "../../src/resources/locations/place-store.ts";
import { type PlaceWorker, startPlaceWorker } from "../../src/resources/locations/place-worker.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const start = new Date("2026-03-01T08:15:30.000Z");
const secret = "k3y-of-the-operator";
const organizationId = newUuid();
const rome = { lat: 41.902782, lng: 12.496366 };
const answered = { location: rome, accuracy: 35 };
const metre = 1 / 111_195;

let database: TestDatabase;
let db: Database;
/** Closed after each test, the last one first. */
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  await db.run`create table locations_test partition of locations for values from ('2026-01-01') to ('2030-01-01')`;
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await db.run`truncate place_jobs, place_cache, locations, device_state`;
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Question {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: { cellTowers: { cellId: number }[]; wifiAccessPoints: unknown[]; considerIp: boolean };
}
type Behaviour = (question: Question, response: ServerResponse) => void | Promise<void>;

interface Service {
  url: string;
  questions: Question[];
  behave(behaviour: Behaviour): void;
  close(): Promise<unknown>;
}

const replyWith =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (_question, response) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };

async function openService(behaviour: Behaviour, port = 0): Promise<Service> {
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
  const close = (): Promise<unknown> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  opened.push(close);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/v1/place?key=${secret}`,
    questions,
    behave: (next) => {
      current = next;
    },
    close,
  };
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

async function openWorker(setup: WorkerSetup): Promise<{ worker: PlaceWorker; metrics: Metrics }> {
  const { clock = makeManualClock(start), geolocateUrl, geocoderUrl, pollMs = 20, logLines, limits, sweepMs } = setup;
  const log = logLines
    ? pino({ level: "trace" }, new Writable({ write: (line, _, done) => done(void logLines.push(String(line))) }))
    : makeLogger("silent");
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
  opened.push(
    () => listener.close(),
    () => worker.close(),
  );
  return { worker, metrics };
}

let nextCell = 1000;

/** Each report sees a cell of its own unless it names one. */
function report(changes: Partial<NetworkReport> = {}): LocateJob {
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

const wifi = [
  { mac: "00:11:22:33:44:55", signalDbm: -60 },
  { mac: "00:11:22:33:44:66", signalDbm: null },
];

async function queue<Job extends PlaceJob>(...jobs: Job[]): Promise<Job[]> {
  await db.transaction((tx) => insertPlaceJobs(tx, jobs));
  return jobs;
}

async function storeFix(deviceId: string, ts: Date, { lat, lng }: { lat: number; lng: number }): Promise<PlaceJob> {
  const locationId = newUuid();
  await db.run`
    insert into locations (device_id, ts, id, organization_id, received_at, lat, lng, source, is_valid)
    values (${deviceId}, ${ts}, ${locationId}, ${organizationId}, ${ts}, ${lat}, ${lng}, 'gps', true)`;
  return addressJob({ id: newUuid(), deviceId, organizationId, locationId, ts, lat, lng, now: ts });
}

async function storeState(deviceId: string, lastLocation: object | null): Promise<void> {
  await db.run`
    insert into device_state (device_id, organization_id, is_online, last_status, last_location)
    values (${deviceId}, ${organizationId}, true, '{}', ${lastLocation})`;
}

const lastLocationOf = async (deviceId: string): Promise<unknown> =>
  (await db.one`select last_location from device_state where device_id = ${deviceId}`).last_location;

interface StoredLocation {
  [column: string]: unknown;
  id: string;
  address: string | null;
}
const locations = (): Promise<StoredLocation[]> => db.many<StoredLocation>`select * from locations order by ts, id`;

interface StoredJob {
  [column: string]: unknown;
  attempts: number;
  due_at: Date;
}
const jobs = (): Promise<StoredJob[]> => db.many<StoredJob>`select * from place_jobs order by id`;

const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const untilDone = (): Promise<unknown> => until(async () => expect(await jobs()).toEqual([]));
const untilAttempts = (attempts: number): Promise<unknown> =>
  until(async () => {
    for (const job of await jobs()) expect(job).toMatchObject({ attempts, due_at: expect.any(Date) });
  });
const counted = (metrics: Metrics, labels: string): number =>
  Number(new RegExp(`^vigil_place_lookups_total\\{${labels}\\} (\\d+)$`, "m").exec(metrics.render())?.[1] ?? 0);
const isLeftAlone = (metrics: Metrics, kind: string): boolean =>
  metrics.render().includes(`vigil_place_service_left_alone{kind="${kind}"} 1`);

test("asks in the common form, and turns the answer into a location", async () => {
  const service = await openService(replyWith(200, answered));
  await openWorker({ geolocateUrl: service.url });
  const job = report({
    ts: new Date("2026-03-01T08:15:24.250Z"),
    deviceTs: null,
    cells: [
      { mcc: 222, mnc: 1, lac: 7, cid: 1, signalDbm: -80 },
      { mcc: 222, mnc: 1, lac: 8, cid: 2, signalDbm: null },
      { mcc: 222, mnc: 1, lac: 0, cid: 3, signalDbm: -70 },
      { mcc: 222, mnc: 1, lac: 7, cid: 0x0fffffff, signalDbm: -70 },
    ],
    accessPoints: [...wifi, { mac: "02:aa:bb:cc:dd:ee", signalDbm: -50 }],
  });
  await storeState(job.deviceId, null);
  await queue(job);
  await untilDone();
  const [question] = service.questions;
  expect(question).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
  expect(`${question?.url.pathname}${question?.url.search}`).toBe(`/v1/place?key=${secret}`);
  expect(question?.body).toEqual({
    considerIp: false,
    cellTowers: [
      { mobileCountryCode: 222, mobileNetworkCode: 1, locationAreaCode: 7, cellId: 1, signalStrength: -80 },
      { mobileCountryCode: 222, mobileNetworkCode: 1, locationAreaCode: 8, cellId: 2 },
    ],
    wifiAccessPoints: [
      { macAddress: "00:11:22:33:44:55", signalStrength: -60 },
      { macAddress: "00:11:22:33:44:66" },
      { macAddress: "02:aa:bb:cc:dd:ee", signalStrength: -50 },
    ],
  });
  expect(await locations()).toMatchObject([
    {
      id: job.id,
      device_id: job.deviceId,
      organization_id: organizationId,
      ts: new Date("2026-03-01T08:15:24.250Z"),
      device_ts: null,
      received_at: start,
      ...rome,
      accuracy_m: 35,
      source: "wifi",
      is_valid: true,
      invalid_reason: null,
      mcc: 222,
      mnc: 1,
      carrier: "TIM",
      speed_kmh: null,
      address: null,
    },
  ]);
  const last = { ...rome, accuracy_m: 35, source: "wifi", ts: "2026-03-01T08:15:24.250Z" };
  expect(await lastLocationOf(job.deviceId)).toEqual(last);
});

test("a report that names no network a service could know makes no job", () => {
  const cell = { mcc: 222, mnc: 1, lac: 7, cid: 5, signalDbm: null };
  const accessPoints = ["ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"].map((mac) => ({ mac, signalDbm: null }));
  const base = { id: "", deviceId: "", organizationId, ts: start, deviceTs: null, receivedAt: start, network: null };
  expect(locateJob({ ...base, cells: [], accessPoints })).toBeUndefined();
  expect(locateJob({ ...base, cells: [{ ...cell, mcc: 65535 }], accessPoints: [] })).toBeUndefined();
  expect(locateJob({ ...base, cells: [cell], accessPoints })?.payload).toMatchObject({ mcc: 222, access_points: [] });
});

test("cells alone give source lbs, and a place that is too vague counts as invalid", async () => {
  const service = await openService(({ body }, response) => {
    const accuracy = body.cellTowers[0]?.cellId === 1 ? 1200.04 : 25_000;
    response.end(JSON.stringify({ location: rome, accuracy }));
  });
  await openWorker({ geolocateUrl: service.url });
  const cell = { mcc: 222, mnc: 99, lac: 7, signalDbm: null };
  const later = new Date(start.getTime() + 1000);
  const [fine, vague] = [
    report({ cells: [{ ...cell, cid: 1 }], network: null }),
    report({ cells: [{ ...cell, cid: 2 }], ts: later }),
  ];
  await storeState(vague.deviceId, null);
  await queue(fine, vague);
  await untilDone();
  expect(await locations()).toMatchObject([
    { source: "lbs", accuracy_m: 1200, is_valid: true, mcc: 222, mnc: 99, carrier: null },
    { source: "lbs", accuracy_m: 25_000, is_valid: false, invalid_reason: "low_accuracy" },
  ]);
  expect(await lastLocationOf(vague.deviceId)).toBeNull();
});

test("404 ends the job without a row, and is remembered for a day", async () => {
  const service = await openService(replyWith(404, { error: { code: 404, message: "Not found" } }));
  const clock = makeManualClock(start);
  const { metrics } = await openWorker({ geolocateUrl: service.url, clock });
  const cells = report().payload.cells.map(({ signal_dbm: signalDbm, ...cell }) => ({ ...cell, signalDbm }));
  for (const hours of [0, 12, 13]) {
    clock.advanceMs(hours * 3_600_000);
    await queue(report({ cells }));
    await untilDone();
    expect(service.questions).toHaveLength(hours === 13 ? 2 : 1);
  }
  expect(await locations()).toEqual([]);
  await until(() => expect(counted(metrics, 'kind="locate",outcome="unresolved"')).toBe(3));
  expect(isLeftAlone(metrics, "locate")).toBe(false);
});

test("the same networks are asked once a month, by all devices together", async () => {
  const service = await openService(replyWith(200, answered));
  const clock = makeManualClock(start);
  await openWorker({ geolocateUrl: service.url, clock });
  const around = { accessPoints: wifi, cells: [] };
  await queue(...Array.from({ length: 20 }, () => report(around)));
  await untilDone();
  await queue(report({ cells: [], accessPoints: wifi.toReversed().map(({ mac }) => ({ mac, signalDbm: -99 })) }));
  await untilDone();
  expect(service.questions).toHaveLength(1);
  expect(await locations()).toHaveLength(21);
  clock.advanceMs(31 * 86_400_000);
  await queue(report(around));
  await untilDone();
  expect(service.questions).toHaveLength(2);
});

test("an older answer never replaces the last location of a device", async () => {
  const service = await openService(({ body }, response) => {
    response.end(JSON.stringify({ location: { lat: body.cellTowers[0]?.cellId, lng: 1 }, accuracy: 10 }));
  });
  await openWorker({ geolocateUrl: service.url });
  const deviceId = newUuid();
  const gps = { ...rome, accuracy_m: 5, source: "gps", ts: "2026-03-01T08:15:10.000Z" };
  await storeState(deviceId, gps);
  const at = (seconds: string | number, cid: number): LocateJob =>
    report({
      deviceId,
      ts: new Date(`2026-03-01T08:15:${seconds}Z`),
      cells: [{ mcc: 222, mnc: 1, lac: 7, cid, signalDbm: null }],
    });
  for (const [seconds, cid, shown] of [
    ["09.999", 1, gps.lat],
    ["10.000", 2, gps.lat],
    ["20.000", 4, 4],
    ["15.000", 3, 4],
  ] as const) {
    await queue(at(seconds, cid));
    await untilDone();
    expect(await lastLocationOf(deviceId)).toMatchObject({ lat: shown });
  }
  expect(await locations()).toHaveLength(4);
  const many = Array.from({ length: 30 }, (_, n) => at(25 + n, 10 + n));
  await queue(...many.toSorted(() => Math.random() - 0.5));
  await untilDone();
  expect(await lastLocationOf(deviceId)).toMatchObject({ lat: 39, ts: "2026-03-01T08:15:54.000Z" });
});

test("answers that make no sense are failures, and are asked again", async () => {
  const nonsense: [string, unknown][] = [
    ["html", "<html>login</html>"],
    ["empty", ""],
    ["null", "null"],
    ["a list", []],
    ["no place", { accuracy: 3 }],
    ["texts", { location: { lat: "41.9", lng: "12.5" }, accuracy: 3 }],
    ["off the earth", { location: { lat: 91, lng: 0 }, accuracy: 3 }],
    ["no accuracy", { location: rome }],
    ["negative accuracy", { location: rome, accuracy: -1 }],
    ["other error", { error: { code: 403, message: "quota" } }],
    ["too long", `"${"x".repeat(300_000)}"`],
  ];
  const service = await openService(replyWith(200, ""));
  const clock = makeManualClock(start);
  await openWorker({ geolocateUrl: service.url, clock });
  for (const [name, body] of nonsense) {
    service.behave(replyWith(200, body));
    const [job] = await queue(report({ receivedAt: clock.now() }));
    await until(async () =>
      expect(await jobs(), name).toMatchObject([{ attempts: 1, due_at: new Date(clock.nowMs() + retryWaitsMs[0]!) }]),
    );
    expect(await locations()).toEqual([]);
    service.behave(replyWith(200, answered));
    clock.advanceMs(10_000);
    await untilDone();
    expect((await locations()).map(({ id }) => id)).toEqual([job?.id]);
    await db.run`truncate locations`;
  }
});

test("a service that is dead is left alone, and after its return everything is looked up once", async () => {
  const first = await openService(replyWith(503, "busy"));
  const clock = makeManualClock(start);
  const logLines: string[] = [];
  const { metrics } = await openWorker({ geolocateUrl: first.url, clock, logLines });
  const queued = await queue(...Array.from({ length: 40 }, () => report()));
  await until(() => expect(isLeftAlone(metrics, "locate")).toBe(true));
  // Every question has been answered and its job put off: a late failure would begin the pause anew.
  const retryAt = clock.nowMs() + retryWaitsMs[0]!;
  await until(async () =>
    expect((await jobs()).filter((job) => job.due_at.getTime() === retryAt)).toHaveLength(first.questions.length),
  );
  const asked = first.questions.length;
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThanOrEqual(5 + mostInFlight);
  // One question when the pause is over, and none more when it fails too.
  clock.advanceMs(5000);
  await until(() => expect(first.questions).toHaveLength(asked + 1));
  await until(() => expect(logLines.join("")).toContain('"pauseMs":15000'));
  clock.advanceMs(14_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(first.questions).toHaveLength(asked + 1);
  await first.close();
  clock.advanceMs(1000);
  await until(() => expect(logLines.join("")).toContain('"error":"ECONNREFUSED","pauseMs":45000'));
  const second = await openService(replyWith(200, answered), Number(new URL(first.url).port));
  clock.advanceMs(45_000);
  await until(() => expect(isLeftAlone(metrics, "locate")).toBe(false));
  clock.advanceMs(60_000);
  await untilDone();
  expect((await locations()).map(({ id }) => id)).toEqual(queued.map(({ id }) => id).toSorted());
  expect(second.questions).toHaveLength(40);
  expect(logLines.join("")).toContain("answers again");
});

test("a service that asks for a pause gets it at once", async () => {
  const service = await openService(replyWith(429, "", { "retry-after": "90" }));
  const clock = makeManualClock(start);
  const { metrics } = await openWorker({ geolocateUrl: service.url, clock });
  await queue(report());
  await until(() => expect(isLeftAlone(metrics, "locate")).toBe(true));
  service.behave(replyWith(200, answered));
  clock.advanceMs(89_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(service.questions).toHaveLength(1);
  clock.advanceMs(1000);
  await untilDone();
  expect(service.questions).toHaveLength(2);
});

test("a look-up that fails for a day is dropped and counted", async () => {
  const service = await openService(replyWith(500, "no"));
  const clock = makeManualClock(start);
  const logLines: string[] = [];
  const { metrics } = await openWorker({ geolocateUrl: service.url, clock, logLines });
  await queue(report());
  for (let attempts = 1; (await jobs()).length > 0; attempts++) {
    await untilAttempts(attempts);
    await until(async () => {
      const [job] = await jobs();
      expect(job === undefined || job.due_at.getTime() - clock.nowMs() !== 60_000).toBe(true);
    });
    expect(attempts).toBeLessThan(40);
    clock.advanceMs(3_600_000);
  }
  expect(clock.nowMs() - start.getTime()).toBeGreaterThanOrEqual(giveUpAfterMs);
  await until(() => expect(counted(metrics, 'kind="locate",outcome="dropped"')).toBe(1));
  expect(logLines.join("")).toContain("look-up given up");
});

test("jobs that nobody could serve for a day leave the table", async () => {
  const clock = makeManualClock(start);
  const service = await openService(replyWith(200, { display_name: "Here" }));
  const { metrics } = await openWorker({ geocoderUrl: service.url, clock, sweepMs: 20 });
  await queue(...Array.from({ length: 2500 }, () => report()));
  clock.advanceMs(24 * 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await jobs()).toHaveLength(2500);
  clock.advanceMs(1000);
  await untilDone();
  await until(() => expect(counted(metrics, 'kind="locate",outcome="dropped"')).toBe(2500));
});

test("a slow service holds a bounded number of questions, and delays nothing else", async () => {
  let inFlight = 0;
  let most = 0;
  const slow = await openService((_question, response) => {
    most = Math.max(most, ++inFlight);
    response.on("close", () => inFlight--);
  });
  const geocoder = await openService(replyWith(200, { display_name: "Via Roma 1" }));
  const limits = { connectMs: 2000, totalMs: 300, bytes: 1000 };
  const urls = { geolocateUrl: slow.url, geocoderUrl: geocoder.url };
  const { metrics } = await openWorker({ ...urls, clock: makeClock(), limits });
  await queue(...Array.from({ length: 2000 }, () => report()));
  const deviceId = newUuid();
  const before = Date.now();
  await queue(await storeFix(deviceId, start, rome));
  await until(async () => expect((await locations())[0]?.address).toBe("Via Roma 1"));
  expect(Date.now() - before).toBeLessThan(2000);
  await until(() => expect(isLeftAlone(metrics, "locate")).toBe(true));
  expect(most).toBeLessThanOrEqual(mostInFlight);
  await until(() => expect(inFlight).toBe(0));
  // All but the few that were tried were never taken out of the table.
  expect((await jobs()).filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(2 * mostInFlight);
});

test("an endless answer is cut off", async () => {
  let sent = 0;
  const service = await openService((_question, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536))) sent += 65_536;
    };
    response.on("drain", pour);
    pour();
  });
  const { metrics } = await openWorker({ geolocateUrl: service.url });
  await queue(report());
  await until(() => expect(counted(metrics, 'kind="locate",outcome="retried"')).toBe(1));
  expect(sent).toBeLessThan(20_000_000);
});

test("a connection that does not open is given up sooner than an answer", async () => {
  // It accepts TCP and never speaks TLS.
  const silent = createTcpServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  opened.push(() => new Promise((resolve) => silent.close(resolve)));
  const { port } = silent.address() as AddressInfo;
  const logLines: string[] = [];
  const limits = { connectMs: 100, totalMs: 8000, bytes: 1000 };
  await openWorker({ geolocateUrl: `https://127.0.0.1:${port}/`, limits, logLines });
  await queue(report());
  await until(() => expect(logLines.join("")).toContain('"error":"connect_timeout"'));
});

test("close cuts off what is under way and puts it back", async () => {
  const service = await openService(() => undefined);
  const clock = makeManualClock(start);
  const { worker } = await openWorker({ geolocateUrl: service.url, clock });
  await queue(...Array.from({ length: 20 }, () => report()));
  await until(() => expect(service.questions).toHaveLength(mostInFlight));
  const before = Date.now();
  await worker.close();
  expect(Date.now() - before).toBeLessThan(1000);
  const left = await jobs();
  expect(left).toHaveLength(20);
  expect(left.every(({ due_at }) => due_at <= start)).toBe(true);
  service.behave(replyWith(200, answered));
  await openWorker({ geolocateUrl: service.url, clock });
  await untilDone();
  expect(await locations()).toHaveLength(20);
});

test("a notification wakes the worker", async () => {
  const service = await openService(replyWith(200, answered));
  await openWorker({ geolocateUrl: service.url, pollMs: 60_000 });
  await db.transaction(async (tx) => {
    await insertPlaceJobs(tx, [report()]);
    await notify(tx, placeChannel, "");
  });
  await untilDone();
});

test("two workers share the jobs, each is done once", async () => {
  const service = await openService(async (_question, response) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    response.end(JSON.stringify(answered));
  });
  const workers = [await openWorker({ geolocateUrl: service.url }), await openWorker({ geolocateUrl: service.url })];
  const queued = await queue(...Array.from({ length: 200 }, () => report()));
  await untilDone();
  expect((await locations()).map(({ id }) => id)).toEqual(queued.map(({ id }) => id).toSorted());
  expect(service.questions).toHaveLength(200);
  await until(() => {
    const shares = workers.map(({ metrics }) => counted(metrics, 'kind="locate",outcome="resolved"'));
    expect(shares.reduce((sum, share) => sum + share)).toBe(200);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });
});

/** A database whose transactions do not begin before they are let go, as those of a process that hangs or dies. */
function hanging(): { db: Database; release: (kind: "dies" | "goes on") => void } {
  let release: (kind: "dies" | "goes on") => void = () => undefined;
  const gate = new Promise<"dies" | "goes on">((resolve) => {
    release = resolve;
  });
  const transaction: Database["transaction"] = async (work) => {
    if ((await gate) === "dies") throw new Error("dead");
    return db.transaction(work);
  };
  return { db: { ...db, transaction }, release };
}

test.each(["dies", "goes on"] as const)(
  "a worker that is stuck before its commit and %s doubles nothing",
  async (end) => {
    const service = await openService(replyWith(200, answered));
    const stuck = hanging();
    const { worker } = await openWorker({ geolocateUrl: service.url, db: stuck.db });
    const [job] = await queue(report());
    await storeState(job!.deviceId, null);
    await until(async () => expect(await db.many`select from place_cache`).toHaveLength(1));
    opened.push(async () => stuck.release("dies"));
    const clock = makeManualClock(new Date(start.getTime() + 59_000));
    await openWorker({ geolocateUrl: service.url, clock });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await locations()).toEqual([]);
    clock.advanceMs(1000);
    await untilDone();
    stuck.release(end);
    await worker.close();
    expect((await locations()).map(({ id }) => id)).toEqual([job?.id]);
    expect(await jobs()).toEqual([]);
    expect(service.questions).toHaveLength(1);
  },
);

test("a repeated run after an undone finish writes the same row", async () => {
  const service = await openService(replyWith(200, answered));
  await openWorker({ geolocateUrl: service.url });
  const job = report();
  for (let run = 0; run < 2; run++) {
    await queue(job);
    await untilDone();
  }
  expect(await locations()).toHaveLength(1);
});

test("a position that cannot be stored is the fault of no service, and is tried again", async () => {
  const service = await openService(replyWith(200, answered));
  const logLines: string[] = [];
  const { metrics } = await openWorker({ geolocateUrl: service.url, logLines });
  // No partition takes them.
  await queue(...Array.from({ length: 10 }, () => report({ ts: new Date("2031-01-01T00:00:00Z") })));
  await until(() => expect(counted(metrics, 'kind="locate",outcome="retried"')).toBe(10));
  expect(isLeftAlone(metrics, "locate")).toBe(false);
  await queue(report());
  await until(async () => expect(await locations()).toHaveLength(1));
  expect(logLines.join("")).toContain('"error":"23514"');
});

test("the address of a stored location is asked in the form of Nominatim, with the operator's own query", async () => {
  const service = await openService(replyWith(200, { place_id: 1, display_name: "Via Nazionale\u0000 7, Roma" }));
  const url = `${service.url}&accept-language=it%2Cen&format=xml&zoom=18`;
  await openWorker({ geocoderUrl: url });
  const [device, other] = [newUuid(), newUuid()];
  await storeFix(other, start, rome);
  await queue(await storeFix(device, start, rome));
  await untilDone();
  const [question] = service.questions;
  expect(question?.method).toBe("GET");
  expect(question?.url.search).toBe(
    `?key=${secret}&accept-language=it%2Cen&zoom=18&lat=41.9027820&lon=12.4963660&format=jsonv2`,
  );
  const rows = await locations();
  expect(rows.find(({ device_id }) => device_id === device)?.address).toBe("Via Nazionale  7, Roma");
  expect(rows.find(({ device_id }) => device_id === other)?.address).toBeNull();
});

test("an address is reused within 50 m of where it was asked, and shared by devices at the same spot", async () => {
  let number = 0;
  const service = await openService((_question, response) => {
    response.end(JSON.stringify({ display_name: `Via Roma ${++number}` }));
  });
  await openWorker({ geocoderUrl: service.url });
  const device = newUuid();
  const addressAt = async (deviceId: string, metres: number): Promise<string | null> => {
    const job = await storeFix(deviceId, start, { lat: rome.lat + metres * metre, lng: rome.lng });
    await queue(job);
    await untilDone();
    const id = job.kind === "address" ? job.payload.location_id : "";
    return (await locations()).find((location) => location.id === id)?.address ?? null;
  };
  expect(await addressAt(device, 0)).toBe("Via Roma 1");
  expect(await addressAt(device, 30)).toBe("Via Roma 1");
  expect(await addressAt(device, 49)).toBe("Via Roma 1");
  // Small steps add up: what counts is the way from where the address was asked.
  expect(await addressAt(device, 60)).toBe("Via Roma 2");
  expect(await addressAt(device, 100)).toBe("Via Roma 2");
  expect(service.questions).toHaveLength(2);
  expect(await addressAt(newUuid(), 1)).toBe("Via Roma 1");
  expect(await addressAt(newUuid(), 400)).toBe("Via Roma 3");
  expect(service.questions).toHaveLength(3);
});

test("where the geocoder knows nothing the address stays empty, and nobody asks again that day", async () => {
  const service = await openService(replyWith(200, { error: "Unable to geocode" }));
  await openWorker({ geocoderUrl: service.url });
  for (let run = 0; run < 2; run++) {
    await queue(await storeFix(newUuid(), start, { lat: 0.5, lng: -30 }));
    await untilDone();
  }
  expect(service.questions).toHaveLength(1);
  expect((await locations()).map(({ address }) => address)).toEqual([null, null]);
});

test("a position found by networks gets an address too", async () => {
  const geolocate = await openService(replyWith(200, answered));
  const geocoder = await openService(replyWith(200, { display_name: "Piazza Navona" }));
  await openWorker({ geolocateUrl: geolocate.url, geocoderUrl: geocoder.url, pollMs: 60_000 });
  await db.transaction(async (tx) => {
    await insertPlaceJobs(tx, [report()]);
    await notify(tx, placeChannel, "");
  });
  await until(async () => expect(await locations()).toMatchObject([{ address: "Piazza Navona" }]));
  await untilDone();
});

test("logs neither coordinates, addresses, networks nor the key of the operator", async () => {
  const geolocate = await openService(replyWith(200, answered));
  const geocoder = await openService(replyWith(200, { display_name: "Piazza Navona" }));
  const logLines: string[] = [];
  const clock = makeManualClock(start);
  await openWorker({ geolocateUrl: geolocate.url, geocoderUrl: geocoder.url, logLines, clock });
  const around = { cells: [], accessPoints: wifi };
  await queue(report(around), report({ ...around, ts: new Date("2031-01-01T00:00:00Z") }));
  await until(async () => expect(await locations()).toMatchObject([{ address: "Piazza Navona" }]));
  geolocate.behave(replyWith(500, "x"));
  geocoder.behave((_question, response) => void response.destroy());
  const elsewhere = Array.from({ length: 8 }, (_, n) =>
    storeFix(newUuid(), start, { lat: rome.lat + n, lng: rome.lng + 1 }),
  );
  await queue(...(await Promise.all(elsewhere)), ...Array.from({ length: 8 }, () => report()));
  await until(() => expect(logLines.join("").match(/left alone for a while/g)).toHaveLength(2));
  expect(logLines.join("")).not.toMatch(/4\d\.902|12\.49|13\.49|Navona|00:11|k3y|127\.0\.0\.1|lat|2031/);
});
