import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { TestAnswer, TestApi } from "../support/api.ts";
import { assign, imeis, lastAudit, register, setState } from "../support/devices.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("registering devices", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let otherToken: string;
  let uid: string;
  const nextImei = imeis();
  const remove = (deviceUid: string, as = token) => api.call("DELETE", `/api/v1/devices/${deviceUid}/`, { token: as });
  const read = (deviceUid: string, as = token) => api.call("GET", `/api/v1/devices/${deviceUid}/`, { token: as });
  const statuses = (answers: readonly TestAnswer[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
    otherToken = (await makeIntegration(api, await makeOrganization(api))).token;
  });
  beforeEach(() => {
    uid = nextImei();
  });
  afterAll(() => api.close());

  describe("the same IMEI again", () => {
    it("updates the fields sent and keeps the others", async () => {
      const { body: first } = await register(api, token, uid, { name: "A", tags: ["x"] });
      const again = await register(api, token, uid, { device_model_slug: undefined, name: "B" });
      expect(again.status).toBe(200);
      expect(again.body).toEqual({ ...first, name: "B", updated_at: again.body.updated_at });
    });

    it("is refused while another organization has it, whatever else is sent, and says nothing of it", async () => {
      await register(api, token, uid, { name: "secret" });
      for (const fields of [{}, { device_model_slug: undefined }, { terminal_id: "X1" }]) {
        const answer = await register(api, otherToken, uid, fields);
        expect(answer.status).toBe(409);
        expect(answer.body).toEqual({
          code: "imei_conflict",
          detail: "A device with this IMEI is already registered with another organization.",
          request_id: expect.any(String),
        });
      }
      expect((await read(uid, otherToken)).status).toBe(404);
    });
  });

  describe("deleting", () => {
    it("hides the device and ends its assignments", async () => {
      const person = await makePerson(api, organization, "USER");
      await register(api, token, uid);
      await assign(api, organization.id, uid, person.id);
      const answer = await remove(uid);
      expect([answer.status, answer.text]).toEqual([204, ""]);
      for (const suffix of ["", "capabilities/", "config/"]) {
        expect((await api.call("GET", `/api/v1/devices/${uid}/${suffix}`, { token })).status).toBe(404);
      }
      expect((await api.call("PATCH", `/api/v1/devices/${uid}/`, { token, body: { name: 5 } })).status).toBe(404);
      expect((await remove(uid)).status).toBe(404);
      const list = await api.call("GET", `/api/v1/devices/?search=${uid}`, { token });
      expect(list.body.count).toBe(0);
      const open = await api.db.many`select id from assignments where user_id = ${person.id} and is_active`;
      expect(open).toEqual([]);
    });

    it("lets the organization take it back as it was", async () => {
      const { body: first } = await register(api, token, uid, { name: "A", metadata: { a: 1 }, terminal_id: "K7" });
      await setState(api, organization.id, uid, { isOnline: true, lastStatus: { bat: { value: 5, ts: null } } });
      await remove(uid);
      const back = await register(api, token, uid, { device_model_slug: undefined, name: "B" });
      expect(back.status).toBe(200);
      expect(back.body).toMatchObject({ id: first.id, name: "B", metadata: { a: 1 }, terminal_id: "K7" });
      expect(back.body).toMatchObject({ deleted_at: null, is_online: false, last_status: { bat: { value: 5 } } });
      expect(back.body.created_at).toBe(first.created_at);
      const entry = await lastAudit(api, token, uid);
      expect(entry.action_display).toBe("updated");
      expect(entry.changes).toEqual({ name: ["A", "B"], deleted_at: [expect.any(String), null] });
    });

    it("is taken back without its model, also when another call is just doing that", async () => {
      const { body: first } = await register(api, token, uid);
      await remove(uid);
      let second: Promise<TestAnswer> | undefined;
      await api.db.transaction(async (tx) => {
        await tx.run`update devices set deleted_at = null where id = ${first.id}`;
        second = api.call("POST", "/api/v1/devices/", { token, body: { uid } });
        const isWaiting = () => api.db.maybeOne`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        await vi.waitUntil(isWaiting, { timeout: 5000, interval: 10 });
      });
      const answer = await second;
      expect([answer?.status, answer?.body.id]).toEqual([200, first.id]);
    });

    it("frees the IMEI for another organization, which gets a device of its own", async () => {
      const { body: first } = await register(api, token, uid, { name: "A" });
      await remove(uid);
      const other = await register(api, otherToken, uid);
      expect(other.status).toBe(201);
      expect(other.body).toMatchObject({ name: "" });
      expect(other.body.id).not.toBe(first.id);
      expect((await register(api, token, uid)).body.code).toBe("imei_conflict");
      await remove(uid, otherToken);
      const back = await register(api, token, uid);
      expect(back.body).toMatchObject({ id: first.id, name: "A" });
      expect(back.status).toBe(200);
    });
  });

  describe("terminal id", () => {
    it.each([
      ["watch-generic", (imei: string) => imei.slice(4, 14)],
      ["h02-generic", (imei: string) => imei.slice(4, 14)],
      ["jt808-generic", (imei: string) => imei.slice(3)],
      ["iw-generic", () => null],
    ])("has the default of %s", async (device_model_slug, expected) => {
      expect((await register(api, token, uid, { device_model_slug })).body.terminal_id).toBe(expected(uid));
    });

    it("is refused when the default is taken, also by another organization, which is not named", async () => {
      const twin = (digit: number) => `49015421111111${digit}`;
      const device_model_slug = "watch-generic";
      expect((await register(api, otherToken, twin(1), { device_model_slug })).status).toBe(201);
      const second = await register(api, token, twin(2), { device_model_slug });
      expect([second.status, second.body.code]).toEqual([409, "terminal_id_conflict"]);
      expect(second.text).not.toContain("org-");
      expect((await read(twin(2), token)).status).toBe(404);
      const silent = await register(api, token, twin(2), { device_model_slug, terminal_id: null });
      expect([silent.status, silent.body.terminal_id]).toEqual([201, null]);
      expect((await register(api, token, twin(4), { device_model_slug, terminal_id: "5421111112" })).status).toBe(201);
      const ofAnotherProtocol = await register(api, token, twin(3), { device_model_slug: "h02-generic" });
      expect(ofAnotherProtocol.body.terminal_id).toBe("5421111111");
    });

    it("cannot be the default of another live device, even of one that does not use it", async () => {
      const device_model_slug = "watch-generic";
      const victim = "490154288888881";
      const claim = victim.slice(4, 14);
      await register(api, otherToken, victim, { device_model_slug, terminal_id: null });
      const thief = { device_model_slug, terminal_id: claim };
      expect((await register(api, token, uid, thief)).body.code).toBe("terminal_id_conflict");
      await register(api, token, uid, { device_model_slug });
      const patched = await api.call("PATCH", `/api/v1/devices/${uid}/`, { token, body: { terminal_id: claim } });
      expect(patched.body.code).toBe("terminal_id_conflict");
      const path = `/api/v1/devices/${victim}/`;
      const own = await api.call("PATCH", path, { token: otherToken, body: { terminal_id: claim } });
      expect(own.body.terminal_id).toBe(claim);
    });

    it("is refused when a given value is taken in the protocol, and free again after a delete", async () => {
      const first = nextImei();
      await register(api, token, first, { terminal_id: "Q1" });
      const taken = await register(api, otherToken, uid, { terminal_id: "Q1" });
      expect([taken.status, taken.body.code]).toEqual([409, "terminal_id_conflict"]);
      expect((await read(uid, otherToken)).status).toBe(404);
      const elsewhere = await register(api, token, nextImei(), {
        device_model_slug: "gt06-generic",
        terminal_id: "Q1",
      });
      expect(elsewhere.status).toBe(201);
      for (const method of ["PATCH", "PUT"]) {
        const body = { device_model_slug: "iw-h10", terminal_id: "Q1" };
        const path = `/api/v1/devices/${elsewhere.body.uid}/`;
        expect((await api.call(method, path, { token, body })).body.code).toBe("terminal_id_conflict");
      }
      await remove(first);
      expect((await register(api, otherToken, uid, { terminal_id: "Q1" })).status).toBe(201);
      expect((await register(api, token, first)).body.code).toBe("terminal_id_conflict");
      expect((await register(api, token, first, { terminal_id: "Q2" })).body.terminal_id).toBe("Q2");
    });

    it("ignores leading zeros where the protocol does", async () => {
      const device_model_slug = "jt808-generic";
      await register(api, token, uid, { device_model_slug, terminal_id: "00777" });
      const answer = await register(api, token, nextImei(), { device_model_slug, terminal_id: "777" });
      expect(answer.body.code).toBe("terminal_id_conflict");
    });

    it("is generated again when the protocol changes", async () => {
      await register(api, token, uid);
      const patch = (body: object) => api.call("PATCH", `/api/v1/devices/${uid}/`, { token, body });
      expect((await patch({ device_model_slug: "jt808-generic" })).body.terminal_id).toBe(uid.slice(3));
      expect((await patch({ device_model_slug: "iw-h10" })).body.terminal_id).toBeNull();
      await patch({ terminal_id: "OWN1" });
      expect((await patch({ device_model_slug: "jt808-generic" })).body.terminal_id).toBe("OWN1");
      expect((await patch({ terminal_id: null })).body.terminal_id).toBeNull();
      expect((await patch({ name: "A" })).body.terminal_id).toBeNull();
    });
  });

  describe("fifty calls at once", () => {
    const fifty = <T>(make: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 50 }, (_, i) => make(i)));

    it("make one device in one organization", async () => {
      const answers = await fifty((i) => register(api, token, uid, { name: `n${i}` }));
      expect(statuses(answers)).toEqual({ 200: 49, 201: 1 });
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      const rows = await api.db.many`select id from devices where uid = ${uid}`;
      expect(rows).toHaveLength(1);
      expect((await lastAudit(api, token, uid)).total).toBe(50);
    });

    it("make one device of one of two organizations", async () => {
      const answers = await fifty((i) => register(api, i % 2 ? token : otherToken, uid));
      expect(statuses(answers)).toEqual({ 200: 24, 201: 1, 409: 25 });
      const rows = await api.db.many`select id from devices where uid = ${uid}`;
      expect(rows).toHaveLength(1);
    });

    it("take a deleted device back or away, but not both", async () => {
      const { body: first } = await register(api, token, uid);
      await remove(uid);
      const answers = await fifty((i) => register(api, i % 2 ? token : otherToken, uid));
      const isBack = answers.filter(({ status }) => status === 200 || status === 201)[0]?.body.id === first.id;
      expect(statuses(answers)).toEqual(isBack ? { 200: 25, 409: 25 } : { 200: 24, 201: 1, 409: 25 });
    });

    it("leave one state while it is deleted and registered", async () => {
      await register(api, token, uid);
      const answers = await fifty((i) => (i % 2 ? register(api, token, uid) : remove(uid)));
      expect(answers.every(({ status }) => [200, 204, 404].includes(status))).toBe(true);
      const rows = await api.db.many`select id from devices where uid = ${uid}`;
      expect(rows).toHaveLength(1);
    });

    it("give one terminal id to one device", async () => {
      const uids = Array.from({ length: 50 }, nextImei);
      const given = await fifty((i) => register(api, token, uids[i]!, { terminal_id: "RACE" }));
      expect(statuses(given)).toEqual({ 201: 1, 409: 49 });
      // Digits 5 to 14 of all these are the same: the default is one.
      const twins = await fifty((i) =>
        register(api, token, `${String(1000 + i)}54277777771`, { device_model_slug: "watch-generic" }),
      );
      expect(statuses(twins)).toEqual({ 201: 1, 409: 49 });
    });
  });

  it("answers a repeated Idempotency-Key with the first answer", async () => {
    const call = (name: string) =>
      api.call("POST", "/api/v1/devices/", {
        token,
        body: { uid, device_model_slug: "iw-h10", name },
        headers: { "idempotency-key": `key-${uid}` },
      });
    const first = await call("A");
    await api.call("PATCH", `/api/v1/devices/${uid}/`, { token, body: { name: "B" } });
    const second = await call("A");
    expect([second.status, second.body, second.headers["idempotency-replayed"]]).toEqual([201, first.body, "true"]);
    expect((await call("C")).status).toBe(422);
  });
});
