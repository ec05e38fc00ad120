import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { iw } from "../../src/codecs/iw/protocol.ts";
import { closeStalledRecordings } from "../../src/ingest/ecg-closing.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { ecgFrame, type IwWatch, openIwWatch } from "../support/iw-watch.ts";
import { makeIntegration } from "../support/world.ts";

const start = new Date("2026-03-01T08:20:02.000Z");
const clock = makeManualClock(start);
let world: GatewayWorld;
let api: TestApi;
let gateway: TestGateway;
let token: string;
let uid: string;
let deviceId: string;
let watch: IwWatch;
let devices = 0;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open({ protocols: [iw] });
  api = await openTestApi({ url: world.url, clock });
  ({ token } = await makeIntegration(api, { id: world.organizationId, slug: "gate" }));
});
afterAll(async () => {
  await api.close();
  await world.close();
});
beforeEach(async () => {
  clock.set(start);
  uid = String(359_000_000_000_000 + devices++);
  deviceId = await world.addDevice(uid);
  watch = await openIwWatch(gateway.address.port, uid);
  return () => watch.close();
});

/** Sample n of the whole recording is n - 1000, so that every place shows whether it is the right one. */
const ramp = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index - 1000);
const part = (sequence: number, more: Partial<Parameters<typeof ecgFrame>[0]> = {}): string =>
  ecgFrame({ total: 4, sequence, samples: ramp((sequence - 1) * 100, sequence === 4 ? 40 : 100), ...more });
const get = (path: string) => api.call("GET", `/api/v1/devices/${uid}/ecg/${path}`, { token });
const recordings = async () => (await get("")).body.results;
const events = () =>
  world.db.many<{ id: string; ts: Date; device_ts: Date; message: string; data: Record<string, unknown> }>`
    select id, ts, device_ts, message, data from events where device_id = ${deviceId} and event_type = 140`;
/** The service's sweep, as if so much time had passed. */
async function sweepAfter(seconds: number): Promise<number> {
  clock.advanceMs(seconds * 1000);
  return closeStalledRecordings(world.db, clock);
}

it("the ingest stores each part before it is answered, and reports a complete recording once", async () => {
  expect(await watch.send(part(1))).toBe("IWBPHD#");
  const [open] = await recordings();
  expect(open).toMatchObject({ status: "receiving", sample_count: 100, waveform_available: false });
  const early = await get(`${open.id}/waveform/`);
  expect([early.status, early.body.code]).toEqual([404, "waveform_not_available"]);
  expect(await events()).toEqual([]);

  for (const sequence of [2, 3, 4]) expect(await watch.send(part(sequence))).toBe("IWBPHD#");
  const { body: detail } = await get(`${open.id}/`);
  expect(detail).toEqual({
    id: open.id,
    device_uid: uid,
    ts: "2026-03-01T08:20:02.000Z",
    device_ts: "2026-03-01T08:19:30.000Z",
    received_at: "2026-03-01T08:20:02.000Z",
    duration_ms: 1360,
    sampling_rate_hz: 250,
    sample_count: 340,
    leads: ["I"],
    unit: "uV",
    avg_hr: null,
    classification: "not_analyzed",
    classification_source: null,
    quality: "unknown",
    status: "complete",
    waveform_available: true,
    waveform_formats: ["application/json", "text/csv", "application/fhir+json"],
    device_info: { gain: 10 },
    notes: null,
  });
  const { body: waveform } = await get(`${open.id}/waveform/`);
  expect(waveform).toEqual({
    id: open.id,
    device_uid: uid,
    start_ts: "2026-03-01T08:19:30.000Z",
    sampling_rate_hz: 250,
    unit: "uV",
    scale: 2.5,
    offset: 0,
    leads: [{ name: "I", samples: ramp(0, 340) }],
    sample_count: 340,
    missing: [],
  });
  const recorded = await events();
  expect(recorded).toMatchObject([
    {
      ts: start,
      device_ts: new Date("2026-03-01T08:19:30.000Z"),
      message: "ECG of 1 s recorded",
      data: { ecg_id: open.id, duration_ms: 1360, sampling_rate_hz: 250, status: "complete" },
    },
  ]);
  const [event] = (await api.call("GET", "/api/v1/events/?event_type=ecg_recorded", { token })).body.results;
  expect(event).toMatchObject({ id: recorded[0]?.id, device_uid: uid, severity: "info", title: "ECG recorded" });
});

