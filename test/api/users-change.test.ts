import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import { assignDevice, auditOf, createUser, userPath, usersPath } from "../support/people.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("changing and closing users", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let otherToken: string;
  let admin: { id: string; email: string };
  let owner: { id: string; email: string };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
    otherToken = (await makeIntegration(api, await makeOrganization(api))).token;
    admin = await makePerson(api, organization, "ADMIN");
    owner = await makePerson(api, organization, "OWNER");
  });
  afterAll(() => api.close());

  const patch = (id: string, body: unknown) => api.call("PATCH", userPath(id), { token, body });

  it("changes profile and role, and answers the list representation", async () => {
    const { body: before } = await createUser(api, token, { first_name: "Ada", last_name: "Example" });
    const answer = await patch(before.id, { first_name: "Änne", phone_number: "1", role: "viewer" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...before,
      first_name: "Änne",
      full_name: "Änne Example",
      phone_number: "1",
      role: "VIEWER",
      updated_at: expect.any(String),
    });
    const [, entry] = await auditOf(api, organization, before.id);
    expect(entry).toMatchObject({
      action: 1,
      actor_type: "partners",
      changes: { first_name: ["Ada", "Änne"], phone_number: ["", "***"], role: ["USER", "VIEWER"] },
    });
    const found = await api.call("GET", `${usersPath}?search=${encodeURIComponent("ÄNN")}`, { token });
    expect(found.body.results.map(({ id }: { id: string }) => id)).toEqual([before.id]);
    expect((await api.call("GET", `${usersPath}?search=ada`, { token })).body.count).toBe(0);
  });

  it("accepts a record that is sent back whole and writes no entry for it", async () => {
    const { body: created } = await createUser(api, token, { first_name: "Ada" });
    const { body: detail } = await api.call("GET", userPath(created.id), { token });
    const sent = { ...detail, email: detail.email.toUpperCase(), id: detail.id.toUpperCase(), full_name: "?" };
    const answer = await patch(created.id, { ...sent, membership: null, device_count: 77, updated_at: null });
    expect(answer.status).toBe(200);
    expect(answer.body.updated_at).toBe(created.updated_at);
    expect((await patch(created.id, {})).status).toBe(200);
    expect(await auditOf(api, organization, created.id)).toHaveLength(1);
  });

  it.each([
    [{ email: "other@example.org" }, { email: ["This field cannot be changed."] }],
    [{ is_active: false }, { is_active: ["This field cannot be changed."] }],
    [{ is_active: null }, { is_active: ["This field cannot be changed."] }],
    [{ portal_active: true }, { portal_active: ["This field cannot be changed."] }],
    [{ created_at: "2020-01-01" }, { created_at: ["This field cannot be changed."] }],
    [{ password: "" }, { password: ["A password cannot be set through this API."] }],
    [{ password: null }, { password: ["A password cannot be set through this API."] }],
    [{ role: "ADMIN" }, { role: ['"ADMIN" is not a valid choice.'] }],
    [{ role: "OWNER" }, { role: ['"OWNER" is not a valid choice.'] }],
    [{ last_name: null }, { last_name: ["This field may not be null."] }],
    [{ phone_number: "1".repeat(33) }, { phone_number: ["Ensure this field has no more than 32 characters."] }],
  ])("refuses %j", async (body, errors) => {
    const { body: user } = await createUser(api, token);
    const answer = await patch(user.id, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "validation_error", errors });
    expect(await auditOf(api, organization, user.id)).toHaveLength(1);
  });

  it("protects the roles ADMIN and OWNER from partners, but not the profile", async () => {
    for (const { id } of [admin, owner]) {
      expect(await patch(id, { role: "USER" })).toMatchObject({ status: 403, body: { code: "role_protected" } });
      const removed = await api.call("DELETE", userPath(id), { token });
      expect(removed).toMatchObject({ status: 403, body: { code: "role_protected" } });
      expect(await patch(id, { first_name: "Kept" })).toMatchObject({ status: 200, body: { first_name: "Kept" } });
    }
    // The value is looked at before the target, and an unchanged value before both.
    expect(await patch(admin.id, { role: "OWNER" })).toMatchObject({ status: 400 });
    expect(await patch(owner.id, { role: "ADMIN" })).toMatchObject({ status: 400 });
    expect(await patch(admin.id, { role: "admin" })).toMatchObject({ status: 200, body: { role: "ADMIN" } });
  });

  it("closes the membership and the active assignments", async () => {
    const { body: user } = await createUser(api, token);
    await assignDevice(api, organization, user.id);
    await assignDevice(api, organization, user.id);
    const before = await api.call("GET", userPath(user.id), { token });
    expect(before.body.device_count).toBe(2);
    const answer = await api.call("DELETE", userPath(user.id), { token });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    const after = await api.call("GET", userPath(user.id), { token });
    expect(after.status).toBe(200);
    expect(after.body).toMatchObject({ is_active: false, device_count: 0 });
    expect(after.body.membership.closed_at).toEqual(expect.any(String));
    const entries = await auditOf(api, organization, user.id);
    expect(entries[1]).toMatchObject({ action: 2, changes: { email: [user.email, null], role: ["USER", null] } });
  });

  it("answers 404 to every write on a closed member", async () => {
    const { body: user } = await createUser(api, token);
    await api.call("DELETE", userPath(user.id), { token });
    expect((await patch(user.id, { role: "ADMIN" })).status).toBe(404);
    expect((await api.call("DELETE", userPath(user.id), { token })).status).toBe(404);
    expect((await api.call("POST", `${userPath(user.id)}invite/`, { token })).status).toBe(404);
  });

  it("closes once under parallel calls", async () => {
    const { body: user } = await createUser(api, token);
    const calls = Array.from({ length: 8 }, () => api.call("DELETE", userPath(user.id), { token }));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(7);
  });

  it("does not show one organization the members of another", async () => {
    const { body: user } = await createUser(api, token);
    for (const [method, path] of [
      ["GET", userPath(user.id)],
      ["PATCH", userPath(user.id)],
      ["DELETE", userPath(user.id)],
      ["POST", `${userPath(user.id)}invite/`],
    ] as const) {
      const body = method === "PATCH" ? { password: "x" } : undefined;
      const answer = await api.call(method, path, { token: otherToken, body });
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    const list = await api.call("GET", `${usersPath}?search=${user.email}`, { token: otherToken });
    expect(list.body.count).toBe(0);
    expect((await api.call("GET", userPath("not-a-uuid"), { token })).status).toBe(404);
  });

  it("ends the session of a person whose membership is closed", async () => {
    const person = await makePerson(api, organization, "USER");
    expect((await api.call("GET", usersPath, { token: person.token })).status).toBe(200);
    await api.call("DELETE", userPath(person.id), { token });
    const answer = await api.call("GET", usersPath, { token: person.token });
    expect(answer).toMatchObject({ status: 401, body: { code: "invalid_token" } });
  });
});
