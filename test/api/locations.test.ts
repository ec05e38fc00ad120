import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { assign, setState } from "../support/devices.ts";
import { deleteDevice, makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import { addLocation, type LocationFields, makeHistoryPartitions } from "../support/history.ts";
import { followPages } from "../support/lists.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

const now = new Date("2026-03-20T12:00:00.000Z");
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();
const hour = 3600;
const day = 24 * hour;

describe("locations", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let client: { clientId: string; clientSecret: string; token: string };
  const path = (device: Pick<TestDevice, "uid">, rest = ""): string =>
    `/api/v1/devices/${device.uid}/locations/${rest}`;
  const get = (device: Pick<TestDevice, "uid">, rest = "", token = client.token) =>
    api.call("GET", path(device, rest), { token });
  const add = (device: TestDevice, given: Partial<LocationFields> & { ts: string }) =>
    addLocation(api, organization, device, given);
  const idsOf = (answer: { body: { results: { id: string }[] } }): string[] => answer.body.results.map(({ id }) => id);

  beforeAll(async () => {
    ({ api, organization, integration: client } = await openPartnerApi({ clock: makeManualClock(now) }));
    await makeHistoryPartitions(api);
  });
  afterAll(() => api.close());

  describe("a record", () => {
    const full = {
      ts: "2026-03-19T08:15:24.000Z",
      device_ts: "2026-03-19T08:15:24.000Z",
      received_at: "2026-03-19T08:15:29.903Z",
      lat: 41.902782,
      lng: 12.496366,
      altitude_m: 37,
      speed_kmh: 3.2,
      heading: 118,
      accuracy_m: 12,
      source: "gps",
      satellites: 9,
      is_valid: true,
      invalid_reason: null,
      is_moving: true,
      carrier: "TIM",
      mcc: 222,
      mnc: 1,
      address: "Example Street 12",
    };

    it("has every field, in latest and in the history alike", async () => {
      const device = await makeDevice(api, organization);
      const { id } = await add(device, full);
      const latest = await get(device, "latest/");
      expect(latest.status).toBe(200);
      expect(latest.body).toEqual({ id, device_uid: device.uid, ...full });
      expect((await get(device)).body).toEqual({ next: null, previous: null, results: [latest.body] });
    });

    it("shows what is unknown as null", async () => {
      const device = await makeDevice(api, organization);
      const row = await add(device, { ts: ago(60), source: "unknown" });
      const { body } = await get(device, "latest/");
      expect(body).toEqual({ ...row, device_uid: device.uid });
      const nulls = Object.keys(body).filter((key) => body[key] === null);
      expect(nulls.sort()).toEqual(
        [
          "device_ts altitude_m speed_kmh heading accuracy_m satellites is_moving carrier mcc mnc address",
          "invalid_reason",
        ]
          .join(" ")
          .split(" ")
          .sort(),
      );
    });

    it("keeps zeros", async () => {
      const device = await makeDevice(api, organization);
      const zeros = { lat: 0.5, lng: 0, altitude_m: 0, speed_kmh: 0, heading: 0, accuracy_m: 0, satellites: 0, mnc: 0 };
      await add(device, { ts: ago(60), ...zeros });
      expect((await get(device, "latest/")).body).toMatchObject(zeros);
    });
  });

  describe("latest", () => {
    it("is 404 with its own text without a position", async () => {
      const device = await makeDevice(api, organization);
      const answer = await get(device, "latest/");
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: "not_found", detail: "No location data for this device." });
    });

    it("is 404 when all positions are invalid", async () => {
      const device = await makeDevice(api, organization);
      await add(device, { ts: ago(60), is_valid: false, invalid_reason: "low_accuracy" });
      expect((await get(device, "latest/")).body.detail).toBe("No location data for this device.");
    });

    it("is the valid point with the greatest ts, however late others were received", async () => {
      const device = await makeDevice(api, organization);
      const newest = await add(device, { ts: ago(600) });
      await add(device, { ts: ago(10 * day), received_at: ago(1) });
      await add(device, { ts: ago(30), is_valid: false, invalid_reason: "implausible_jump" });
      expect((await get(device, "latest/")).body.id).toBe(newest.id);
    });

    it.each([undefined, ago(0), ago(29 * day), ago(-29 * day)])(
      "does not depend on when it was last heard of: %s",
      async (lastSeenAt) => {
        const device = await makeDevice(api, organization);
        const newest = await add(device, { ts: ago(10 * day) });
        await add(device, { ts: ago(15 * day) });
        await add(device, { ts: ago(30), is_valid: false, invalid_reason: "implausible_jump" });
        if (lastSeenAt) await setState(api, organization.id, device.uid, { lastSeenAt });
        expect((await get(device, "latest/")).body.id).toBe(newest.id);
      },
    );

    it("has the same point of several with one ts as the head of the history", async () => {
      const device = await makeDevice(api, organization);
      for (let count = 0; count < 5; count++) await add(device, { ts: ago(60) });
      expect((await get(device, "latest/")).body.id).toBe(idsOf(await get(device))[0]);
    });
  });

  describe("the history", () => {
    let device: TestDevice;
    let rows: LocationFields[];

    beforeAll(async () => {
      device = await makeDevice(api, organization);
      rows = [
        await add(device, { ts: ago(20 * day), source: "wifi", accuracy_m: 30, address: "Via Ährenweg 5" }),
        await add(device, { ts: ago(9 * day), source: "lbs", accuracy_m: 900, carrier: "Telia 100%" }),
        await add(device, { ts: ago(2 * hour), source: "gps", address: "Example Street 12", carrier: "TIM" }),
        await add(device, { ts: ago(hour), is_valid: false, invalid_reason: "out_of_range", lat: 95 }),
        await add(device, { ts: ago(60), source: "manual" }),
      ];
    });

    const found = async (query: string): Promise<number[]> => {
      const answer = await get(device, `?${query}`);
      expect(answer.status, answer.text).toBe(200);
      return idsOf(answer).map((id) => rows.findIndex((row) => row.id === id));
    };

    it.each([
      ["", [4, 2, 1, 0]],
      ["ordering=-ts", [4, 2, 1, 0]],
      ["ordering=ts", [0, 1, 2, 4]],
      ["order=asc", [0, 1, 2, 4]],
      ["order=desc", [4, 2, 1, 0]],
      ["order=asc&ordering=-ts", [4, 2, 1, 0]],
      ["include_invalid=true", [4, 3, 2, 1, 0]],
      ["include_invalid=1&source=gps", [3, 2]],
      ["include_invalid=FALSE", [4, 2, 1, 0]],
      ["source=gps", [2]],
      ["source=wifi,lbs", [1, 0]],
      ["source=wifi,%20manual", [4, 0]],
      ["source=fused", []],
      ["search=street", [2]],
      ["search=%C3%84HREN", [0]],
      ["search=tim", [2]],
      ["search=100%25", [1]],
      ["search=_", []],
      ["search=12%20tim", []],
      ["search=", [4, 2, 1, 0]],
      ["search=example&source=wifi", []],
      ["page_size=9999&unknown=1&limit=1", [4, 2, 1, 0]],
    ])("answers ?%s", async (query, expected) => {
      expect(await found(query)).toEqual(expected);
    });

    it("includes ts_after and excludes ts_before", async () => {
      const from = encodeURIComponent(ago(9 * day));
      const to = encodeURIComponent(ago(60));
      expect(await found(`ts_after=${from}`)).toEqual([4, 2, 1]);
      expect(await found(`ts_before=${to}`)).toEqual([2, 1, 0]);
      expect(await found(`ts_after=${from}&ts_before=${to}&order=asc`)).toEqual([1, 2]);
      expect(await found(`ts_after=${to}&ts_before=${from}`)).toEqual([]);
      expect(await found("ts_after=2026-03-20")).toEqual([4, 2]);
      expect(await found("ts_after=2026-03-20T12:00:00 01:00")).toEqual([4]);
    });

    it.each([
      ["source=satellite", "source"],
      ["source=gps,GPS", "source"],
      ["ts_after=yesterday", "ts_after"],
      ["ts_before=2026-13-01", "ts_before"],
      ["include_invalid=maybe", "include_invalid"],
      ["ordering=lat", "ordering"],
      ["ordering=ts,-ts", "ordering"],
      ["order=up", "order"],
      ["page_size=0", "page_size"],
      ["page_size=many", "page_size"],
    ])("refuses ?%s", async (query, parameter) => {
      const answer = await get(device, `?${query}`);
      expect([answer.status, answer.body.code]).toEqual([400, "validation_error"]);
      expect(Object.keys(answer.body.errors)).toEqual([parameter]);
    });

    it("names every bad parameter at once", async () => {
      const { body } = await get(device, "?source=x&ts_after=x&page_size=x");
      expect(Object.keys(body.errors).sort()).toEqual(["page_size", "source", "ts_after"]);
    });

    const cursorOf = (value: string) => Buffer.from(JSON.stringify(["-ts", 1, value, nobodysId])).toString("base64url");
    it.each([
      "nonsense",
      "W10",
      cursorOf("x"),
      cursorOf("1"),
      cursorOf("+275760-09-13T00:00:00.000Z"),
      cursorOf("0000-01-01T00:00:00.000Z"),
    ])("refuses the cursor %s", async (cursor) => {
      const answer = await get(device, `?cursor=${cursor}`);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_cursor"]);
    });

    it("refuses a cursor of another ordering", async () => {
      const { body } = await get(device, "?page_size=1");
      const { searchParams } = new URL(body.next);
      const answer = await get(device, `?ordering=ts&cursor=${searchParams.get("cursor")}`);
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_cursor"]);
    });
  });

  describe("pages", () => {
    /** The history is read near a time first: the same must be found wherever that is. */
    const starts = [undefined, ago(0), ago(10 * day), ago(29 * day), ago(-20 * day)];

    it.each(starts)("are complete for a device that was last heard of at %s", async (lastSeenAt) => {
      const device = await makeDevice(api, organization);
      for (const days of [1, 2, 12, 13, 14, 15, 16, 28]) await add(device, { ts: ago(days * day) });
      if (lastSeenAt) await setState(api, organization.id, device.uid, { lastSeenAt });
      const all = idsOf(await get(device));
      expect(all).toHaveLength(8);
      for (const ordering of ["-ts", "ts"]) {
        const pages = await followPages(api, path(device, `?ordering=${ordering}&page_size=3`), client.token);
        expect(pages.forward.flat()).toEqual(ordering === "ts" ? all.toReversed() : all);
        expect(pages.backward.flat()).toEqual(pages.forward.flat().slice(0, 6));
      }
      expect(idsOf(await get(device, `?ts_before=${ago(13.5 * day)}`))).toEqual(all.slice(4));
      expect(idsOf(await get(device, `?ts_after=${ago(13.5 * day)}&order=asc`))).toEqual(all.slice(0, 4).toReversed());
      expect(idsOf(await get(device, "?ts_before=9999-12-31"))).toEqual(all);
      expect(idsOf(await get(device, "?ts_after=0001-01-01&order=asc"))).toEqual(all.toReversed());
      expect(idsOf(await get(device, "?ts_after=9999-12-31&order=asc"))).toEqual([]);
      expect(idsOf(await get(device, "?ts_before=0000-01-01"))).toEqual([]);
    });

    it.each(["-ts", "ts"])("of ordering %s go over points with one ts without loss, and back", async (ordering) => {
      const device = await makeDevice(api, organization);
      for (let count = 0; count < 7; count++) await add(device, { ts: ago(100) });
      for (let count = 0; count < 3; count++) await add(device, { ts: ago(15 * day) });
      for (let count = 0; count < 3; count++) await add(device, { ts: ago(3 * day + count) });
      const all = idsOf(await get(device, `?ordering=${ordering}`));
      expect(new Set(all).size).toBe(13);
      for (const size of [1, 2, 5, 13]) {
        const pages = await followPages(api, path(device, `?ordering=${ordering}&page_size=${size}`), client.token);
        expect(pages.forward.flat()).toEqual(all);
        expect(pages.backward.flat()).toEqual(all.slice(0, pages.backward.flat().length));
        expect(pages.backward.length).toBe(pages.forward.length - 1);
      }
    });

    it("keep the filters in their links", async () => {
      const device = await makeDevice(api, organization);
      for (let count = 0; count < 4; count++) await add(device, { ts: ago(count), source: count % 2 ? "gps" : "lbs" });
      const pages = await followPages(api, path(device, "?source=gps&page_size=1"), client.token);
      expect(pages.forward.map((page) => page.length)).toEqual([1, 1]);
    });

    it("show a point that came late at its own ts, and shift nothing", async () => {
      const device = await makeDevice(api, organization);
      const first = await add(device, { ts: ago(10) });
      const second = await add(device, { ts: ago(300) });
      const third = await add(device, { ts: ago(500) });
      const head = await get(device, "?page_size=2");
      expect(idsOf(head)).toEqual([first.id, second.id]);
      const late = await add(device, { ts: ago(400), received_at: ago(0) });
      await add(device, { ts: ago(100), received_at: ago(0) });
      const { pathname, search } = new URL(head.body.next);
      const next = await api.call("GET", pathname + search, { token: client.token });
      expect(idsOf(next)).toEqual([late.id, third.id]);
    });

    it("hold 100 points unless asked, and at most 500", async () => {
      const device = await makeDevice(api, organization);
      await api.db.run`
        insert into locations (device_id, organization_id, id, ts, received_at, lat, lng, source, is_valid)
        select ${device.id}, ${organization.id}, gen_random_uuid(), ${now}::timestamptz - n * interval '1 minute',
          ${now}, 41, 12, 'gps', true from generate_series(1, 520) n`;
      expect((await get(device)).body.results).toHaveLength(100);
      expect((await get(device, "?page_size=1000")).body.results).toHaveLength(500);
    });
  });

  describe("access", () => {
    const suffixes = ["", "latest/", "segments/"];
    let device: TestDevice;
    beforeAll(async () => {
      device = await makeDevice(api, organization);
      await add(device, { ts: ago(60) });
    });

    it.each(suffixes)("to %s needs locations:read", async (suffix) => {
      const token = await fetchToken(api, client, "devices:read telemetry:read");
      const answer = await get(device, suffix, token);
      expect([answer.status, answer.body.code]).toEqual([403, "insufficient_scope"]);
      expect(answer.body.required_scopes).toEqual(["locations:read"]);
      expect((await get(device, suffix, await fetchToken(api, client, "locations:read"))).status).toBe(200);
    });

    it.each(suffixes)("to %s of another organization is 404, whatever the parameters", async (suffix) => {
      const foreign = await makeIntegration(api, await makeOrganization(api));
      for (const query of ["", "?ts_after=nonsense"]) {
        const answer = await get(device, suffix + query, foreign.token);
        expect([answer.status, answer.body.code, answer.body.detail]).toEqual([404, "not_found", "Not found."]);
      }
    });

    it("ends with the device, and rows of another organization under its id stay hidden", async () => {
      const deleted = await makeDevice(api, organization);
      await addLocation(api, { id: newUuid(), slug: "" }, deleted, { ts: ago(60) });
      for (const suffix of ["", "segments/"]) {
        expect(Object.values((await get(deleted, suffix)).body).at(-1)).toEqual([]);
      }
      expect((await get(deleted, "latest/")).status).toBe(404);
      await deleteDevice(api, deleted);
      for (const suffix of suffixes) expect((await get(deleted, suffix)).body.detail).toBe("Not found.");
    });

    it.each(["123", "35000000000000x", "350000000000000"])("to device %s is 404", async (uid) => {
      for (const suffix of suffixes) expect((await get({ uid }, suffix)).status).toBe(404);
    });

    it.each(suffixes)("to %s of people below ADMIN is for assigned devices", async (suffix) => {
      for (const role of ["VIEWER", "USER"] as const) {
        const person = await makePerson(api, organization, role);
        expect((await get(device, suffix, person.token)).status).toBe(404);
        await assign(api, organization.id, device.uid, person.id, 10);
        expect((await get(device, suffix, person.token)).status).toBe(200);
      }
      for (const role of ["ADMIN", "OWNER"] as const) {
        expect((await get(device, suffix, (await makePerson(api, organization, role)).token)).status).toBe(200);
      }
    });

    it("is reading alone", async () => {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const answer = await api.call(method, path(device), { token: client.token });
        expect([answer.status, answer.body.code]).toEqual([403, "scope_not_available"]);
      }
      expect((await get(device, "newest/")).body.code).toBe("scope_not_available");
    });
  });
});
