import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeClock, makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { maxPerOrganization, placeRetries } from "../../src/places/place-lane.ts";
import {
  answered,
  counted,
  isPaused,
  openPlaceWorld,
  type PlaceWorld,
  replyWith,
  report,
  rome,
  start,
  wifi,
} from "../support/place-world.ts";
import { until } from "../support/until.ts";

let world: PlaceWorld;
beforeAll(async () => {
  world = await openPlaceWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("the place worker requests to a dead service are paused, and after its return everything is looked up once", async () => {
  const first = await world.openService(replyWith(503, "busy"));
  const clock = makeManualClock(start);
  const logLines: string[] = [];
  const { metrics } = await world.openWorker({ geolocateUrl: first.url, clock, logLines });
  const queued = await world.queue(...Array.from({ length: 40 }, () => report()));
  await until(() => expect(isPaused(metrics, "locate")).toBe(true));
  // Every question has been answered and its job put off: a late failure would begin the pause anew.
  const retryAt = clock.nowMs() + placeRetries.waitsMs[0]!;
  let asked = 0;
  await until(async () => {
    asked = first.questions.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(first.questions).toHaveLength(asked);
    expect((await world.jobs()).filter((job) => job.due_at.getTime() === retryAt)).toHaveLength(asked);
  });
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThanOrEqual(5 + maxPerOrganization);
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
  const second = await world.openService(replyWith(200, answered), Number(new URL(first.url).port));
  clock.advanceMs(45_000);
  await until(() => expect(isPaused(metrics, "locate")).toBe(false));
  clock.advanceMs(60_000);
  await world.untilDone();
  expect((await world.locations()).map(({ id }) => id)).toEqual(queued.map(({ id }) => id).toSorted());
  expect(second.questions).toHaveLength(40);
  expect(logLines.join("")).toContain("answers again");
});

test("a service that asks for a pause gets it at once", async () => {
  const service = await world.openService(replyWith(429, "", { "retry-after": "90" }));
  const clock = makeManualClock(start);
  const { metrics } = await world.openWorker({ geolocateUrl: service.url, clock });
  await world.queue(report());
  await until(() => expect(isPaused(metrics, "locate")).toBe(true));
  service.behave(replyWith(200, answered));
  clock.advanceMs(89_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(service.questions).toHaveLength(1);
  clock.advanceMs(1000);
  await world.untilDone();
  expect(service.questions).toHaveLength(2);
});

test("a lookup that fails for a day is dropped and counted", async () => {
  const service = await world.openService(replyWith(500, "no"));
  const clock = makeManualClock(start);
  const logLines: string[] = [];
  const { metrics } = await world.openWorker({ geolocateUrl: service.url, clock, logLines });
  await world.queue(report());
  for (let attempts = 1; (await world.jobs()).length > 0; attempts++) {
    await world.untilAttempts(attempts);
    await until(async () => {
      const [job] = await world.jobs();
      expect(job === undefined || job.due_at.getTime() - clock.nowMs() !== 60_000).toBe(true);
    });
    expect(attempts).toBeLessThan(40);
    clock.advanceMs(3_600_000);
  }
  expect(clock.nowMs() - start.getTime()).toBeGreaterThanOrEqual(placeRetries.minAgeMs);
  await until(() => expect(counted(metrics, 'kind="locate",outcome="dropped"')).toBe(1));
  expect(logLines.join("")).toContain("lookup given up");
});

test("jobs that nobody could serve for a day leave the table", async () => {
  const clock = makeManualClock(start);
  const service = await world.openService(replyWith(200, { display_name: "Here" }));
  const { metrics } = await world.openWorker({ geocoderUrl: service.url, clock, sweepMs: 20 });
  await world.queue(...Array.from({ length: 2500 }, () => report()));
  clock.advanceMs(24 * 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await world.jobs()).toHaveLength(2500);
  clock.advanceMs(1000);
  await world.untilDone();
  await until(() => expect(counted(metrics, 'kind="locate",outcome="dropped"')).toBe(2500));
});

/** A service that never answers, and how many questions it has. */
async function openSlowService() {
  const held = { now: 0, max: 0 };
  const service = await world.openService((_question, response) => {
    held.max = Math.max(held.max, ++held.now);
    response.on("close", () => held.now--);
  });
  return { url: service.url, held };
}

test("a slow service delays nothing else", async () => {
  const slow = await openSlowService();
  const geocoder = await world.openService(replyWith(200, { display_name: "Via Roma 1" }));
  const urls = { geolocateUrl: slow.url, geocoderUrl: geocoder.url };
  await world.openWorker({ ...urls, clock: makeClock(), limits: { connectMs: 2000, totalMs: 600_000, bytes: 1000 } });
  await world.queue(...Array.from({ length: 2000 }, () => report()));
  await until(() => expect(slow.held.now).toBe(maxPerOrganization));
  await world.queue(await world.storeFix(newUuid(), start, rome));
  await until(async () => expect((await world.locations())[0]?.address).toBe("Via Roma 1"));
  expect(slow.held).toEqual({ now: maxPerOrganization, max: maxPerOrganization });
});

test("a slow service holds a bounded number of requests until it is paused", async () => {
  const slow = await openSlowService();
  const limits = { connectMs: 2000, totalMs: 300, bytes: 1000 };
  const { metrics } = await world.openWorker({ geolocateUrl: slow.url, clock: makeClock(), limits });
  await world.queue(...Array.from({ length: 2000 }, () => report()));
  await until(() => expect(isPaused(metrics, "locate")).toBe(true));
  expect(slow.held.max).toBeLessThanOrEqual(maxPerOrganization);
  await until(() => expect(slow.held.now).toBe(0));
  // All but the few that were tried were never taken out of the table.
  expect((await world.jobs()).filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(
    2 * maxPerOrganization,
  );
});

test("an endless answer is cut off", async () => {
  let sent = 0;
  const service = await world.openService((_question, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536))) sent += 65_536;
    };
    response.on("drain", pour);
    pour();
  });
  const { metrics } = await world.openWorker({ geolocateUrl: service.url });
  await world.queue(report());
  await until(() => expect(counted(metrics, 'kind="locate",outcome="retried"')).toBe(1));
  expect(sent).toBeLessThan(20_000_000);
});

