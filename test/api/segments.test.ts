import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestApi } from "../support/api.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import { addLocation, type LocationFields, makeHistoryPartitions } from "../support/history.ts";
import { decodePolyline } from "../support/polyline.ts";
import { openPartnerApi, type TestOrganization } from "../support/world.ts";

const now = new Date("2026-03-20T12:00:00.000Z");
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();
const hour = 3600;
const day = 24 * hour;

describe("segments of a device's way", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  const get = (device: TestDevice, query = "") =>
    api.call("GET", `/api/v1/devices/${device.uid}/locations/segments/${query}`, { token });
  const add = (device: TestDevice, secondsAgo: number, more: Partial<LocationFields> = {}) =>
    addLocation(api, organization, device, { ts: ago(secondsAgo), ...more });
  /** A point a minute, from then on for so long, at one place or on the way north with so many degrees a minute. */
  const stay = async (device: TestDevice, from: number, seconds: number, lat = 41.9, perMinute = 0): Promise<void> => {
    for (let after = 0; after <= seconds; after += 60) {
      await add(device, from - after, { lat: lat + (perMinute * after) / 60 });
    }
  };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock: makeManualClock(now) }));
    await makeHistoryPartitions(api);
  });
  afterAll(() => api.close());

  it("are an empty list without points", async () => {
    const device = await makeDevice(api, organization);
    const answer = await get(device);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ device_uid: device.uid, from: ago(6 * hour), to: ago(0), segments: [] });
  });

  it("are moving and stopped ones, in time order, the last ongoing", async () => {
    const device = await makeDevice(api, organization);
    await stay(device, 5 * hour, 1200, 41.9);
    await stay(device, 5 * hour - 1260, 1140, 41.903, 0.003);
    for (let minute = 0; minute < 10; minute++) {
      await add(device, 5 * hour - 2460 - minute * 60, {
        lat: 41.96,
        address: minute === 3 ? "Example Street 12" : null,
      });
    }
    await add(device, 100, { lat: 41.96 });
    const { segments } = (await get(device)).body;
    expect(segments.map(({ type }: { type: string }) => type)).toEqual(["stopped", "moving", "stopped"]);
    const [home, way, work] = segments;
    expect(home).toEqual({
      type: "stopped",
      start_ts: ago(5 * hour),
      end_ts: ago(5 * hour - 1200),
      duration_seconds: 1200,
      ongoing: false,
      distance_m: 0,
      point_count: 21,
      center: { lat: 41.9, lng: 12.49 },
      radius_m: 0,
      address: null,
    });
    expect(way).toMatchObject({ start_ts: home.end_ts, end_ts: work.start_ts, ongoing: false });
    expect(Math.abs(way.distance_m - 6672)).toBeLessThan(5);
    expect(way.avg_speed_kmh).toBeCloseTo((way.distance_m / way.duration_seconds) * 3.6, 1);
    expect(way.max_speed_kmh).toBeGreaterThanOrEqual(way.avg_speed_kmh);
    expect(way.start).toEqual({ lat: 41.9, lng: 12.49, address: null });
    const drawn = decodePolyline(way.polyline);
    expect(drawn).toHaveLength(way.point_count);
    expect(drawn[0]).toEqual({ lat: 41.9, lng: 12.49 });
    expect(work).toMatchObject({ address: "Example Street 12", ongoing: false });
  });

  it("go on while the window ends now and the last point is younger than an hour", async () => {
    const device = await makeDevice(api, organization);
    await stay(device, 2 * hour, 1.5 * hour);
    expect((await get(device)).body.segments).toMatchObject([
      { type: "stopped", start_ts: ago(2 * hour), end_ts: null, ongoing: true, duration_seconds: 2 * hour },
    ]);
    const fresh = await get(device, `?ts_before=${ago(59)}`);
    expect(fresh.body.segments).toMatchObject([{ ongoing: true, end_ts: null, duration_seconds: 2 * hour - 59 }]);
    const past = await get(device, `?ts_before=${ago(60)}`);
    expect(past.body.segments).toMatchObject([{ ongoing: false, end_ts: ago(1800), duration_seconds: 1.5 * hour }]);
  });

  it("are split by a gap of more than an hour", async () => {
    const device = await makeDevice(api, organization);
    await stay(device, 5 * hour, 600);
    await stay(device, 2 * hour, 600);
    expect((await get(device)).body.segments).toMatchObject([
      { type: "stopped", end_ts: ago(5 * hour - 600), ongoing: false },
      { type: "stopped", end_ts: ago(2 * hour - 600), ongoing: false },
    ]);
  });

  it("use min_stop_seconds, and valid points alone", async () => {
    const device = await makeDevice(api, organization);
    await stay(device, 3 * hour, 600);
    await add(device, 3 * hour - 90, { lat: 43, is_valid: false, invalid_reason: "implausible_jump" });
    const types = async (query: string) =>
      (await get(device, query)).body.segments.map(({ type }: { type: string }) => type);
    expect(await types("")).toEqual(["stopped"]);
    expect(await types("?min_stop_seconds=600")).toEqual(["stopped"]);
    expect(await types("?min_stop_seconds=601")).toEqual([]);
  });

  it("include the begin of the window and exclude its end", async () => {
    const device = await makeDevice(api, organization);
    await stay(device, 3 * hour, 1200);
    const { body } = await get(device, `?ts_after=${ago(3 * hour - 60)}&ts_before=${ago(3 * hour - 600)}`);
    expect(body).toMatchObject({ from: ago(3 * hour - 60), to: ago(3 * hour - 600) });
    expect(body.segments).toMatchObject([
      { start_ts: ago(3 * hour - 60), end_ts: ago(3 * hour - 540), point_count: 9 },
    ]);
  });

  it.each([
    ["", 6 * hour, 0],
    [`?ts_after=${ago(2 * day)}`, 2 * day, 0],
    [`?ts_before=${ago(day)}`, day + 6 * hour, day],
    [`?ts_after=${ago(7 * day)}`, 7 * day, 0],
    [`?ts_after=${ago(-day)}&ts_before=${ago(-2 * day)}`, -day, -2 * day],
  ])("of %s have the window they should", async (query, from, to) => {
    const answer = await get(await makeDevice(api, organization), query);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ from: ago(from), to: ago(to), segments: [] });
  });

  it.each([
    [`ts_after=${ago(0)}`, "ts_after"],
    [`ts_after=${ago(-60)}`, "ts_after"],
    [`ts_after=${ago(60)}&ts_before=${ago(60)}`, "ts_after"],
    [`ts_after=${ago(60)}&ts_before=${ago(120)}`, "ts_after"],
    [`ts_after=${ago(7 * day + 1)}`, "ts_after"],
    [`ts_after=${ago(20 * day)}&ts_before=${ago(12 * day)}`, "ts_after"],
    ["ts_after=x", "ts_after"],
    ["ts_before=x", "ts_before"],
    ["min_stop_seconds=59", "min_stop_seconds"],
    ["min_stop_seconds=86401", "min_stop_seconds"],
    ["min_stop_seconds=3.5", "min_stop_seconds"],
    ["min_stop_seconds=x", "min_stop_seconds"],
  ])("refuse ?%s", async (query, parameter) => {
    const answer = await get(await makeDevice(api, organization), `?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, "validation_error"]);
    expect(Object.keys(answer.body.errors)).toEqual([parameter]);
  });

  it("of more points than are read span the whole window", async () => {
    const device = await makeDevice(api, organization);
    await api.db.run`
      insert into locations (device_id, organization_id, id, ts, received_at, lat, lng, source, is_valid)
      select ${device.id}, ${organization.id}, gen_random_uuid(), ${now}::timestamptz - n * interval '2 seconds', ${now}, 41, 12,
        'gps', true from generate_series(1, 60000) n`;
    const { segments } = (await get(device, `?ts_after=${ago(2 * day)}`)).body;
    expect(segments).toHaveLength(1);
    expect(segments[0]).toMatchObject({
      type: "stopped",
      ongoing: true,
      start_ts: ago(120_000),
      duration_seconds: 120_000,
    });
    expect(segments[0].point_count).toBeLessThanOrEqual(50_000);
  });
});
