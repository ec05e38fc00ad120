import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { auditOf, makeDevice, makeMember } from "../support/fixtures.ts";
import { home, link, makeFence } from "../support/rules.ts";
import { openPartnerApi, type TestOrganization } from "../support/world.ts";

const window = { days: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" };
const fixed = ["This field cannot be changed."];

describe("a geofence that is there", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let user: string;
  const change = (method: "PUT" | "PATCH", id: string, body: unknown) =>
    api.call(method, `/api/v1/geofences/${id}/`, { token, body });
  const read = async (id: string) => (await api.call("GET", `/api/v1/geofences/${id}/`, { token })).body;

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock }));
    user = (await makeMember(api, organization)).id;
  });
  afterAll(() => api.close());

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

    it("resets by PUT what is omitted, but keeps scope, user and devices", async () => {
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
      [{ radius: 0.9 }, "radius"],
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

  it("deletes softly: no call finds the fence afterwards", async () => {
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
