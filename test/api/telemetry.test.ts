import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { assign, setState } from "../support/devices.ts";
import { deleteDevice, makeDevice, type TestDevice } from "../support/fixtures.ts";
import { addTelemetry, makeHistoryPartitions } from "../support/history.ts";
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
const day = 86_400;

describe("telemetry", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let client: { clientId: string; clientSecret: string; token: string };
  const path = (device: Pick<TestDevice, "uid">, rest = ""): string =>
    `/api/v1/devices/${device.uid}/telemetry/${rest}`;
  const get = (device: Pick<TestDevice, "uid">, rest = "", token = client.token) =>
    api.call("GET", path(device, rest), { token });
  const add = (device: TestDevice, ts: string, data: object): Promise<string> =>
    addTelemetry(api, organization, device, { ts, data });
  const idsOf = (answer: { body: { results: { id: string }[] } }): string[] => answer.body.results.map(({ id }) => id);

  beforeAll(async () => {
    ({ api, organization, integration: client } = await openPartnerApi({ clock: makeManualClock(now) }));
    await makeHistoryPartitions(api);
  });
  afterAll(() => api.close());

  describe("latest", () => {
    it("is 404 with its own text without a row", async () => {
      const answer = await get(await makeDevice(api, organization), "latest/");
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: "not_found", detail: "No telemetry data for this device." });
    });

    it("has the newest value of each metric with the time of its row, and nothing else", async () => {
      const device = await makeDevice(api, organization);
      await add(device, ago(300), { hr: 70, sbp: 118, dbp: 76 });
      await add(device, ago(200), { hr: 72, temp: 36.6 });
      await add(device, ago(100), { bat: 81 });
      expect((await get(device, "latest/")).body).toEqual({
        data: {
          bat: { value: 81, ts: ago(100) },
          hr: { value: 72, ts: ago(200) },
          temp: { value: 36.6, ts: ago(200) },
          sbp: { value: 118, ts: ago(300) },
          dbp: { value: 76, ts: ago(300) },
        },
      });
    });

    it("keeps zeros", async () => {
      const device = await makeDevice(api, organization);
      await add(device, ago(300), { steps: 5000, bat: 50, hr: 60 });
      await add(device, ago(100), { steps: 0, bat: 0, gsm_signal: 0, satellites: 0, hr: 0 });
      const { data } = (await get(device, "latest/")).body;
      expect(Object.keys(data).sort()).toEqual(["bat", "gsm_signal", "hr", "satellites", "steps"]);
      expect(Object.values(data)).toEqual(Array(5).fill({ value: 0, ts: ago(100) }));
    });

    it("leaves out null, further keys and impossible values, which hide nothing older", async () => {
      const device = await makeDevice(api, organization);
      await add(device, ago(300), { hr: 70, spo2: 98, bat: 40 });
      await add(device, ago(100), { hr: null, spo2: 101, bat: "80", roll: 5, gsm_signal: 99, temp: -1 });
      expect((await get(device, "latest/")).body).toEqual({
        data: {
          hr: { value: 70, ts: ago(300) },
          spo2: { value: 98, ts: ago(300) },
          bat: { value: 40, ts: ago(300) },
        },
      });
    });

    it("is empty when no row has a usable value", async () => {
      const device = await makeDevice(api, organization);
      await add(device, ago(100), { hr: null, roll: 1 });
      expect((await get(device, "latest/")).body).toEqual({ data: {} });
    });

    it.each([undefined, ago(0), ago(20 * day), ago(-day)])(
      "merges the 50 newest rows and no other, when last heard of at %s",
      async (lastSeenAt) => {
        const device = await makeDevice(api, organization);
        await add(device, ago(10 * day), { glucose: 90 });
        await add(device, ago(9 * day), { temp: 36.5 });
        for (let count = 1; count <= 49; count++) await add(device, ago(count * 14_000), { hr: count });
        if (lastSeenAt) await setState(api, organization.id, device.uid, { lastSeenAt });
        expect((await get(device, "latest/")).body).toEqual({
          data: { hr: { value: 1, ts: ago(14_000) }, temp: { value: 36.5, ts: ago(9 * day) } },
        });
      },
    );
  });

  describe("the history", () => {
    let device: TestDevice;
    let ids: string[];
    beforeAll(async () => {
      device = await makeDevice(api, organization);
      ids = [
        await addTelemetry(api, organization, device, {
          ts: ago(20 * day),
          device_ts: "2001-01-01T00:00:00.000Z",
          received_at: ago(20 * day - 1),
          data: { hr: 999, note: "as sent", nested: { a: [1, null] }, bat: null },
        }),
        await add(device, ago(9 * day), { hr: 72, sbp: 118, dbp: 76 }),
        await add(device, ago(3600), { bat: 81, Roll: 0 }),
        await add(device, ago(60), {}),
      ];
    });

    it("has the rows as they were ingested", async () => {
      const { body } = await get(device, "?ordering=ts&page_size=2");
      expect(body.results).toEqual([
        {
          id: ids[0],
          ts: ago(20 * day),
          device_ts: "2001-01-01T00:00:00.000Z",
          received_at: ago(20 * day - 1),
          data: { hr: 999, note: "as sent", nested: { a: [1, null] }, bat: null },
        },
        {
          id: ids[1],
          ts: ago(9 * day),
          device_ts: null,
          received_at: ago(9 * day),
          data: { hr: 72, sbp: 118, dbp: 76 },
        },
      ]);
    });

    it.each([
      ["", [3, 2, 1, 0]],
      ["ordering=ts", [0, 1, 2, 3]],
      ["order=asc", [0, 1, 2, 3]],
      ["metric=hr", [1, 0]],
      ["metric=bat", [2, 0]],
      ["metric=sbp,bat", [2, 1, 0]],
      ["metric=glucose", []],
      ["metric=nonsense", []],
      ["metric=nonsense,sbp", [1]],
      ["metric=72", []],
      ["search=bp", [1]],
      ["search=ROLL", [2]],
      ["search=sent", []],
      ["search=nest", [0]],
      ["search=hr&metric=sbp", [1]],
      [`ts_after=${ago(9 * day)}`, [3, 2, 1]],
      [`ts_before=${ago(9 * day)}`, [0]],
      [`ts_after=${ago(9 * day)}&ts_before=${ago(60)}`, [2, 1]],
    ])("answers ?%s", async (query, expected) => {
      const answer = await get(device, `?${query}`);
      expect(answer.status, answer.text).toBe(200);
      expect(idsOf(answer).map((id) => ids.indexOf(id))).toEqual(expected);
    });

    it.each([
      ["ts_after=x", "ts_after"],
      ["ts_before=x", "ts_before"],
      ["ordering=data", "ordering"],
      ["order=newest", "order"],
      ["page_size=-1", "page_size"],
    ])("refuses ?%s", async (query, parameter) => {
      const answer = await get(device, `?${query}`);
      expect([answer.status, answer.body.code]).toEqual([400, "validation_error"]);
      expect(Object.keys(answer.body.errors)).toEqual([parameter]);
    });

    it("refuses a broken cursor", async () => {
      const answer = await get(device, "?cursor=x");
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_cursor"]);
    });

    it.each(["-ts", "ts"])("is paged in ordering %s over rows with one ts, there and back", async (ordering) => {
      const other = await makeDevice(api, organization);
      for (let count = 0; count < 9; count++) await add(other, ago(count < 6 ? 100 : 16 * day), { hr: count });
      const all = idsOf(await get(other, `?ordering=${ordering}`));
      expect(new Set(all).size).toBe(9);
      const { forward, backward } = await followPages(
        api,
        path(other, `?ordering=${ordering}&page_size=2`),
        client.token,
      );
      expect(forward.flat()).toEqual(all);
      expect(backward.flat()).toEqual(all.slice(0, 8));
    });
  });

  describe("access", () => {
    const suffixes = ["", "latest/"];
    let device: TestDevice;
    beforeAll(async () => {
      device = await makeDevice(api, organization);
      await add(device, ago(60), { hr: 60 });
    });

    it.each(suffixes)("to %s needs telemetry:read", async (suffix) => {
      const answer = await get(device, suffix, await fetchToken(api, client, "devices:read locations:read"));
      expect([answer.status, answer.body.code]).toEqual([403, "insufficient_scope"]);
      expect(answer.body.required_scopes).toEqual(["telemetry:read"]);
      expect((await get(device, suffix, await fetchToken(api, client, "telemetry:read"))).status).toBe(200);
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
      await addTelemetry(api, { id: newUuid(), slug: "" }, deleted, { ts: ago(60), data: { hr: 1 } });
      expect((await get(deleted)).body.results).toEqual([]);
      expect((await get(deleted, "latest/")).body.detail).toBe("No telemetry data for this device.");
      await deleteDevice(api, deleted);
      for (const suffix of suffixes) expect((await get(deleted, suffix)).body.detail).toBe("Not found.");
    });

    it.each(suffixes)("to %s of people below ADMIN is for assigned devices", async (suffix) => {
      for (const role of ["VIEWER", "USER"] as const) {
        const person = await makePerson(api, organization, role);
        expect((await get(device, suffix, person.token)).status).toBe(404);
        await assign(api, organization.id, device.uid, person.id, 10);
        expect((await get(device, suffix, person.token)).status).toBe(200);
      }
      expect((await get(device, suffix, (await makePerson(api, organization, "ADMIN")).token)).status).toBe(200);
    });

    it("is reading alone", async () => {
      const answer = await api.call("POST", path(device), { token: client.token, body: {} });
      expect([answer.status, answer.body.code]).toEqual([403, "scope_not_available"]);
    });
  });
});