test("a connection that does not open is given up sooner than an answer", async () => {
  // It accepts TCP and never speaks TLS.
  const silent = createTcpServer((socket) => socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  world.closeLater(() => new Promise((resolve) => silent.close(resolve)));
  const { port } = silent.address() as AddressInfo;
  const logLines: string[] = [];
  const limits = { connectMs: 100, totalMs: 8000, bytes: 1000 };
  await world.openWorker({ geolocateUrl: `https://127.0.0.1:${port}/`, limits, logLines });
  await world.queue(report());
  await until(() => expect(logLines.join("")).toContain('"error":"connect_timeout"'));
});

test("a position that cannot be stored is the fault of no service, and is tried again", async () => {
  const service = await world.openService(replyWith(200, answered));
  const logLines: string[] = [];
  const { metrics } = await world.openWorker({ geolocateUrl: service.url, logLines });
  // No partition takes them.
  await world.queue(...Array.from({ length: 10 }, () => report({ ts: new Date("2031-01-01T00:00:00Z") })));
  await until(() => expect(counted(metrics, 'kind="locate",outcome="retried"')).toBe(10));
  expect(isPaused(metrics, "locate")).toBe(false);
  await world.queue(report());
  await until(async () => expect(await world.locations()).toHaveLength(1));
  expect(logLines.join("")).toContain('"error":"23514"');
});

test("the place worker logs neither coordinates, addresses, networks nor the key of the operator", async () => {
  const geolocate = await world.openService(replyWith(200, answered));
  const geocoder = await world.openService(replyWith(200, { display_name: "Piazza Navona" }));
  const logLines: string[] = [];
  const clock = makeManualClock(start);
  await world.openWorker({ geolocateUrl: geolocate.url, geocoderUrl: geocoder.url, logLines, clock });
  const around = { cells: [], accessPoints: wifi };
  await world.queue(report(around), report({ ...around, ts: new Date("2031-01-01T00:00:00Z") }));
  await until(async () => expect(await world.locations()).toMatchObject([{ address: "Piazza Navona" }]));
  geolocate.behave(replyWith(500, "x"));
  geocoder.behave((_question, response) => void response.destroy());
  const elsewhere = Array.from({ length: 8 }, (_, n) =>
    world.storeFix(newUuid(), start, { lat: rome.lat + n, lng: rome.lng + 1 }),
  );
  await world.queue(...(await Promise.all(elsewhere)), ...Array.from({ length: 8 }, () => report()));
  await until(() => expect(logLines.join("").match(/requests to it are paused/g)).toHaveLength(2));
  expect(logLines.join("")).not.toMatch(/4\d\.902|12\.49|13\.49|Navona|00:11|k3y|127\.0\.0\.1|lat|2031/);
});
