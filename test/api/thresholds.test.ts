import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { baseUrl, type TestApi } from "../support/api.ts";
import {
  auditOf,
  closeMembership,
  deleteDevice,
  makeDevice,
  makeMember,
  nobodysId,
  type TestDevice,
} from "../support/fixtures.ts";
import { makeThreshold, postThreshold } from "../support/rules.ts";
import { openPartnerApi, type TestOrganization } from "../support/world.ts";

const twice = { non_field_errors: ["A threshold for this metric and scope already exists."] };
const taken = ["This field may not be null."];
const fixed = ["This field cannot be changed."];

describe("alert thresholds", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let device: TestDevice;
  let user: string;
  const post = (fields: object) => postThreshold(api, token, fields);
  const patch = (id: string, body: unknown) => api.call("PATCH", `/api/v1/alert-thresholds/${id}/`, { token, body });
  const read = async (id: string) => (await api.call("GET", `/api/v1/alert-thresholds/${id}/`, { token })).body;
  /** A row of a device of its own, so that no other test has the same target. */
  const make = async (fields: object = {}) => {
    const { uid } = await makeDevice(api, organization);
    return makeThreshold(api, token, { scope: "Device", device: uid, ...fields });
  };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock }));
    device = await makeDevice(api, organization);
    user = (await makeMember(api, organization)).id;
  });
  afterAll(() => api.close());

  describe("creating", () => {
    it("fills in what is left out", async () => {
      const { status, body, headers } = await post({ scope: "Device", device: device.uid, low: 45 });
      expect(status).toBe(201);
      expect(headers.location).toBe(`${baseUrl}/api/v1/alert-thresholds/${body.id}/`);
      expect(body).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        scope: "Device",
        scope_value: 15,
        user: null,
        device: device.uid,
        metric_key: "hr",
        low: 45,
        high: 120,
        severity: "Warning",
        override_mode: "Replace",
        is_active: true,
        min_duration_seconds: 0,
        clear_margin: 0,
        cooldown_seconds: 300,
        created_at: "2026-03-01T08:00:00.000Z",
        updated_at: "2026-03-01T08:00:00.000Z",
      });
      expect(await read(body.id)).toEqual(body);
    });

    it.each([
      ["numbers", { scope: 20, severity: 30, override_mode: 30 }],
      ["labels", { scope: "User", severity: "Critical", override_mode: "Disable" }],
      ["labels in any case", { scope: "uSER", severity: "CRITICAL", override_mode: "disable" }],
    ])("takes %s", async (_name, fields) => {
      const { id } = await makeMember(api, organization);
      const { status, body } = await post({
        ...fields,
        user: id.toUpperCase(),
        scope_value: 99,
        unknown: 1,
        updated_at: "x",
        min_duration_seconds: 86_400,
        clear_margin: 2.5,
        cooldown_seconds: 0,
        is_active: false,
        low: null,
        high: -1.25,
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        scope: "User",
        scope_value: 20,
        user: id,
        device: null,
        severity: "Critical",
        override_mode: "Disable",
        is_active: false,
        min_duration_seconds: 86_400,
        clear_margin: 2.5,
        cooldown_seconds: 0,
        low: null,
        high: -1.25,
      });
    });

    it("takes the device by its IMEI or its id, and shows the IMEI", async () => {
      const other = await makeDevice(api, organization);
      const { body } = await post({ scope: 15, device: other.id.toUpperCase() });
      expect(body.device).toBe(other.uid);
      expect((await post({ scope: 15, device: other.uid })).body.errors).toEqual(twice);
    });

    it.each([
      [{ scope: undefined }, { scope: ["This field is required."] }],
      [{ scope: null }, { scope: taken }],
      [{ scope: 11 }, { scope: ['"11" is not a valid choice.'] }],
      [{ scope: "10" }, { scope: ['"10" is not a valid choice.'] }],
      [{ scope: "Group" }, { scope: ['"Group" is not a valid choice.'] }],
      [{ scope: true }, { scope: ["Expected a label or its number."] }],
      [{ severity: null }, { severity: taken }],
      [{ severity: "High" }, { severity: ['"High" is not a valid choice.'] }],
      [{ severity: 15 }, { severity: ['"15" is not a valid choice.'] }],
      [{ override_mode: null }, { override_mode: taken }],
      [{ override_mode: "Off" }, { override_mode: ['"Off" is not a valid choice.'] }],
      [{ metric_key: "x" }, { metric_key: ['"x" is not a valid choice.'] }],
      [{ metric_key: "HR" }, { metric_key: ['"HR" is not a valid choice.'] }],
      [{ metric_key: undefined }, { metric_key: ["This field is required."] }],
      [{ high: null }, { non_field_errors: ["At least one of low, high is required."] }],
      [{ override_mode: "Disable", high: null }, { non_field_errors: ["At least one of low, high is required."] }],
      [{ low: 121 }, { low: ["low must be less than or equal to high."] }],
      [{ low: "45" }, { low: ["A valid number is required."] }],
      [{ high: true }, { high: ["A valid number is required."] }],
      [{ is_active: 1 }, { is_active: ["Must be a valid boolean."] }],
      [{ is_active: null }, { is_active: taken }],
      [{ min_duration_seconds: -1 }, { min_duration_seconds: [expect.any(String)] }],
      [{ min_duration_seconds: 1.5 }, { min_duration_seconds: ["A valid integer is required."] }],
      [{ cooldown_seconds: 86_401 }, { cooldown_seconds: [expect.stringContaining("86400")] }],
      [{ cooldown_seconds: null }, { cooldown_seconds: taken }],
      [{ clear_margin: -0.1 }, { clear_margin: ["Ensure this value is greater than or equal to 0."] }],
      [{ id: nobodysId }, { id: fixed }],
      [{ created_at: "2020-01-01T00:00:00Z" }, { created_at: fixed }],
      [{ scope: 15 }, { device: ["This field is required when scope is Device."] }],
      [{ scope: 20 }, { user: ["This field is required when scope is User."] }],
      [{ device: "490154203999999" }, { device: ["This field must be null unless scope is Device."] }],
      [
        { scope: "Device", user: nobodysId },
        {
          user: ["This field must be null unless scope is User."],
          device: ["This field is required when scope is Device."],
        },
      ],
      [
        { user: nobodysId, device: nobodysId },
        { user: [expect.stringContaining("User")], device: [expect.stringContaining("Device")] },
      ],
      [{ scope: 20, user: "x" }, { user: ["Must be a valid UUID."] }],
      [{ scope: 20, user: nobodysId }, { user: ["User not found in this organization."] }],
      [{ scope: 15, device: "490154203999999" }, { device: ["Device not found in this organization."] }],
      [{ scope: 15, device: nobodysId }, { device: ["Device not found in this organization."] }],
      [{ scope: 15, device: "x" }, { device: ["Device not found in this organization."] }],
      [{ scope: 15, device: 5 }, { device: ["Not a valid string."] }],
    ])("refuses %j", async (fields, errors) => {
      const { status, body } = await post({ scope: "Organization", ...fields });
      expect([status, body.code, body.errors]).toEqual([400, "validation_error", errors]);
    });

    it("refuses deleted devices and users", async () => {
      const deleted = await makeDevice(api, organization);
      await deleteDevice(api, deleted);
      for (const named of [deleted.uid, deleted.id]) {
        expect((await post({ scope: 15, device: named })).body.errors).toHaveProperty("device");
      }
      const closed = await makeMember(api, organization);
      await closeMembership(api, organization, closed.id);
      expect((await post({ scope: 20, user: closed.id })).body.errors).toHaveProperty("user");
    });

    it("takes equal bounds, zero among them", async () => {
      const { body } = await post({ scope: 10, metric_key: "steps", low: 0, high: 0 });
      expect([body.low, body.high]).toEqual([0, 0]);
    });

    it("makes one row per metric and target", async () => {
      const other = await makeDevice(api, organization);
      const targets = [{ scope: 10 }, { scope: 15, device: other.uid }, { scope: 20, user }];
      for (const target of targets) {
        expect((await post({ ...target, metric_key: "spo2" })).status).toBe(201);
        const again = await post({ ...target, metric_key: "spo2", severity: 10, is_active: false });
        expect([again.status, again.body.errors]).toEqual([400, twice]);
        expect((await post({ ...target, metric_key: "glucose" })).status).toBe(201);
      }
    });

    it("makes exactly one of parallel ones, and refuses the others as documented", async () => {
      const { uid } = await makeDevice(api, organization);
      const targets = [{ scope: 10 }, { scope: 15, device: uid }, { scope: 20, user }];
      for (const target of targets) {
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => post({ ...target, metric_key: "gsm_signal" })),
        );
        const [made, refused] = [201, 400].map((status) => answers.filter((answer) => answer.status === status));
        expect([made?.length, refused?.length]).toEqual([1, 7]);
        for (const { body } of refused ?? []) expect(body.errors).toEqual(twice);
      }
    });

    it("answers a repeated Idempotency-Key once, a refusal too", async () => {
      const { uid } = await makeDevice(api, organization);
      const send = (key: string, body: object) =>
        api.call("POST", "/api/v1/alert-thresholds/", { token, body, headers: { "Idempotency-Key": key } });
      const body = { scope: "Device", device: uid, metric_key: "bat", low: 10 };
      const [key, other] = [newUuid(), newUuid()];
      const first = await send(key, body);
      const again = await send(key, body);
      expect([again.status, again.headers["idempotency-replayed"], again.body]).toEqual([201, "true", first.body]);
      expect((await send(other, body)).body.errors).toEqual(twice);
      await api.call("DELETE", `/api/v1/alert-thresholds/${first.body.id}/`, { token });
      const refused = await send(other, body);
      expect([refused.status, refused.headers["idempotency-replayed"]]).toEqual([400, "true"]);
    });
  });

  describe("changing", () => {
    it("touches only what is sent, and may touch each field", async () => {
      const id = await make({ low: 45 });
      const before = await read(id);
      clock.advanceMs(1000);
      const changes: [object, object][] = [
        [{ low: 50 }, { low: 50 }],
        [{ high: null }, { high: null }],
        [{ severity: 30 }, { severity: "Critical" }],
        [{ override_mode: "merge" }, { override_mode: "Merge" }],
        [{ is_active: false }, { is_active: false }],
        [{ min_duration_seconds: 60 }, { min_duration_seconds: 60 }],
        [{ clear_margin: 1.5 }, { clear_margin: 1.5 }],
        [{ cooldown_seconds: 0 }, { cooldown_seconds: 0 }],
        [{ metric_key: "temp" }, { metric_key: "temp" }],
      ];
      let expected = { ...before, updated_at: clock.now().toISOString() };
      for (const [body, change] of changes) {
        expected = { ...expected, ...change };
        expect((await patch(id, body)).body).toEqual(expected);
      }
      expect(await read(id)).toEqual(expected);
    });

    it("moves a row to another scope when the result keeps the rules", async () => {
      const id = await make({ metric_key: "sbp" });
      expect((await patch(id, { scope: "Organization" })).body.errors).toEqual({
        device: ["This field must be null unless scope is Device."],
      });
      expect((await patch(id, { scope: "User" })).body.errors).toEqual({
        user: ["This field is required when scope is User."],
        device: ["This field must be null unless scope is Device."],
      });
      const moved = await patch(id, { scope: "User", user, device: null });
      expect(moved.body).toMatchObject({ scope: "User", scope_value: 20, user, device: null });
      expect((await patch(id, { scope: 10, user: null })).body).toMatchObject({ scope: "Organization", user: null });
      const back = await patch(id, { scope: 15, device: device.id });
      expect(back.body).toMatchObject({ scope: "Device", device: device.uid });
    });

    it("checks the bounds on the result", async () => {
      const id = await make({ low: 45, high: 120 });
      expect((await patch(id, { low: 130 })).body.errors).toEqual({
        low: ["low must be less than or equal to high."],
      });
      expect((await patch(id, { high: 40 })).body.errors).toHaveProperty("low");
      expect((await patch(id, { low: null, high: null })).body.errors).toHaveProperty("non_field_errors");
      expect((await patch(id, { low: 130, high: 140 })).body).toMatchObject({ low: 130, high: 140 });
    });

    it("refuses the target of another row, also among parallel calls", async () => {
      const other = await makeDevice(api, organization);
      await makeThreshold(api, token, { scope: 15, device: other.uid });
      const id = await make();
      expect((await patch(id, { device: other.uid })).body.errors).toEqual(twice);
      const ids = [await make(), await make(), await make(), await make()];
      const { uid } = await makeDevice(api, organization);
      const answers = await Promise.all(ids.map((each) => patch(each, { device: uid })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    });

    it.each([
      [{ severity: null }, "severity"],
      [{ metric_key: "pulse" }, "metric_key"],
      [{ scope: "x" }, "scope"],
      [{ user: "x" }, "user"],
      [{ device: "490154203999999" }, "device"],
      [{ clear_margin: "0" }, "clear_margin"],
      [{ id: nobodysId }, "id"],
      [{ created_at: "2020-01-01" }, "created_at"],
    ])("refuses %j", async (body, field) => {
      const refused = await patch(await make(), body);
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([400, [field]]);
    });

    it("accepts a record that was read, writes nothing, and counts each change as a revision", async () => {
      const id = await make();
      const row = () => api.db.one`select revision, updated_at from alert_thresholds where id = ${id}`;
      const first = await row();
      const before = await read(id);
      clock.advanceMs(1000);
      const { status, body } = await patch(id, { ...before, scope_value: 99, updated_at: "2020-01-01T00:00:00Z" });
      expect([status, body]).toEqual([200, before]);
      expect(await row()).toEqual(first);
      expect(await auditOf(api, id)).toHaveLength(1);
      await patch(id, { high: 121 });
      expect(await row()).toEqual({ revision: 2, updated_at: clock.now() });
    });

    it("keeps a target that has come to its end, as long as it is not changed", async () => {
      const deleted = await makeDevice(api, organization);
      const id = await makeThreshold(api, token, { scope: 15, device: deleted.uid });
      const closed = await makeMember(api, organization);
      const ofUser = await makeThreshold(api, token, { scope: 20, user: closed.id });
      await deleteDevice(api, deleted);
      await closeMembership(api, organization, closed.id);
      expect((await patch(id, { ...(await read(id)), high: 99 })).body).toMatchObject({
        device: deleted.uid,
        high: 99,
      });
      expect((await patch(ofUser, { ...(await read(ofUser)), high: 99 })).body).toMatchObject({ user: closed.id });
    });
  });

  it("deletes softly, and frees the target", async () => {
    const { uid } = await makeDevice(api, organization);
    const fields = { scope: 15, device: uid };
    const id = await makeThreshold(api, token, fields);
    expect((await api.call("DELETE", `/api/v1/alert-thresholds/${id}/`, { token })).status).toBe(204);
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? {} : undefined;
      const { status } = await api.call(method, `/api/v1/alert-thresholds/${id}/`, { token, body });
      expect(status).toBe(404);
    }
    expect((await post(fields)).status).toBe(201);
    expect(await api.db.one`select deleted_at is not null as gone from alert_thresholds where id = ${id}`).toEqual({
      gone: true,
    });
  });

  it("writes an audit entry for each change", async () => {
    const { uid } = await makeDevice(api, organization);
    const id = await makeThreshold(api, token, { scope: 15, device: uid, metric_key: "dbp" });
    await patch(id, { high: 110, severity: 30 });
    await api.call("DELETE", `/api/v1/alert-thresholds/${id}/`, { token });
    const entries = await auditOf(api, id);
    expect(entries.map(({ action, content_type, object_repr }) => [action, content_type, object_repr])).toEqual([
      [0, 7, "dbp (Device)"],
      [1, 7, "dbp (Device)"],
      [2, 7, "dbp (Device)"],
    ]);
    expect(entries[0]?.changes).toMatchObject({ device: [null, uid], metric_key: [null, "dbp"], high: [null, 120] });
    expect(entries[1]?.changes).toEqual({ high: [120, 110], severity: ["Warning", "Critical"] });
    expect(entries[2]?.changes).toMatchObject({ high: [110, null], scope: ["Device", null] });
  });
});