it("the ingest takes parts in any order, doubled ones once, also when all come at once", async () => {
  const order = [3, 1, 3, 4, 1, 2, 2, 4];
  const answers = watch.received.length + order.length;
  watch.write(...order.map((sequence) => part(sequence)));
  await vi.waitUntil(() => watch.received.length === answers, { timeout: 10_000, interval: 5 });
  expect(watch.received.slice(-order.length)).toEqual(order.map(() => "IWBPHD#"));
  const [recording, ...others] = await recordings();
  expect(others).toEqual([]);
  expect(recording).toMatchObject({ status: "complete", sample_count: 340 });
  expect((await get(`${recording.id}/waveform/`)).body.leads).toEqual([{ name: "I", samples: ramp(0, 340) }]);
  const { etag } = (await get(`${recording.id}/waveform/`)).headers;
  // And again, after it is complete and from a new connection; the second one is the same part in other bytes.
  watch.close();
  watch = await openIwWatch(gateway.address.port, uid);
  expect(await watch.send(part(2))).toBe("IWBPHD#");
  expect(await watch.send(part(2, { gain: "11" }))).toBe("IWBPHD#");
  expect(await recordings()).toEqual([recording]);
  expect((await get(`${recording.id}/waveform/`)).headers.etag).toBe(etag);
  expect(await events()).toHaveLength(1);
});

describe("a recording of which parts are lost", () => {
  beforeEach(async () => {
    await watch.send(part(1));
    clock.advanceMs(10_000);
    await watch.send(part(4));
  });

  it("is incomplete after five minutes without a part, with its gaps named", async () => {
    expect(await sweepAfter(299)).toBe(0);
    expect(await sweepAfter(2)).toBe(1);
    expect(await sweepAfter(600)).toBe(0);
    const [recording] = await recordings();
    expect(recording).toMatchObject({ status: "incomplete", sample_count: 340, duration_ms: 1360 });
    const { body } = await get(`${recording.id}/waveform/`);
    const gap = Array.from({ length: 200 }, () => null);
    expect(body.leads[0].samples).toEqual([...ramp(0, 100), ...gap, ...ramp(300, 40)]);
    expect([body.missing, body.sample_count]).toEqual([[{ from: 100, count: 200 }], 340]);
    expect(await events()).toMatchObject([
      { ts: start, message: "ECG of 1 s recorded, parts of it are missing", data: { status: "incomplete" } },
    ]);
  });

  it("becomes complete when they come late, and is not reported again", async () => {
    await sweepAfter(301);
    const [{ id }] = await recordings();
    const tagOf = async () => (await get(`${id}/waveform/`)).headers.etag;
    const first = await tagOf();
    await watch.send(part(2));
    expect((await get(`${id}/`)).body.status).toBe("incomplete");
    expect((await get(`${id}/waveform/`)).body.missing).toEqual([{ from: 200, count: 100 }]);
    await watch.send(part(3));
    expect((await get(`${id}/`)).body).toMatchObject({ status: "complete", sample_count: 340 });
    expect((await get(`${id}/waveform/`)).body).toMatchObject({ missing: [], leads: [{ samples: ramp(0, 340) }] });
    expect(await tagOf()).not.toBe(first);
    expect(await events()).toHaveLength(1);
    expect(await sweepAfter(600)).toBe(0);
  });
});

it("the ingest ends a recording of a deleted device without an event", async () => {
  await watch.send(part(1));
  await world.db.run`update devices set deleted_at = ${clock.now()} where id = ${deviceId}`;
  expect(await sweepAfter(301)).toBe(1);
  expect(await events()).toEqual([]);
});

it("the ingest tells recordings apart by their time, and by their form where the time is none", async () => {
  await watch.send(part(1));
  await watch.send(part(1, { time: "20260301082000" }));
  await watch.send(part(1, { time: "no time" }));
  await watch.send(part(2, { time: "no time" }));
  await watch.send(part(1, { time: "no time", rate: 500 }));
  expect(await recordings()).toHaveLength(4);
  // What names no time is over with the recording.
  clock.advanceMs(301_000);
  await watch.send(part(3, { time: "no time" }));
  const all = await recordings();
  expect(all).toHaveLength(5);
  expect(all[0]).toMatchObject({ device_ts: null, sample_count: 100, ts: clock.now().toISOString() });
  // A named time holds however late.
  await watch.send(part(2));
  expect(await recordings()).toHaveLength(5);
});

