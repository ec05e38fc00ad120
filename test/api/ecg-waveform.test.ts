import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeEcg } from "../support/ecg.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

let api: TestApi;
let token: string;
let device: TestDevice;
let id: string;

beforeAll(async () => {
  api = await openTestApi();
  const organization = await makeOrganization(api);
  ({ token } = await makeIntegration(api, organization));
  device = await makeDevice(api, organization);
  id = await makeEcg(api, device, {
    ts: "2026-03-01T08:20:02.000Z",
    deviceTs: "2026-03-01T08:19:30.000Z",
    status: "incomplete",
    scale: 2.5,
    leads: { 1: [[12, 14], null, [-3, 32767]] },
  });
});
afterAll(() => api.close());

const waveform = (query = "", headers: Record<string, string> = {}, recording = id) =>
  api.call("GET", `/api/v1/devices/${device.uid}/ecg/${recording}/waveform/${query}`, { token, headers });

it("the waveform is JSON by default, with null samples in its gaps", async () => {
  const answer = await waveform();
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.body).toEqual({
    id,
    device_uid: device.uid,
    start_ts: "2026-03-01T08:19:30.000Z",
    sampling_rate_hz: 250,
    unit: "uV",
    scale: 2.5,
    offset: 0,
    leads: [{ name: "I", samples: [12, 14, null, null, -3, 32767] }],
    sample_count: 6,
    missing: [{ from: 2, count: 2 }],
  });
});

it("the waveform is CSV in microvolts, a row per sample, empty in its gaps", async () => {
  const answer = await waveform("?format=csv");
  expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(answer.text).toBe("t_ms,I\n0,30\n4,35\n8,\n12,\n16,-7.5\n20,81917.5\n");
});

it("the waveform is a FHIR R4 Observation with a SampledData component per lead", async () => {
  const answer = await waveform("?format=fhir");
  expect(answer.headers["content-type"]).toBe("application/fhir+json; charset=utf-8");
  const uid = device.uid;
  expect(JSON.parse(answer.text)).toEqual({
    resourceType: "Observation",
    id,
    status: "preliminary",
    category: [
      {
        coding: [
          {
            system: "http://terminology.hl7.org/CodeSystem/observation-category",
            code: "procedure",
            display: "Procedure",
          },
        ],
      },
    ],
    code: {
      coding: [{ system: "urn:iso:std:iso:11073:10101", code: "131328", display: "MDC_ECG_ELEC_POTL" }],
      text: "ECG",
    },
    effectivePeriod: { start: "2026-03-01T08:19:30.000Z", end: "2026-03-01T08:19:30.024Z" },
    issued: "2026-03-01T08:20:02.000Z",
    device: {
      identifier: {
        system: "urn:ietf:rfc:3986",
        value: `urn:gsma:imei:${uid.slice(0, 8)}-${uid.slice(8, 14)}-${uid.slice(14)}`,
      },
    },
    note: [{ text: "Not for diagnosis." }],
    component: [
      {
        code: {
          coding: [{ system: "urn:iso:std:iso:11073:10101", code: "131329", display: "MDC_ECG_ELEC_POTL_I" }],
          text: "Lead I",
        },
        valueSampledData: {
          origin: { value: 0, unit: "uV", system: "http://unitsofmeasure.org", code: "uV" },
          period: 4,
          factor: 2.5,
          dimensions: 1,
          data: "12 14 E E -3 32767",
        },
      },
    ],
  });
});

it("the waveform has all leads in every form, and decimals where the rate is no divisor of 1000", async () => {
  const both = await makeEcg(api, device, { rate: 300, leads: { 1: [[1, 2]], 12: [[3, 4]] } });
  expect((await waveform("", {}, both)).body.leads).toEqual([
    { name: "I", samples: [1, 2] },
    { name: "L12", samples: [3, 4] },
  ]);
  expect((await waveform("?format=csv", {}, both)).text).toBe("t_ms,I,L12\n0,1,3\n3.333333,2,4\n");
  const { status, component } = JSON.parse((await waveform("?format=fhir", {}, both)).text);
  expect(status).toBe("final");
  expect(component.map(({ valueSampledData }: { valueSampledData: object }) => valueSampledData)).toMatchObject([
    { data: "1 2", period: 3.333333 },
    { data: "3 4" },
  ]);
});

describe("the form of the answer", () => {
  it.each([
    ["", "text/csv", "text/csv"],
    ["", "application/fhir+json", "application/fhir+json"],
    ["", "application/xml", "application/json"],
    ["?format=json", "text/csv", "application/json"],
    ["?format=csv", "application/fhir+json", "text/csv"],
    ["?format=", "text/csv", "text/csv"],
  ])("with %s and Accept %s is %s", async (query, accept, type) => {
    const answer = await waveform(query, { accept });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe(`${type}; charset=utf-8`);
  });

  it("refuses another format, also before it is known whether there is a waveform", async () => {
    const receiving = await makeEcg(api, device, { status: "receiving" });
    for (const recording of [id, receiving]) {
      const answer = await waveform("?format=xml", {}, recording);
      expect([answer.status, answer.body.code, Object.keys(answer.body.errors)]).toEqual([
        400,
        "validation_error",
        ["format"],
      ]);
    }
    const early = await waveform("?format=csv", {}, receiving);
    expect([early.status, early.body.code]).toEqual([404, "waveform_not_available"]);
  });
});

it("the waveform answers 304 to a caller that has it, form by form", async () => {
  const first = await waveform();
  const tag = first.headers.etag as string;
  expect(tag).toMatch(/^W\/"[^"]+"$/);
  expect(first.headers.vary).toBe("Accept, Accept-Encoding");
  const again = await waveform("", { "if-none-match": tag });
  expect([again.status, again.text, again.headers.etag]).toEqual([304, "", tag]);
  expect((await waveform("", { "if-none-match": `"other", ${tag}` })).status).toBe(304);
  expect((await waveform("?format=csv", { "if-none-match": tag })).status).toBe(200);
  await api.db.run`update ecg_recordings set revision = revision + 1 where id = ${id}`;
  expect((await waveform("", { "if-none-match": tag })).status).toBe(200);
});

it("the waveform is compressed on request, and whole however long", async () => {
  const samples = Array.from({ length: 5000 }, (_, index) => (index % 200) - 100);
  const long = await makeEcg(api, device, { leads: { 1: [samples, samples] } });
  const plain = await waveform("", {}, long);
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.body.leads[0].samples).toEqual([...samples, ...samples]);
  const csv = (await waveform("?format=csv", {}, long)).text.split("\n");
  expect([csv.length, csv[4097], csv.at(-2)]).toEqual([10_002, `16384,${(4096 % 200) - 100}`, "39996,99"]);
  const packed = await api.app.inject({
    method: "GET",
    url: `/api/v1/devices/${device.uid}/ecg/${long}/waveform/`,
    headers: { authorization: `Bearer ${token}`, "accept-encoding": "br;q=1.0, gzip;q=0.8" },
  });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(packed.rawPayload.length).toBeLessThan(plain.text.length / 5);
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.text);
});
