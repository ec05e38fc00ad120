import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import { assign, imeis, register, setState } from "../support/devices.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

const location = { lat: 41.9, lng: 12.49, accuracy_m: null, source: "wifi", ts: "2026-03-01T08:15:24.000Z" };

describe("who may do what with devices", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let client: { clientId: string; clientSecret: string; token: string };
  let foreign: string;
  let mine: string;
  let theirs: string;
  const nextImei = imeis();
  const call = (method: string, uid: string, token: string, body?: unknown) =>
    api.call(method, `/api/v1/devices/${uid}/`, { token, body });

  beforeAll(async () => {
    ({ api, organization, integration: client } = await openPartnerApi());
    foreign = (await makeIntegration(api, await makeOrganization(api))).token;
    [mine, theirs] = [nextImei(), nextImei()];
    for (const uid of [mine, theirs]) await register(api, client.token, uid);
    await setState(api, organization.id, mine, { isOnline: true, lastLocation: location });
  });
  afterAll(() => api.close());

  describe("another organization", () => {
    it.each(["", "capabilities/", "config/"])("finds nothing at %s", async (suffix) => {
      const answer = await api.call("GET", `/api/v1/devices/${mine}/${suffix}`, { token: foreign });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    });

    it.each(["PUT", "PATCH", "DELETE"])("cannot %s, and learns nothing from its body", async (method) => {
      const answer = await call(method, mine, foreign, method === "DELETE" ? undefined : { name: 5 });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    });

    it("has its own list", async () => {
      const answer = await api.call("GET", "/api/v1/devices/", { token: foreign });
      expect(answer.body).toMatchObject({ count: 0, results: [] });
    });
  });

  describe("a partner token", () => {
    it.each([
      ["GET", "", "devices:read"],
      ["POST", "", "devices:write"],
      ["GET", "UID/", "devices:read"],
      ["PUT", "UID/", "devices:write"],
      ["PATCH", "UID/", "devices:write"],
      ["DELETE", "UID/", "devices:write"],
      ["GET", "UID/capabilities/", "catalog:read"],
      ["GET", "UID/config/", "devices:read"],
    ])("needs for %s /devices/%s the scope %s", async (method, path, scope) => {
      const other = scope === "devices:read" ? "devices:write" : "devices:read";
      const token = await fetchToken(api, client, other);
      const answer = await api.call(method, `/api/v1/devices/${path.replace("UID", mine)}`, { token });
      expect([answer.status, answer.body.code]).toEqual([403, "insufficient_scope"]);
      expect(answer.body.required_scopes).toEqual([scope]);
    });

    it("sees the last location only with locations:read", async () => {
      const token = await fetchToken(api, client, "devices:read devices:write");
      expect((await call("GET", mine, client.token)).body.last_location).toEqual(location);
      expect((await call("GET", mine, token)).body.last_location).toBeNull();
      expect((await call("PATCH", mine, token, {})).body.last_location).toBeNull();
      const { body } = await api.call("GET", "/api/v1/devices/?is_online=true", { token });
      expect(body.results[0].last_location).toBeNull();
    });
  });

  describe("people", () => {
    it.each(["VIEWER", "USER"] as const)("with role %s see their assigned devices", async (role) => {
      const person = await makePerson(api, organization, role);
      await assign(api, organization.id, mine, person.id, 10);
      expect((await call("GET", mine, person.token)).body.last_location).toEqual(location);
      for (const suffix of ["capabilities/", "config/"]) {
        const path = `/api/v1/devices/${mine}/${suffix}`;
        expect((await api.call("GET", path, { token: person.token })).status).toBe(200);
      }
      expect((await call("GET", theirs, person.token)).status).toBe(404);
      const { body } = await api.call("GET", "/api/v1/devices/", { token: person.token });
      expect(body).toMatchObject({ count: 1, results: [{ uid: mine }] });
    });

    it("no longer see a device once the assignment has ended", async () => {
      const person = await makePerson(api, organization, "USER");
      await assign(api, organization.id, mine, person.id);
      await api.db.run`
        update assignments set is_active = false, unassigned_at = now() where user_id = ${person.id}`;
      expect((await call("GET", mine, person.token)).status).toBe(404);
    });

    it.each(["VIEWER", "USER"] as const)("with role %s write nothing", async (role) => {
      const person = await makePerson(api, organization, role);
      await assign(api, organization.id, mine, person.id, 30);
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        const answer = await call(method, mine, person.token);
        expect([answer.status, answer.body.code]).toEqual([403, "role_not_allowed"]);
      }
      expect((await register(api, person.token, nextImei())).body.code).toBe("role_not_allowed");
      await api.db.run`update assignments set is_active = false, unassigned_at = now() where user_id = ${person.id}`;
    });

    it.each(["ADMIN", "OWNER"] as const)("with role %s see and write all", async (role) => {
      const { token } = await makePerson(api, organization, role);
      const uid = nextImei();
      expect((await register(api, token, uid)).status).toBe(201);
      expect((await call("PATCH", theirs, token, { name: role })).body.name).toBe(role);
      expect((await call("DELETE", uid, token)).status).toBe(204);
      const { body } = await api.call("GET", `/api/v1/audit-log/?search=${uid}`, { token });
      expect(body.results.map((entry: { actor_type: string }) => entry.actor_type)).toEqual(["users", "users"]);
    });
  });
});