it("the ingest keeps the parts of several leads, and starts at the reception when the clock is wrong", async () => {
  const more = { time: "20010101000000", total: 2, pointVoltage: "0", gain: "" };
  await watch.send(part(1, more));
  await watch.send(part(2, { ...more, lead: 2 }));
  const [recording] = await recordings();
  expect(recording).toMatchObject({ leads: ["I", "II"], status: "complete", device_ts: "2001-01-01T00:00:00.000Z" });
  const { body } = await get(`${recording.id}/waveform/`);
  expect(body).toMatchObject({
    scale: 1,
    start_ts: start.toISOString(),
    leads: [
      { name: "I", samples: ramp(0, 100) },
      { name: "II", samples: ramp(100, 100) },
    ],
  });
  expect((await get(`${recording.id}/`)).body.device_info).toEqual({});
});

it("the ingest gives up the oldest of too many open recordings, and reports it", async () => {
  const time = (minute: number): string => `202603010${700 + minute}00`;
  for (let minute = 0; minute < 22; minute++) {
    clock.advanceMs(1000);
    await watch.send(part(1, { time: time(minute) }));
  }
  const all = await recordings();
  expect(all).toHaveLength(22);
  expect(all.filter(({ status }: { status: string }) => status === "incomplete")).toMatchObject([
    { device_ts: "2026-03-01T07:01:00.000Z" },
    { device_ts: "2026-03-01T07:00:00.000Z" },
  ]);
  expect(await events()).toHaveLength(2);
});

it("the ingest leaves out a part that would make a recording too large, answers it, and keeps the rest", async () => {
  const big = ramp(0, 2000);
  await watch.send(part(1, { total: 1024, samples: big }));
  await watch.send(part(1, { total: 1024, samples: big, lead: 2 }));
  const [recording] = await recordings();
  expect(recording).toMatchObject({ leads: ["I"], sample_count: 2000 });
  expect(await world.db.many`select reason from poisoned_packets where device_id = ${deviceId}`).toEqual([]);
  expect(gateway.metric('vigil_media_refused_total{reason="size"}')).toBe(1);
  await watch.send(part(2, { total: 1024, samples: big }));
  expect((await recordings())[0]).toMatchObject({ sample_count: 4000 });
});

it("the ingest writes one outbound event for integrations that name the type", async () => {
  await api.db.run`update integrations set webhook_event_types = '{ecg.recorded}'`;
  for (const sequence of [1, 2, 3, 4]) await watch.send(part(sequence));
  await watch.send(part(1, { time: "20260301081000" }));
  await sweepAfter(301);
  await watch.send(part(2, { time: "20260301081000" }));
  const all = await recordings();
  const [complete, incomplete] = ["2026-03-01T08:19:30.000Z", "2026-03-01T08:10:00.000Z"].map((deviceTs) =>
    all.find(({ device_ts }: { device_ts: string }) => device_ts === deviceTs),
  );
  const rows = await world.db.many<{ occurred_at: Date; body: string }>`
    select occurred_at, body from outbound_events where device_uid = ${uid} and type = 'ecg.recorded' order by id`;
  const recorded = (await events()).map(({ id, data }) => [data.ecg_id, id]);
  const dataOf = ({ id, ...recording }: Record<string, unknown>) => ({
    event_id: new Map(recorded as [unknown, unknown][]).get(id),
    ecg_id: id,
    ts: start.toISOString(),
    device_ts: recording.device_ts,
    duration_ms: recording.duration_ms,
    sampling_rate_hz: 250,
    avg_hr: null,
    classification: "not_analyzed",
    quality: "unknown",
    status: recording.status,
  });
  expect(rows.map(({ occurred_at, body }) => [occurred_at, JSON.parse(body).data])).toEqual([
    [start, dataOf(complete)],
    [start, dataOf(incomplete)],
  ]);
  expect([complete.status, complete.duration_ms, incomplete.status, incomplete.duration_ms]).toEqual([
    "complete",
    1360,
    "incomplete",
    1600,
  ]);
});
