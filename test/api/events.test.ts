import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { makeEvent } from "../support/events.ts";
import { auditOf, deleteDevice, makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("one event", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let foreign: string;
  let device: TestDevice;
  const path = (id: string) => `/api/v1/events/${id}/`;
  const get = (id: string, by = token) => api.call("GET", path(id), { token: by });
  const acknowledge = (id: string, body?: unknown, by = token) =>
    api.call("POST", `${path(id)}acknowledge/`, { token: by, body });
  const remove = (id: string, by = token) => api.call("DELETE", path(id), { token: by });

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
    foreign = (await makeIntegration(api, await makeOrganization(api))).token;
    device = await makeDevice(api, organization);
  });
  afterAll(() => api.close());

  describe("its record", () => {
    const location = { lat: 41.9061, lng: 12.5012, accuracy_m: 18, source: "gps", ts: "2026-03-01T08:15:24.000Z" };

    it("has every key, and notes on detail only", async () => {
      const fenceId = newUuid();
      const id = await makeEvent(api, device, {
        type: 90,
        severity: 20,
        ts: "2026-03-01T08:15:24.000Z",
        deviceTs: "2026-03-01T08:15:23.500Z",
        title: "Left Home",
        message: "Watch 12 left Home",
        fenceId,
        fenceName: "Home",
        location,
        data: { distance_m: 212, nested: { deep: [1, null] } },
      });
      const { status, body } = await get(id);
      expect(status).toBe(200);
      const record = {
        id,
        event_type: "geofence_exit",
        severity: "warning",
        ts: "2026-03-01T08:15:24.000Z",
        device_ts: "2026-03-01T08:15:23.500Z",
        device: device.id,
        device_uid: device.uid,
        title: "Left Home",
        message: "Watch 12 left Home",
        fence_id: fenceId,
        fence_name: "Home",
        threshold_id: null,
        metric_key: null,
        value: null,
        location,
        data: { distance_m: 212, nested: { deep: [1, null] } },
        acknowledged: false,
        acknowledged_at: null,
        acknowledged_by: null,
        created_at: body.created_at,
      };
      expect(body).toEqual({ ...record, notes: null });
      expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const list = await api.call("GET", `/api/v1/events/?fence_id=${fenceId}`, { token });
      expect(list.body.results).toEqual([record]);
      expect(list.text).not.toContain("notes");
    });

    it("shows a broken threshold, and null for what an event does not have", async () => {
      const thresholdId = newUuid();
      const id = await makeEvent(api, device, { type: 120, severity: 30, thresholdId, metricKey: "hr", value: 0 });
      expect((await get(id)).body).toMatchObject({
        event_type: "threshold_breach",
        severity: "critical",
        threshold_id: thresholdId,
        metric_key: "hr",
        value: 0,
        device_ts: null,
        fence_id: null,
        fence_name: null,
        location: null,
        data: {},
      });
    });

    it("stays readable after its device was deleted, and can be acknowledged", async () => {
      const deleted = await makeDevice(api, organization);
      const id = await makeEvent(api, deleted);
      await deleteDevice(api, deleted);
      expect((await get(id)).body.device_uid).toBe(deleted.uid);
      expect((await acknowledge(id)).body.acknowledged).toBe(true);
    });
  });

  it.each(["not-a-uuid", nobodysId])("answers 404 for %s, whatever is sent", async (id) => {
    for (const answer of [await get(id), await remove(id), await acknowledge(id, { notes: 5 })]) {
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
  });

  it("accepts its id in either case and its path without the slash", async () => {
    const id = await makeEvent(api, device);
    expect((await get(id.toUpperCase())).body.id).toBe(id);
    expect((await api.call("GET", `/api/v1/events/${id}`, { token })).body.id).toBe(id);
  });

  it("belongs to its organization alone", async () => {
    const id = await makeEvent(api, device);
    for (const answer of [
      await get(id, foreign),
      await remove(id, foreign),
      await acknowledge(id, undefined, foreign),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
    expect((await get(id)).body.acknowledged).toBe(false);
  });

  it.each([
    ["POST", ""],
    ["PUT", "ID/"],
    ["PATCH", "ID/"],
    ["GET", "ID/acknowledge/"],
    ["DELETE", "ID/acknowledge/"],
  ])("has no %s /events/%s", async (method, suffix) => {
    const id = await makeEvent(api, device);
    const answer = await api.call(method, `/api/v1/events/${suffix.replace("ID", id)}`, { token });
    expect([answer.status, answer.body.code]).toEqual([403, "scope_not_available"]);
  });

  describe("acknowledge", () => {
    it("sets time and notes; a partner has no author", async () => {
      const id = await makeEvent(api, device);
      const before = api.clock.nowMs();
      const { status, body } = await acknowledge(id, { notes: "Called the ward." });
      expect(status).toBe(200);
      expect(body).toMatchObject({ acknowledged: true, acknowledged_by: null, notes: "Called the ward." });
      expect(Date.parse(body.acknowledged_at)).toBeGreaterThanOrEqual(before);
      expect((await get(id)).body).toEqual(body);
    });

    it("names the person", async () => {
      const person = await makePerson(api, organization, "ADMIN");
      const id = await makeEvent(api, device);
      expect((await acknowledge(id, undefined, person.token)).body.acknowledged_by).toBe(person.id);
    });

    it("keeps time and author of the first call, and replaces notes only if sent", async () => {
      const [first, second] = [
        await makePerson(api, organization, "ADMIN"),
        await makePerson(api, organization, "OWNER"),
      ];
      const id = await makeEvent(api, device);
      const done = (await acknowledge(id, { notes: "one" }, first.token)).body;
      expect((await acknowledge(id, {}, second.token)).body).toEqual(done);
      expect((await acknowledge(id, undefined, token)).body).toEqual(done);
      expect((await acknowledge(id, { notes: "two" }, second.token)).body).toEqual({ ...done, notes: "two" });
      expect((await acknowledge(id, { notes: "" })).body.notes).toBe("");
      expect((await acknowledge(id, { notes: null })).body).toEqual({ ...done, notes: null });
    });

    it("keeps a partner's first call without an author", async () => {
      const person = await makePerson(api, organization, "ADMIN");
      const id = await makeEvent(api, device);
      const done = (await acknowledge(id)).body;
      expect((await acknowledge(id, undefined, person.token)).body).toEqual(done);
    });

    it("has one author among parallel calls, and one audit entry", async () => {
      const people = await Promise.all([1, 2, 3].map(() => makePerson(api, organization, "ADMIN")));
      for (let round = 0; round < 5; round++) {
        const id = await makeEvent(api, device);
        const answers = await Promise.all(
          [...people, ...people, ...people].map((person) => acknowledge(id, undefined, person.token)),
        );
        const seen = new Set(
          answers.map(({ status, body }) => `${status} ${body.acknowledged_by} ${body.acknowledged_at}`),
        );
        expect([...seen]).toHaveLength(1);
        const { acknowledged_by } = (await get(id)).body;
        expect(people.map((person) => person.id)).toContain(acknowledged_by);
        const entries = await auditOf(api, id);
        expect(entries.map(({ changes }) => changes.acknowledged_by)).toEqual([[null, acknowledged_by]]);
      }
    });

    it("takes notes of 2,000 characters, not bytes, and no more", async () => {
      const id = await makeEvent(api, device);
      const notes = "𝄞".repeat(2000);
      expect((await acknowledge(id, { notes })).body.notes).toBe(notes);
      const answer = await acknowledge(id, { notes: `${notes}x` });
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        { notes: ["Ensure this field has no more than 2000 characters."] },
      ]);
    });

    it.each([
      [{ notes: 5 }, "notes"],
      [{ notes: ["a"] }, "notes"],
      [{ notes: "a\0b" }, "notes"],
      [[], "non_field_errors"],
      [{ acknowledged: false, acknowledged_by: nobodysId }, "acknowledged_by"],
      [{ acknowledged_at: "2026-01-01T00:00:00.000Z" }, "acknowledged_at"],
      [{ severity: "info" }, "severity"],
    ])("refuses %j and leaves the event open", async (body, field) => {
      const id = await makeEvent(api, device);
      const answer = await acknowledge(id, body);
      expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([400, [field]]);
      expect((await get(id)).body.acknowledged).toBe(false);
    });

    it("refuses a broken body", async () => {
      const id = await makeEvent(api, device);
      const answer = await api.call("POST", `${path(id)}acknowledge/`, {
        token,
        body: "{",
        headers: { "content-type": "application/json" },
      });
      expect([answer.status, answer.body.code]).toEqual([400, "parse_error"]);
    });

    it("accepts a record that was read, with notes added, and unknown fields", async () => {
      const id = await makeEvent(api, device);
      const { body } = await get(id);
      const answer = await acknowledge(id, { ...body, notes: "seen", acknowledged: true, colour: "red" });
      expect([answer.status, answer.body.notes]).toEqual([200, "seen"]);
    });

    it("ignores an Idempotency-Key", async () => {
      const id = await makeEvent(api, device);
      for (const notes of ["one", "two"]) {
        const answer = await api.call("POST", `${path(id)}acknowledge/`, {
          token,
          body: { notes },
          headers: { "idempotency-key": "same" },
        });
        expect([answer.status, answer.body.notes]).toEqual([200, notes]);
      }
    });
  });

  describe("delete", () => {
    it("answers 204, and no call finds the event afterwards", async () => {
      const [id, other] = [await makeEvent(api, device), await makeEvent(api, device)];
      expect((await remove(id)).status).toBe(204);
      for (const answer of [await get(id), await remove(id), await acknowledge(id)]) expect(answer.status).toBe(404);
      const { body } = await api.call("GET", `/api/v1/events/?device=${device.id}&page_size=500`, { token });
      const ids = body.results.map((event: { id: string }) => event.id);
      expect([ids.includes(id), ids.includes(other)]).toEqual([false, true]);
    });

    it("keeps the row", async () => {
      const id = await makeEvent(api, device);
      await remove(id);
      const row = await api.db.one<{ deleted_at: Date | null }>`select deleted_at from events where id = ${id}`;
      expect(row.deleted_at).toBeInstanceOf(Date);
    });

    it("succeeds once among parallel calls", async () => {
      const id = await makeEvent(api, device);
      const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await remove(id)).status));
      expect(statuses.toSorted()).toEqual([204, 404, 404, 404]);
      expect(await auditOf(api, id)).toHaveLength(1);
    });
  });

  describe("the audit log", () => {
    it("says who acknowledged and deleted, and nothing of calls that changed nothing", async () => {
      const id = await makeEvent(api, device, { type: 20, title: "Fall detected", metricKey: "hr", value: 171 });
      const { acknowledged_at } = (await acknowledge(id, { notes: "one" })).body;
      await acknowledge(id);
      await acknowledge(id, { notes: "one" });
      await acknowledge(id, { notes: "two" });
      await remove(id);
      const entries = await auditOf(api, id);
      expect(entries).toMatchObject([
        {
          action: 1,
          content_type: 10,
          actor_type: "partners",
          object_repr: "fall",
          changes: { acknowledged: [false, true], acknowledged_at: [null, acknowledged_at], notes: [null, "***"] },
        },
        { action: 1, object_repr: "fall", changes: { notes: ["***", "***"] } },
        { action: 2, object_repr: "fall", changes: { event_type: ["fall", null], device: [device.uid, null] } },
      ]);
      expect(Object.keys(entries[0]?.changes ?? {})).toHaveLength(3);
      expect(JSON.stringify(entries)).not.toContain("171");
      const { body } = await api.call("GET", "/api/v1/audit-log/?model_name=event&search=fall", { token });
      expect(body.results[0]).toMatchObject({ action_display: "deleted", model_name: "event", object_pk: id });
    });
  });
});
