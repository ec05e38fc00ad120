import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeDevice } from "../support/fixtures.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("what answers keep to themselves", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api, { features: ["managed_onboarding"] });
    integration = await makeIntegration(api, organization);
  });
  afterAll(() => api.close());

  it("phone numbers of commands are for those who may write devices", async () => {
    const { uid } = await makeDevice(api, organization);
    const path = `/api/v1/devices/${uid}/commands/`;
    const body = { command_type: "set_sos_numbers", params: { numbers: ["+391234"] } };
    const sender = await fetchToken(api, integration, "commands:write commands:read");
    const own = await api.call("POST", path, { token: sender, body });
    expect([own.status, own.body.params]).toEqual([201, { redacted: true }]);
    const single = `${path}${own.body.command_uuid}/`;
    const full = await fetchToken(api, integration, "commands:read devices:write");
    expect((await api.call("GET", single, { token: full })).body.params).toEqual({ numbers: ["+391234"] });
    expect((await api.call("GET", path, { token: sender })).body.results[0].params).toEqual({ redacted: true });
    const admin = await makePerson(api, organization, "ADMIN");
    expect((await api.call("GET", single, { token: admin.token })).body.params).toEqual({ numbers: ["+391234"] });
  });

  it("a caller who may only write devices does not learn what they are doing", async () => {
    const { uid } = await makeDevice(api, organization);
    await api.db.run`
      insert into device_state (device_id, organization_id, is_online, last_seen_at, last_status)
      select id, organization_id, true, now(), '{"hr":{"value":72,"ts":null}}' from devices where uid = ${uid}`;
    const writer = await fetchToken(api, integration, "devices:write");
    const patched = await api.call("PATCH", `/api/v1/devices/${uid}/`, { token: writer, body: { name: "Renamed" } });
    expect([patched.status, patched.body.is_online, patched.body.last_status]).toEqual([200, false, {}]);
    const both = await fetchToken(api, integration, "devices:write devices:read");
    const seen = await api.call("PATCH", `/api/v1/devices/${uid}/`, { token: both, body: { name: "Again" } });
    expect([seen.body.is_online, Object.keys(seen.body.last_status)]).toEqual([true, ["hr"]]);
  });

  it("an Idempotency-Key does not bring back the answer of a token with more scopes", async () => {
    const { uid } = await makeDevice(api, organization);
    const path = `/api/v1/devices/${uid}/commands/`;
    const headers = { "idempotency-key": "one" };
    const body = { command_type: "set_sos_numbers", params: { numbers: ["+391234"] } };
    const full = await fetchToken(api, integration, "commands:write devices:write");
    expect((await api.call("POST", path, { token: full, body, headers })).status).toBe(201);
    expect((await api.call("POST", path, { token: full, body, headers })).status).toBe(201);
    const less = await fetchToken(api, integration, "commands:write");
    expect((await api.call("POST", path, { token: less, body, headers })).body.code).toBe("idempotency_key_reuse");
  });

  it("the audit log cannot be changed", async () => {
    await expect(api.db.run`update audit_log set object_repr = 'other'`).rejects.toThrow("append-only");
    await expect(api.db.run`delete from audit_log`).rejects.toThrow("append-only");
    await expect(api.db.run`truncate audit_log`).rejects.toThrow("append-only");
  });

  it("invitations of an administrator end with the rights to make them", async () => {
    const other = await openTestApi();
    try {
      const home = await makeOrganization(other, { features: ["managed_onboarding"] });
      const owner = await makePerson(other, home, "OWNER");
      const admin = await makePerson(other, home, "ADMIN");
      const device = await makeDevice(other, home);
      const body = { email: "new@example.org" };
      await other.call("POST", `/api/v1/devices/${device.uid}/share/`, { token: admin.token, body });
      const pending = async (): Promise<number> =>
        (
          await other.db.one<{ n: number }>`
          select count(*)::int as n from invitations where invited_by = ${admin.id} and status = 10`
        ).n;
      expect(await pending()).toBe(1);
      const path = `/api/v1/auth/users/${admin.id}/`;
      expect((await other.call("PATCH", path, { token: owner.token, body: { role: "USER" } })).status).toBe(200);
      expect(await pending()).toBe(0);
    } finally {
      await other.close();
    }
  });
});
