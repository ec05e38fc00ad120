import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { auditOf, closeMembership, makeDevice, makeMember } from "../support/fixtures.ts";
import { home, link, makeFence, postFence } from "../support/rules.ts";
import { makeIntegration, makeOrganization, type TestOrganization } from "../support/world.ts";

const window = { days: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" };
const fixed = ["This field cannot be changed."];
const taken = ["This field may not be null."];

describe("geofences", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let scoping: string;
  let user: string;
  const post = (fields: object) => postFence(api, token, fields);
  const errorsOf = async (fields: object) => {
    const { status, body } = await post(fields);
    expect([status, body.code]).toEqual([400, "validation_error"]);
    return body.errors;
  };
  const change = (method: "PUT" | "PATCH", id: string, body: unknown) =>
    api.call(method, `/api/v1/geofences/${id}/`, { token, body });
  const read = async (id: string) => (await api.call("GET", `/api/v1/geofences/${id}/`, { token })).body;

  beforeAll(async () => {
    api = await openTestApi({ clock });
    organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    scoping = (await makeIntegration(api, await makeOrganization(api, { features: ["geofence_scoping"] }))).token;
    user = (await makeMember(api, organization)).id;
  });
  afterAll(() => api.close());

  describe("creating", () => {
    it("needs name, center and radius, and fills in the rest", async () => {
      const { status, body, headers } = await post({});
      expect(status).toBe(201);
      expect(headers.location).toBe(`${baseUrl}/api/v1/geofences/${body.id}/`);
      expect(body).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ...home,
        description: "",
        fence_type: "circle",
        trigger_on_enter: true,
        trigger_on_exit: true,
        trigger_on_dwell: false,
        dwell_threshold_seconds: null,
        schedule: null,
        is_active: true,
        scope: "device",
        group_id: null,
        user_id: null,
        devices: [],
        created_at: "2026-03-01T08:00:00.000Z",
        updated_at: "2026-03-01T08:00:00.000Z",
      });
      expect(await read(body.id)).toEqual(body);
      const missing = await api.call("POST", "/api/v1/geofences/", { token, body: {} });
      expect(Object.keys(missing.body.errors).sort()).toEqual(["center", "name", "radius"]);
    });

    it("keeps every field as it was sent", async () => {
      const fields = {
        name: "n".repeat(100),
        description: "d".repeat(500),
        fence_type: "circle",
        center: { lat: -90, lng: 180 },
        radius: 0.5,
        trigger_on_enter: false,
        trigger_on_exit: false,
        trigger_on_dwell: true,
        dwell_threshold_seconds: 86_400,
        schedule: { timezone: "Asia/Kolkata", windows: [window, { days: [7, 1], start: "22:30", end: "24:00" }] },
        is_active: false,
      };
      const { body } = await post({ ...fields, unknown: { a: "\0" }, device_count: 9, updated_at: "x" });
      expect(body).toMatchObject(fields);
      expect(body).not.toHaveProperty("unknown");
    });

    it.each([
      [{ name: "" }, { name: ["This field may not be blank."] }],
      [{ name: "n".repeat(101) }, { name: ["Ensure this field has no more than 100 characters."] }],
      [{ name: null }, { name: taken }],
      [{ name: 5 }, { name: ["Not a valid string."] }],
      [{ description: "d".repeat(501) }, { description: ["Ensure this field has no more than 500 characters."] }],
      [{ description: null }, { description: taken }],
      [{ fence_type: "polygon" }, { fence_type: ['"polygon" is not a valid choice.'] }],
      [{ fence_type: null }, { fence_type: taken }],
      [{ center: null }, { center: taken }],
      [{ center: [41, 12] }, { center: ["Expected an object."] }],
      [{ center: { lat: 1 } }, { "center.lng": ["This field is required."] }],
      [{ center: { lat: "1", lng: 2 } }, { "center.lat": ["A valid number is required."] }],
      [{ center: { lat: 90.1, lng: 0 } }, { "center.lat": ["Ensure this value is less than or equal to 90."] }],
      [{ center: { lat: 0, lng: -181 } }, { "center.lng": ["Ensure this value is greater than or equal to -180."] }],
      [{ radius: 0 }, { radius: ["Ensure this value is greater than 0."] }],
      [{ radius: 50_000.5 }, { radius: ["Ensure this value is less than or equal to 50000."] }],
      [{ radius: "150" }, { radius: ["A valid number is required."] }],
      [{ radius: null }, { radius: taken }],
      [{ trigger_on_enter: "true" }, { trigger_on_enter: ["Must be a valid boolean."] }],
      [{ trigger_on_exit: 1 }, { trigger_on_exit: ["Must be a valid boolean."] }],
      [{ is_active: null }, { is_active: taken }],
      [{ dwell_threshold_seconds: 0 }, { dwell_threshold_seconds: [expect.stringContaining("equal to 1.")] }],
      [{ dwell_threshold_seconds: 86_401 }, { dwell_threshold_seconds: [expect.stringContaining("86400")] }],
      [{ dwell_threshold_seconds: 1.5 }, { dwell_threshold_seconds: ["A valid integer is required."] }],
      [
        { trigger_on_dwell: true },
        { non_field_errors: ["dwell_threshold_seconds is required when trigger_on_dwell is true."] },
      ],
      [{ scope: "group" }, { scope: ['"group" is not available to partners.'] }],
      [{ group: newUuid() }, { scope: ['"group" is not available to partners.'] }],
      [{ scope: "planet" }, { scope: ['"planet" is not a valid choice.'] }],
      [{ scope: null }, { scope: taken }],
      [{ scope: "user" }, { user: ["This field is required when scope is user."] }],
      [{ scope: "user", user: "x" }, { user: ["Must be a valid UUID."] }],
      [{ scope: "user", user: newUuid() }, { user: ["User not found in this organization."] }],
      [{ user: newUuid() }, { user: ["This field is only possible when scope is user."] }],
      [{ id: newUuid() }, { id: fixed }],
      [{ group_id: newUuid() }, { group_id: fixed }],
      [{ user_id: newUuid() }, { user_id: fixed }],
      [{ devices: [{ uid: "490154203237518", name: "" }] }, { devices: fixed }],
      [{ created_at: "2020-01-01T00:00:00Z" }, { created_at: fixed }],
    ])("refuses %j", async (fields, errors) => {
      expect(await errorsOf(fields)).toEqual(errors);
    });

    it("tells of several fields at once, and takes back a record with null for what it cannot know", async () => {
      expect(await errorsOf({ name: "", radius: -1, scope: "group" })).toEqual({
        name: expect.any(Array),
        radius: expect.any(Array),
        scope: ['"group" is not available to partners.'],
      });
      expect((await post({ id: null, group: null, user: null, devices: [], created_at: null })).status).toBe(201);
    });

    it.each([
      ["no object", "always", { schedule: ["Expected an object."] }],
      ["no windows", {}, { "schedule.windows": ["This field is required."] }],
      ["none of them", { windows: [] }, { "schedule.windows": ["Ensure this field has at least 1 elements."] }],
      ["51 windows", { windows: Array(51).fill(window) }, { "schedule.windows": [expect.stringContaining("50")] }],
      ["no start", { windows: [{ days: [1], end: "18:00" }] }, { "schedule.windows.0.start": [expect.any(String)] }],
      [
        "bad times",
        { windows: [window, { days: [1], start: "24:00", end: "8:00" }] },
        {
          "schedule.windows.1.start": ["Expected a time as HH:MM."],
          "schedule.windows.1.end": ["Expected a time as HH:MM, or 24:00."],
        },
      ],
      [
        "a minute 60",
        { windows: [{ days: [1], start: "07:60", end: "08:00" }] },
        { "schedule.windows.0.start": [expect.any(String)] },
      ],
      ["no day", { windows: [{ ...window, days: [] }] }, { "schedule.windows.0.days": [expect.any(String)] }],
      ["a day twice", { windows: [{ ...window, days: [1, 1] }] }, { "schedule.windows.0.days": [expect.any(String)] }],
      ["day 8", { windows: [{ ...window, days: [8] }] }, { "schedule.windows.0.days.0": [expect.any(String)] }],
      ["day as text", { windows: [{ ...window, days: ["1"] }] }, { "schedule.windows.0.days.0": [expect.any(String)] }],
      [
        "no length",
        { windows: [{ days: [1], start: "08:00", end: "08:00" }] },
        { "schedule.windows.0.end": [expect.stringContaining("differ")] },
      ],
      [
        "a zone that is none",
        { timezone: "Mars/Olympus", windows: [window] },
        { "schedule.timezone": ['"Mars/Olympus" is not a valid time zone.'] },
      ],
      ["a zone null", { timezone: null, windows: [window] }, { "schedule.timezone": taken }],
    ])("refuses a schedule with %s", async (_name, schedule, errors) => {
      expect(await errorsOf({ schedule })).toEqual(errors);
    });

    it("gives a schedule the time zone of the organization, and keeps windows over midnight", async () => {
      const night = { days: [5], start: "22:00", end: "06:00" };
      const { body } = await post({ schedule: { windows: [{ ...night, note: "x" }] } });
      expect(body.schedule).toEqual({ timezone: "Europe/Rome", windows: [night] });
    });

    it("makes one for a user of the organization", async () => {
      const { status, body } = await post({ scope: "user", user: user.toUpperCase(), user_id: user });
      expect([status, body.scope, body.user_id]).toEqual([201, "user", user]);
      expect(body).not.toHaveProperty("user");
      const gone = await makeMember(api, organization);
      await closeMembership(api, organization, gone.id);
      expect(await errorsOf({ scope: "user", user: gone.id })).toEqual({
        user: ["User not found in this organization."],
      });
    });

    it("makes one for the organization only with the feature", async () => {
      const refused = await post({ scope: "org" });
      expect([refused.status, refused.body.code, refused.body.feature]).toEqual([
        403,
        "feature_not_enabled",
        "geofence_scoping",
      ]);
      expect(await errorsOf({ scope: "org", radius: 0 })).toHaveProperty("radius");
      const { status, body } = await postFence(api, scoping, { scope: "org" });
      expect([status, body.scope]).toEqual([201, "org"]);
    });

    it("answers a repeated Idempotency-Key once, and stores no refusal of a feature", async () => {
      const headers = { "Idempotency-Key": newUuid() };
      const send = (body: object) => api.call("POST", "/api/v1/geofences/", { token, body, headers });
      expect((await send({ ...home, scope: "org" })).status).toBe(403);
      const first = await send({ ...home, name: "Once" });
      const again = await send({ ...home, name: "Once" });
      expect([again.status, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.location).toBe(first.headers.location);
      expect((await send({ ...home, name: "Twice" })).body.code).toBe("idempotency_key_reuse");
      const { body } = await api.call("GET", "/api/v1/geofences/?search=once", { token });
      expect(body.count).toBe(1);
    });
  });

  describe("changing", () => {
    it("touches by PATCH only what is sent", async () => {
      const id = await makeFence(api, token, { description: "x", is_active: false });
      const before = await read(id);
      clock.advanceMs(1000);
      const { status, body } = await change("PATCH", id, { name: "Office", center: { lat: 1, lng: 2, alt: 3 } });
      expect(status).toBe(200);
      expect(body).toEqual({
        ...before,
        name: "Office",
        center: { lat: 1, lng: 2 },
        updated_at: clock.now().toISOString(),
      });
      expect(await read(id)).toEqual(body);
    });

    it("accepts a record that was read, by PATCH and by PUT, and changes nothing", async () => {
      const { uid } = await makeDevice(api, organization);
      const id = await makeFence(api, token, { schedule: { windows: [window] } });
      await link(api, token, id, [uid]);
      const before = await read(id);
      const entries = (await auditOf(api, id)).length;
      clock.advanceMs(1000);
      for (const method of ["PATCH", "PUT"] as const) {
        const { status, body } = await change(method, id, { ...before, device_count: 7, group: null, user: null });
        expect([status, body]).toEqual([200, before]);
      }
      expect(await auditOf(api, id)).toHaveLength(entries);
    });

    it("returns by PUT to the defaults of what is left out, but keeps scope, user and devices", async () => {
      const fields = {
        description: "x",
        trigger_on_enter: false,
        trigger_on_exit: false,
        trigger_on_dwell: true,
        dwell_threshold_seconds: 60,
        schedule: { windows: [window] },
        is_active: false,
      };
      const id = await makeFence(api, token, { ...fields, scope: "user", user });
      const { status, body } = await change("PUT", id, { ...home, name: "New" });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        name: "New",
        description: "",
        trigger_on_enter: true,
        trigger_on_exit: true,
        trigger_on_dwell: false,
        dwell_threshold_seconds: null,
        schedule: null,
        is_active: true,
        scope: "user",
        user_id: user,
      });
      const missing = await change("PUT", id, { name: "x" });
      expect(Object.keys(missing.body.errors).sort()).toEqual(["center", "radius"]);
    });

    it.each([
      ["scope", { scope: "org" }],
      ["scope", { scope: "group" }],
      ["scope", { scope: null }],
      ["group", { group: newUuid() }],
      ["user", { user: newUuid() }],
      ["group_id", { group_id: newUuid() }],
      ["user_id", { user_id: newUuid() }],
      ["devices", { devices: [{ uid: "490154203237518", name: "x" }] }],
      ["id", { id: newUuid() }],
      ["created_at", { created_at: "2020-01-01T00:00:00Z" }],
    ])("refuses another %s", async (field, body) => {
      const id = await makeFence(api, token);
      for (const method of ["PATCH", "PUT"] as const) {
        const refused = await change(method, id, { ...home, ...body });
        expect([refused.status, refused.body.errors]).toEqual([400, { [field]: fixed }]);
      }
    });

    it("takes the same user and id in another notation, and no null for them", async () => {
      const id = await makeFence(api, token, { scope: "user", user });
      const { created_at } = await read(id);
      const same = { id: id.toUpperCase(), user: user.toUpperCase(), created_at: created_at.replace("Z", "+00:00") };
      expect((await change("PATCH", id, same)).status).toBe(200);
      expect((await change("PATCH", id, { user: null })).body.errors).toEqual({ user: fixed });
    });

    it("checks the dwell rule on the result", async () => {
      const id = await makeFence(api, token);
      const message = { non_field_errors: ["dwell_threshold_seconds is required when trigger_on_dwell is true."] };
      expect((await change("PATCH", id, { trigger_on_dwell: true })).body.errors).toEqual(message);
      expect((await change("PATCH", id, { dwell_threshold_seconds: 60 })).status).toBe(200);
      expect((await change("PATCH", id, { trigger_on_dwell: true })).body.trigger_on_dwell).toBe(true);
      expect((await change("PATCH", id, { dwell_threshold_seconds: null })).body.errors).toEqual(message);
      const off = { trigger_on_dwell: false, dwell_threshold_seconds: null };
      expect((await change("PATCH", id, off)).body).toMatchObject(off);
      expect((await change("PUT", id, { ...home, trigger_on_dwell: true })).body.errors).toEqual(message);
    });

    it.each([
      [{ name: null }, "name"],
      [{ center: { lat: 1 } }, "center.lng"],
      [{ radius: 50_001 }, "radius"],
      [{ schedule: { windows: [{ ...window, end: "x" }] } }, "schedule.windows.0.end"],
      [{ schedule: { timezone: "nowhere", windows: [window] } }, "schedule.timezone"],
      [{ fence_type: "polygon" }, "fence_type"],
      [{ is_active: "yes" }, "is_active"],
    ])("refuses %j by PATCH", async (body, field) => {
      const refused = await change("PATCH", await makeFence(api, token), body);
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, [field]]);
    });

    it("forgets the sides of devices when center or radius change, and when it is active again", async () => {
      const id = await makeFence(api, token);
      const revision = async () =>
        (await api.db.one<{ revision: number }>`select shape_revision as revision from geofences where id = ${id}`)
          .revision;
      const steps: [object, number][] = [
        [{ name: "x", trigger_on_exit: false, schedule: { windows: [window] } }, 1],
        [{ radius: 151 }, 2],
        [{ center: { lat: 1, lng: 1 } }, 3],
        [{ is_active: false }, 3],
        [{ is_active: true }, 4],
        [{ is_active: true, radius: 151 }, 4],
      ];
      for (const [body, expected] of steps) {
        await change("PATCH", id, body);
        expect(await revision()).toBe(expected);
      }
    });
  });

  it("deletes softly: the fence is gone for every call", async () => {
    const id = await makeFence(api, token);
    expect((await api.call("DELETE", `/api/v1/geofences/${id}/`, { token })).status).toBe(204);
    const calls = [
      ["GET", ""],
      ["DELETE", ""],
      ["PATCH", ""],
      ["PUT", ""],
      ["POST", "devices/"],
      ["DELETE", "devices/490154203237518/"],
    ] as const;
    for (const [method, path] of calls) {
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      const answer = await api.call(method, `/api/v1/geofences/${id}/${path}`, { token, body });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
    const row = await api.db.one`select deleted_at from geofences where id = ${id}`;
    expect(row.deleted_at).toEqual(clock.now());
  });

  it("writes an audit entry for each change", async () => {
    const id = await makeFence(api, token, { name: "Audited", radius: 100 });
    await change("PATCH", id, { radius: 150, schedule: { windows: [window] } });
    await change("PATCH", id, { radius: 150 });
    await api.call("DELETE", `/api/v1/geofences/${id}/`, { token });
    const entries = await auditOf(api, id);
    expect(
      entries.map(({ action, content_type, actor_type, object_repr }) => [
        action,
        content_type,
        actor_type,
        object_repr,
      ]),
    ).toEqual([
      [0, 6, "partners", "Audited"],
      [1, 6, "partners", "Audited"],
      [2, 6, "partners", "Audited"],
    ]);
    expect(entries[0]?.changes).toMatchObject({
      name: [null, "Audited"],
      center: [null, home.center],
      scope: [null, "device"],
    });
    expect(entries[1]?.changes).toEqual({
      radius: [100, 150],
      schedule: [null, { timezone: "Europe/Rome", windows: [window] }],
    });
    expect(entries[2]?.changes).toMatchObject({ radius: [150, null] });
    const { body } = await api.call("GET", "/api/v1/audit-log/?model_name=geofence&action=1&search=audited", { token });
    expect(body.results[0].changes_summary).toMatch(/^radius: 100 → 150; schedule: null → /);
  });
});
