import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { baseUrl, type TestApi } from "../support/api.ts";
import { closeMembership, makeMember, nobodysId } from "../support/fixtures.ts";
import { home, postFence } from "../support/rules.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type TestOrganization } from "../support/world.ts";

const window = { days: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" };
const fixed = ["This field cannot be changed."];
const taken = ["This field may not be null."];

describe("a new geofence", () => {
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
  const read = async (id: string) => (await api.call("GET", `/api/v1/geofences/${id}/`, { token })).body;

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock }));
    scoping = (await makeIntegration(api, await makeOrganization(api, { features: ["geofence_scoping"] }))).token;
    user = (await makeMember(api, organization)).id;
  });
  afterAll(() => api.close());

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
      radius: 1,
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
    [{ radius: 0.99 }, { radius: ["Ensure this value is greater than or equal to 1."] }],
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
    [{ group: nobodysId }, { scope: ['"group" is not available to partners.'] }],
    [{ scope: "planet" }, { scope: ['"planet" is not a valid choice.'] }],
    [{ scope: null }, { scope: taken }],
    [{ scope: "user" }, { user: ["This field is required when scope is user."] }],
    [{ scope: "user", user: "x" }, { user: ["Must be a valid UUID."] }],
    [{ scope: "user", user: nobodysId }, { user: ["User not found in this organization."] }],
    [{ user: nobodysId }, { user: ["This field is only allowed when scope is user."] }],
    [{ id: nobodysId }, { id: fixed }],
    [{ group_id: nobodysId }, { group_id: fixed }],
    [{ user_id: nobodysId }, { user_id: fixed }],
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
    const closed = await makeMember(api, organization);
    await closeMembership(api, organization, closed.id);
    expect(await errorsOf({ scope: "user", user: closed.id })).toEqual({
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
