import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import { imeis, lastAudit, register, setState } from "../support/devices.ts";
import { openPartnerApi, type TestOrganization } from "../support/world.ts";

describe("devices", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  const nextImei = imeis();
  const path = (uid: string) => `/api/v1/devices/${uid}/`;
  const get = async (uid: string) => (await api.call("GET", path(uid), { token })).body;
  const put = (uid: string, body: unknown) => api.call("PUT", path(uid), { token, body });
  const patch = (uid: string, body: unknown) => api.call("PATCH", path(uid), { token, body });
  const make = async (fields: object = {}) => (await register(api, token, nextImei(), fields)).body;

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
  });
  afterAll(() => api.close());

  describe("record", () => {
    it("has the defaults on a fresh device", async () => {
      const uid = nextImei();
      const answer = await register(api, token, uid);
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        uid,
        imei: uid,
        name: "",
        device_model_slug: "iw-h10",
        device_model_name: "H10 health watch",
        protocol_slug: "iw",
        device_type: "watch",
        terminal_id: null,
        phone_number: null,
        iccid: null,
        firmware_version: null,
        timezone: "Europe/Rome",
        tags: [],
        metadata: {},
        is_online: false,
        last_seen_at: null,
        status_changed_at: null,
        last_status: {},
        last_location: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: answer.body.created_at,
        deleted_at: null,
      });
      expect(await get(uid)).toEqual(answer.body);
    });

    it("shows what the device has reported, without keys outside the allow-list", async () => {
      const { uid } = await make();
      const bat = { value: 81, ts: "2026-03-01T08:15:29.900Z" };
      const lastLocation = { lat: 41.9, lng: 12.49, accuracy_m: 12, source: "gps", ts: "2026-03-01T08:15:24.000Z" };
      await setState(api, organization.id, uid, {
        isOnline: true,
        lastSeenAt: "2026-03-01T08:15:29.900Z",
        statusChangedAt: "2026-03-01T06:02:11Z",
        firmwareVersion: "2408072134",
        lastStatus: { bat, steps: { value: 0, ts: null }, secret: { value: 1, ts: null } },
        lastLocation,
      });
      expect(await get(uid)).toMatchObject({
        is_online: true,
        last_seen_at: "2026-03-01T08:15:29.900Z",
        status_changed_at: "2026-03-01T06:02:11.000Z",
        firmware_version: "2408072134",
        last_location: lastLocation,
      });
      expect((await get(uid)).last_status).toEqual({ bat, steps: { value: 0, ts: null } });
    });

    it.each(["abc", "12345", "4901542030000001", "%20"])("answers 404 for the IMEI %s", async (uid) => {
      expect((await api.call("GET", path(uid), { token })).status).toBe(404);
    });
  });

  describe("fields", () => {
    const full = {
      name: "Watch 12 – Zimmer Ü",
      phone_number: "+393331234567",
      iccid: "8939012345678901234",
      timezone: "Asia/Tokyo",
      tags: ["ward-3", "pilot"],
      metadata: { external_id: "P-1182", nested: { a: [1, null, "x"] } },
    };

    it("keeps all that is sent", async () => {
      expect(await make(full)).toMatchObject(full);
    });

    it("accepts tags as a comma-separated string, without spaces and duplicates", async () => {
      const { uid, tags } = await make({ tags: " a, b ,,a,c d" });
      expect(tags).toEqual(["a", "b", "c d"]);
      expect((await patch(uid, { tags: "" })).body.tags).toEqual([]);
    });

    it.each([
      ["uid", { uid: "12345" }],
      ["uid", { uid: 490154203237518 }],
      ["uid", { uid: null }],
      ["device_model_slug", { device_model_slug: "no-such" }],
      ["device_model_slug", { device_model_slug: null }],
      ["name", { name: null }],
      ["name", { name: "x".repeat(101) }],
      ["phone_number", { phone_number: "1".repeat(33) }],
      ["iccid", { iccid: 5 }],
      ["timezone", { timezone: "Mars/Base" }],
      ["timezone", { timezone: "+01:00" }],
      ["timezone", { timezone: null }],
      ["tags", { tags: null }],
      ["tags", { tags: 5 }],
      ["tags", { tags: ["a,b"] }],
      ["tags", { tags: [""] }],
      ["tags", { tags: ["x".repeat(51)] }],
      ["tags", { tags: "x".repeat(51) }],
      ["tags", { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }],
      ["tags", { tags: Array.from({ length: 21 }, (_, i) => `t${i}`).join() }],
      ["metadata", { metadata: null }],
      ["metadata", { metadata: [] }],
      ["metadata", { metadata: { a: "ü".repeat(2045) } }],
      ["metadata.a", { metadata: { a: "\ud800" } }],
      ["name", { name: "a\u0000b" }],
      ["terminal_id", { terminal_id: "a-b" }],
      ["terminal_id", { terminal_id: "1".repeat(21) }],
      ["terminal_id", { terminal_id: "" }],
    ])("refuses a bad %s: %j", async (field, bad) => {
      const answer = await register(api, token, nextImei(), bad);
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe("validation_error");
      expect(Object.keys(answer.body.errors)).toEqual([field]);
    });

    it("takes values up to their limits", async () => {
      const fields = {
        name: "😀".repeat(100),
        phone_number: "1".repeat(32),
        tags: Array.from({ length: 20 }, (_, i) => `${"😀".repeat(48)}${String(i).padStart(2, "0")}`),
        metadata: { a: "ü".repeat(2044) },
        terminal_id: "A".repeat(20),
      };
      expect(await make(fields)).toMatchObject(fields);
    });

    it("needs an IMEI, and a model for a new device", async () => {
      const body = {};
      expect((await api.call("POST", "/api/v1/devices/", { token, body })).body.errors).toEqual({
        uid: ["This field is required."],
      });
      const answer = await register(api, token, nextImei(), { device_model_slug: undefined });
      expect(answer.body.errors).toEqual({ device_model_slug: ["This field is required."] });
    });

    it("ignores unknown fields", async () => {
      const { uid } = await make({ colour: "red", assignments: [] });
      expect((await patch(uid, { colour: "blue" })).status).toBe(200);
    });
  });

  describe("PATCH", () => {
    it("touches only what is sent", async () => {
      const before = await make({ name: "A", tags: ["x"], phone_number: "1" });
      const { status, body } = await patch(before.uid, { name: "B", phone_number: null });
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, name: "B", phone_number: null, updated_at: body.updated_at });
      expect(body.updated_at > before.updated_at).toBe(true);
    });

    it("changes nothing, updated_at included, and makes no entry when it says what is so", async () => {
      const before = await make({ name: "A", metadata: { long_key: 1, b: { d: 1, c: 2 } } });
      const { total } = await lastAudit(api, token, before.uid);
      const { body } = await patch(before.uid, { name: "A", metadata: { b: { c: 2, d: 1 }, long_key: 1 } });
      expect(body).toEqual(before);
      expect((await lastAudit(api, token, before.uid)).total).toBe(total);
    });

    it("tells a name that only looks like an equal id or time", async () => {
      const { uid } = await make({ name: "0d8c2f0e-6a51-4a0c-8f5a-9d1a0c6d7b10" });
      const name = "0D8C2F0E-6A51-4A0C-8F5A-9D1A0C6D7B10";
      expect((await patch(uid, { name })).body.name).toBe(name);
    });

    it("sets the protocol with the model", async () => {
      const { uid } = await make();
      expect((await patch(uid, { device_model_slug: "gt06-generic" })).body).toMatchObject({
        device_model_slug: "gt06-generic",
        protocol_slug: "gt06",
        device_type: "tracker",
      });
    });
  });

  describe("PUT", () => {
    it("resets omitted fields to their defaults", async () => {
      const { uid, id, created_at } = await make({
        name: "A",
        phone_number: "1",
        iccid: "2",
        timezone: "Asia/Tokyo",
        tags: ["x"],
        metadata: { a: 1 },
        terminal_id: "T1",
      });
      const { status, body } = await put(uid, { device_model_slug: "iw-kids" });
      expect(status).toBe(200);
      expect(body).toMatchObject({ id, uid, created_at, name: "", phone_number: null, iccid: null });
      expect(body).toMatchObject({ timezone: "Europe/Rome", tags: [], metadata: {}, terminal_id: null });
      expect(body.device_model_slug).toBe("iw-kids");
    });

    it("needs the model", async () => {
      const { uid } = await make();
      expect((await put(uid, { name: "A" })).body.errors).toEqual({ device_model_slug: ["This field is required."] });
    });
  });

  describe("fields that cannot be written", () => {
    it("takes back a record that was read and edited, while live fields move on", async () => {
      const { uid } = await make({ tags: ["x"] });
      const read = await get(uid);
      await setState(api, organization.id, uid, { isOnline: true, lastSeenAt: "2026-03-01T08:15:29.900Z" });
      await patch(uid, { phone_number: "1" });
      for (const send of [put, patch]) {
        const answer = await send(uid, { ...read, name: "edited" });
        expect(answer.status).toBe(200);
        expect(answer.body).toMatchObject({ name: "edited", tags: ["x"], is_online: true });
      }
    });

    it("takes back a record that was moved to another model", async () => {
      const { uid } = await make();
      const answer = await put(uid, { ...(await get(uid)), device_model_slug: "watch-generic" });
      expect(answer.body).toMatchObject({ protocol_slug: "watch", terminal_id: uid.slice(4, 14) });
    });

    it.each([
      ["id", "0d8c2f0e-6a51-4a0c-8f5a-9d1a0c6d7b10"],
      ["uid", "490154203237518"],
      ["imei", "490154203237518"],
      ["device_model_name", "Other"],
      ["protocol_slug", "gt06"],
      ["device_type", "phone"],
      ["created_at", "2026-03-01T08:15:29.900Z"],
      ["deleted_at", "2026-03-01T08:15:29.900Z"],
    ])("refuses another %s", async (field, value) => {
      const { uid } = await make();
      for (const answer of [
        await patch(uid, { [field]: value }),
        await put(uid, { device_model_slug: "iw-h10", [field]: value }),
        ...(field === "uid" ? [] : [await register(api, token, uid, { [field]: value })]),
        ...(field === "uid" ? [] : [await register(api, token, nextImei(), { [field]: value })]),
      ]) {
        expect(answer.status).toBe(400);
        expect(answer.body.errors).toEqual({ [field]: ["This field cannot be changed."] });
      }
    });

    it("ignores live fields whatever they say", async () => {
      const { uid } = await make();
      const live = {
        is_online: "maybe",
        last_status: 5,
        last_seen_at: null,
        firmware_version: "x",
        updated_at: "never",
      };
      expect((await patch(uid, { ...live, status_changed_at: 1, last_location: { lat: 1 } })).status).toBe(200);
      expect((await get(uid)).is_online).toBe(false);
    });

    it("on a create ignores null and accepts what the record will have", async () => {
      const uid = nextImei();
      const nulls = { id: null, created_at: null, deleted_at: null, device_type: null };
      const answer = await register(api, token, uid, { ...nulls, imei: uid, protocol_slug: "iw" });
      expect(answer.status).toBe(201);
      expect((await patch(uid, { device_type: null })).status).toBe(400);
    });
  });

  describe("audit", () => {
    it("has an entry for each write, with its values", async () => {
      const { uid, id } = await make({ name: "A", tags: ["x"] });
      const made = await lastAudit(api, token, uid);
      expect(made).toMatchObject({ action_display: "created", object_pk: id, object_repr: uid, total: 1 });
      expect(made.changes).toMatchObject({ uid: [null, uid], name: [null, "A"], tags: [null, ["x"]] });
      await patch(uid, { name: "B", device_model_slug: "gt06-generic" });
      const updated = await lastAudit(api, token, uid);
      expect(updated).toMatchObject({ action_display: "updated", total: 2 });
      expect(updated.changes).toEqual({
        name: ["A", "B"],
        device_model_slug: ["iw-h10", "gt06-generic"],
        protocol_slug: ["iw", "gt06"],
      });
      await api.call("DELETE", path(uid), { token });
      const deleted = await lastAudit(api, token, uid);
      expect(deleted).toMatchObject({ action_display: "deleted", total: 3 });
      expect(deleted.changes).toMatchObject({ name: ["B", null], uid: [uid, null] });
    });
  });
});
