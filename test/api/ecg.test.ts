import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { makeEcg } from "../support/ecg.ts";
import { deleteDevice, makeDevice, type TestDevice } from "../support/fixtures.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

let api: TestApi;
let organization: TestOrganization;
let token: string;
let device: TestDevice;

beforeAll(async () => {
  ({ api, organization, token } = await openPartnerApi());
  device = await makeDevice(api, organization);
});
afterAll(() => api.close());

const get = (path: string, as = token) => api.call("GET", `/api/v1/devices/${device.uid}/ecg/${path}`, { token: as });

describe("the list", () => {
  const ids: string[] = [];
  beforeAll(async () => {
    const known = { classification: "sinus_rhythm", avgHr: 71 };
    ids.push(
      await makeEcg(api, device, { ts: "2026-03-01T08:00:00.000Z", ...known, leads: { 1: [[1, 2, 3, 4, 5]] } }),
      await makeEcg(api, device, { ts: "2026-03-01T09:00:00.000Z", leads: { 1: [[1]] } }),
      await makeEcg(api, device, { ts: "2026-03-01T10:00:00.000Z", ...known, avgHr: 65, leads: { 1: [[1, 2]] } }),
    );
  });
  const ordered = async (query: string) =>
    (await get(query)).body.results.map(({ id }: { id: string }) => ids.indexOf(id));

  it("is a page list, newest first", async () => {
    const { body } = await get("");
    expect(body).toMatchObject({ count: 3, next: null, previous: null });
    expect(body.results[2]).toEqual({
      id: ids[0],
      device_uid: device.uid,
      ts: "2026-03-01T08:00:00.000Z",
      device_ts: "2026-03-01T08:00:00.000Z",
      received_at: "2026-03-01T08:00:00.000Z",
      duration_ms: 20,
      sampling_rate_hz: 250,
      sample_count: 5,
      leads: ["I"],
      unit: "uV",
      avg_hr: 71,
      classification: "sinus_rhythm",
      classification_source: "device",
      quality: "unknown",
      status: "complete",
      waveform_available: true,
      waveform_formats: ["application/json", "text/csv", "application/fhir+json"],
    });
    expect(await ordered("")).toEqual([2, 1, 0]);
  });

  it.each([
    ["?ordering=ts", [0, 1, 2]],
    ["?ordering=-duration_ms", [0, 2, 1]],
    ["?ordering=avg_hr", [2, 0, 1]],
    ["?ordering=-avg_hr", [0, 2, 1]],
    ["?search=SINUS", [2, 0]],
    ["?search=nothing", []],
    ["?page_size=1&page=2", [1]],
    ["?page_size=2&page=last", [0]],
  ])("answers %s", async (query, expected) => {
    expect(await ordered(query)).toEqual(expected);
  });

  it.each([
    ["?ordering=status", 400],
    ["?page=0", 400],
    ["?page=3", 404],
  ])("refuses %s with %i", async (query, status) => {
    expect((await get(query)).status).toBe(status);
  });
});

describe("who may read", () => {
  it("needs ecg:read, a live device of the own organization and a recording of that device", async () => {
    const own = await makeDevice(api, organization);
    const id = await makeEcg(api, own);
    const at = (uid: string, recording: string, as = token) =>
      api.call("GET", `/api/v1/devices/${uid}/ecg/${recording}/waveform/`, { token: as });
    expect((await at(own.uid, id)).status).toBe(200);
    for (const [uid, recording] of [
      [device.uid, id],
      [own.uid, newUuid()],
      [own.uid, "x"],
      ["1", id],
    ] as const) {
      const answer = await at(uid, recording);
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
    const foreign = await makeIntegration(api, await makeOrganization(api));
    expect((await at(own.uid, id, foreign.token)).status).toBe(404);
    const other = await fetchToken(api, await makeIntegration(api, organization), "telemetry:read");
    expect((await at(own.uid, id, other)).body).toMatchObject({
      code: "insufficient_scope",
      required_scopes: ["ecg:read"],
    });
    await deleteDevice(api, own);
    expect((await at(own.uid, id)).status).toBe(404);
  });

  it("lets people below ADMIN see assigned devices only", async () => {
    const id = await makeEcg(api, device);
    const viewer = await makePerson(api, organization, "VIEWER");
    const admin = await makePerson(api, organization, "ADMIN");
    for (const path of ["", `${id}/`, `${id}/waveform/`]) {
      expect((await get(path, viewer.token)).status).toBe(404);
      expect((await get(path, admin.token)).status).toBe(200);
    }
    const body = { user_id: viewer.id };
    await api.call("POST", `/api/v1/devices/${device.uid}/assign/`, { token, body });
    for (const path of ["", `${id}/`, `${id}/waveform/`]) {
      expect((await get(path, viewer.token)).status).toBe(200);
    }
  });
});
