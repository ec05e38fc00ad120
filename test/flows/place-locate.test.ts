import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { type LocateJob, locateJob } from "../../src/places/place-job.ts";
import { placeRetries } from "../../src/places/place-lane.ts";
import {
  answered,
  counted,
  isPaused,
  openPlaceWorld,
  organizationId,
  type PlaceWorld,
  replyWith,
  report,
  rome,
  secret,
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

test("a position lookup asks in the common form, and turns the answer into a location", async () => {
  const service = await world.openService(replyWith(200, answered));
  await world.openWorker({ geolocateUrl: service.url });
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
  await world.storeState(job.deviceId, null);
  await world.queue(job);
  await world.untilDone();
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
  expect(await world.locations()).toMatchObject([
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
  expect(await world.lastLocationOf(job.deviceId)).toEqual(last);
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
  const service = await world.openService(({ body }, response) => {
    const accuracy = body.cellTowers[0]?.cellId === 1 ? 1200.04 : 25_000;
    response.end(JSON.stringify({ location: rome, accuracy }));
  });
  await world.openWorker({ geolocateUrl: service.url });
  const cell = { mcc: 222, mnc: 99, lac: 7, signalDbm: null };
  const later = new Date(start.getTime() + 1000);
  const [fine, vague] = [
    report({ cells: [{ ...cell, cid: 1 }], network: null }),
    report({ cells: [{ ...cell, cid: 2 }], ts: later }),
  ];
  await world.storeState(vague.deviceId, null);
  await world.queue(fine, vague);
  await world.untilDone();
  expect(await world.locations()).toMatchObject([
    { source: "lbs", accuracy_m: 1200, is_valid: true, mcc: 222, mnc: 99, carrier: null },
    { source: "lbs", accuracy_m: 25_000, is_valid: false, invalid_reason: "low_accuracy" },
  ]);
  expect(await world.lastLocationOf(vague.deviceId)).toBeNull();
});

test("a 404 ends the job without a row, and is cached for a day", async () => {
  const service = await world.openService(replyWith(404, { error: { code: 404, message: "Not found" } }));
  const clock = makeManualClock(start);
  const { metrics } = await world.openWorker({ geolocateUrl: service.url, clock });
  const cells = report().payload.cells.map(({ signal_dbm: signalDbm, ...cell }) => ({ ...cell, signalDbm }));
  for (const hours of [0, 12, 13]) {
    clock.advanceMs(hours * 3_600_000);
    await world.queue(report({ cells }));
    await world.untilDone();
    expect(service.questions).toHaveLength(hours === 13 ? 2 : 1);
  }
  expect(await world.locations()).toEqual([]);
  await until(() => expect(counted(metrics, 'kind="locate",outcome="unresolved"')).toBe(3));
  expect(isPaused(metrics, "locate")).toBe(false);
});

test("the same networks are asked once a month, by all devices together", async () => {
  const service = await world.openService(replyWith(200, answered));
  const clock = makeManualClock(start);
  await world.openWorker({ geolocateUrl: service.url, clock });
  const around = { accessPoints: wifi, cells: [] };
  await world.queue(...Array.from({ length: 20 }, () => report(around)));
  await world.untilDone();
  await world.queue(report({ cells: [], accessPoints: wifi.toReversed().map(({ mac }) => ({ mac, signalDbm: -99 })) }));
  await world.untilDone();
  expect(service.questions).toHaveLength(1);
  expect(await world.locations()).toHaveLength(21);
  clock.advanceMs(31 * 86_400_000);
  await world.queue(report(around));
  await world.untilDone();
  expect(service.questions).toHaveLength(2);
});

test("an older answer never replaces the last location of a device", async () => {
  const service = await world.openService(({ body }, response) => {
    response.end(JSON.stringify({ location: { lat: body.cellTowers[0]?.cellId, lng: 1 }, accuracy: 10 }));
  });
  await world.openWorker({ geolocateUrl: service.url });
  const deviceId = newUuid();
  const gps = { ...rome, accuracy_m: 5, source: "gps", ts: "2026-03-01T08:15:10.000Z" };
  await world.storeState(deviceId, gps);
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
    await world.queue(at(seconds, cid));
    await world.untilDone();
    expect(await world.lastLocationOf(deviceId)).toMatchObject({ lat: shown });
  }
  expect(await world.locations()).toHaveLength(4);
  const many = Array.from({ length: 30 }, (_, n) => at(25 + n, 10 + n));
  await world.queue(...many.toSorted(() => Math.random() - 0.5));
  await world.untilDone();
  expect(await world.lastLocationOf(deviceId)).toMatchObject({ lat: 39, ts: "2026-03-01T08:15:54.000Z" });
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
  const service = await world.openService(replyWith(200, ""));
  const clock = makeManualClock(start);
  await world.openWorker({ geolocateUrl: service.url, clock });
  for (const [name, body] of nonsense) {
    service.behave(replyWith(200, body));
    const [job] = await world.queue(report({ receivedAt: clock.now() }));
    await until(async () =>
      expect(await world.jobs(), name).toMatchObject([
        { attempts: 1, due_at: new Date(clock.nowMs() + placeRetries.waitsMs[0]!) },
      ]),
    );
    expect(await world.locations()).toEqual([]);
    service.behave(replyWith(200, answered));
    clock.advanceMs(10_000);
    await world.untilDone();
    expect((await world.locations()).map(({ id }) => id)).toEqual([job?.id]);
    await world.db.run`truncate locations`;
  }
});
