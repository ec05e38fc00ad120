import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { auditOf, createUser, freshEmail, userPath, usersPath } from "../support/people.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("creating users", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let other: TestOrganization;
  let otherIntegration: TestIntegration;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api);
    other = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    otherIntegration = await makeIntegration(api, other);
  });
  afterAll(() => api.close());

  const profile = { first_name: "Ada", last_name: "Example", phone_number: "+390612345678" };

  it("makes a person with an unusable password and answers the list representation", async () => {
    const email = freshEmail();
    const answer = await createUser(api, token, { email: email.toUpperCase(), ...profile, role: "viewer" });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe(`${baseUrl}${userPath(answer.body.id)}`);
    expect(answer.body).toEqual({
      id: expect.any(String),
      email,
      ...profile,
      full_name: "Ada Example",
      role: "VIEWER",
      is_active: true,
      portal_active: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: answer.body.created_at,
    });
    const detail = await api.call("GET", userPath(answer.body.id), { token });
    expect(detail.body).toEqual({
      ...answer.body,
      device_count: 0,
      membership: { id: expect.any(String), joined_at: answer.body.created_at, closed_at: null },
    });
    expect(await auditOf(api, organization, answer.body.id)).toEqual([
      {
        action: 0,
        actor_type: "partners",
        object_repr: email,
        changes: {
          email: [null, email],
          first_name: [null, "Ada"],
          last_name: [null, "Example"],
          phone_number: [null, "***"],
          role: [null, "VIEWER"],
          is_active: [null, true],
        },
      },
    ]);
  });

  it("fills in empty profile fields and the role USER", async () => {
    const { status, body } = await createUser(api, token);
    expect(status).toBe(201);
    expect(body).toMatchObject({ first_name: "", last_name: "", full_name: "", phone_number: "", role: "USER" });
    expect(body).not.toHaveProperty("merged");
  });

  it("attaches a person known elsewhere and keeps both profiles apart", async () => {
    const email = freshEmail();
    const first = await createUser(api, otherIntegration.token, { email, first_name: "Elsewhere" });
    const answer = await createUser(api, token, { email, ...profile });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ id: first.body.id, merged: true, ...profile });
    const here = await api.call("GET", userPath(first.body.id), { token });
    expect(here.body).toMatchObject(profile);
    expect(here.body).not.toHaveProperty("merged");
    const there = await api.call("GET", userPath(first.body.id), { token: otherIntegration.token });
    expect(there.body.first_name).toBe("Elsewhere");
  });

  it("leaves an open membership as it is and echoes the body", async () => {
    const email = freshEmail();
    const first = await createUser(api, token, { email, ...profile });
    const again = await createUser(api, token, { email, first_name: "Other", role: "VIEWER" });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({
      ...first.body,
      first_name: "Other",
      last_name: "",
      full_name: "Other",
      phone_number: "",
    });
    const stored = await api.call("GET", userPath(first.body.id), { token });
    expect(stored.body).toMatchObject({ ...profile, role: "USER", updated_at: first.body.updated_at });
    expect(await auditOf(api, organization, first.body.id)).toHaveLength(1);
  });

  it("opens a closed membership again with the role and profile of the body", async () => {
    const email = freshEmail();
    const first = await createUser(api, token, { email, ...profile });
    await api.call("DELETE", userPath(first.body.id), { token });
    const again = await createUser(api, token, { email, first_name: "New", role: "VIEWER" });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id: first.body.id, first_name: "New", last_name: "", role: "VIEWER" });
    expect(again.body).not.toHaveProperty("merged");
    const stored = await api.call("GET", userPath(first.body.id), { token });
    expect(stored.body).toMatchObject({ first_name: "New", last_name: "", is_active: true, role: "VIEWER" });
    expect(stored.body.membership.closed_at).toBeNull();
    const found = await api.call("GET", `${usersPath}?search=new%20&page_size=200`, { token });
    expect(found.body.results.map(({ id }: { id: string }) => id)).toContain(first.body.id);
    const entries = await auditOf(api, organization, first.body.id);
    expect(entries.map(({ action }) => action)).toEqual([0, 2, 1]);
    expect(entries[2]?.changes).toMatchObject({ is_active: [false, true], role: ["USER", "VIEWER"] });
  });

  it.each([
    [{ role: "ADMIN" }, { role: ['"ADMIN" is not a valid choice.'] }],
    [{ role: "OWNER" }, { role: ['"OWNER" is not a valid choice.'] }],
    [{ role: "boss" }, { role: ['"boss" is not a valid choice.'] }],
    [{ role: 5 }, { role: ["Not a valid string."] }],
    [{ role: null }, { role: ["This field may not be null."] }],
    [{ email: "nobody" }, { email: ["Enter a valid e-mail address."] }],
    [{ email: undefined }, { email: ["This field is required."] }],
    [{ email: null }, { email: ["This field may not be null."] }],
    [{ first_name: null }, { first_name: ["This field may not be null."] }],
    [{ first_name: "x".repeat(101) }, { first_name: ["Ensure this field has no more than 100 characters."] }],
    [{ last_name: "x".repeat(101) }, { last_name: ["Ensure this field has no more than 100 characters."] }],
    [{ phone_number: "1".repeat(33) }, { phone_number: ["Ensure this field has no more than 32 characters."] }],
    [{ password: "secret" }, { password: ["A password cannot be set through this API."] }],
    [{ password: null }, { password: ["A password cannot be set through this API."] }],
    [{ is_active: false }, { is_active: ["This field cannot be changed."] }],
    [{ portal_active: true }, { portal_active: ["This field cannot be changed."] }],
  ])("refuses %j", async (body, errors) => {
    const answer = await createUser(api, token, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "validation_error", errors });
  });

  it("writes nothing when it refuses", async () => {
    const email = freshEmail();
    await createUser(api, token, { email, is_active: false });
    await createUser(api, token, { email, role: "ADMIN" });
    const found = await api.call("GET", `${usersPath}?search=${email}`, { token });
    expect(found.body.count).toBe(0);
    expect(await api.db.many`select 1 from users where email = ${email}`).toHaveLength(0);
  });

  it("accepts unknown fields, nulls and the values that the record will have", async () => {
    const body = { id: null, is_active: true, portal_active: false, full_name: "x", device_count: 9, nonsense: {} };
    expect((await createUser(api, token, body)).status).toBe(201);
  });

  it("accepts a whole record of an open member, an administrator's role included", async () => {
    const admin = await makePerson(api, organization, "ADMIN");
    const record = await api.call("GET", userPath(admin.id), { token });
    const answer = await api.call("POST", usersPath, { token, body: record.body });
    expect(answer.status).toBe(200);
    expect(answer.body.role).toBe("ADMIN");
    expect((await createUser(api, token, { email: admin.email, role: "OWNER" })).status).toBe(400);
  });

  it("answers 201 to exactly one of fifty parallel creates", async () => {
    const email = freshEmail();
    const answers = await Promise.all(Array.from({ length: 50 }, () => createUser(api, token, { email })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(49);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await auditOf(api, organization, answers[0]?.body.id)).toHaveLength(1);
  });

  it("merges once when two organizations create the same person at once", async () => {
    const email = freshEmail();
    const tokens = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? token : otherIntegration.token));
    const answers = await Promise.all(tokens.map((each) => createUser(api, each, { email })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ body }) => body.merged)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 300)).toBe(true);
  });

  it("replays the answer of an Idempotency-Key", async () => {
    const body = { email: freshEmail() };
    const headers = { "idempotency-key": "create-1" };
    const first = await api.call("POST", usersPath, { token, body, headers });
    const again = await api.call("POST", usersPath, { token, body, headers });
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(again.headers.location).toBe(first.headers.location);
  });

  it("needs its scopes", async () => {
    const reader = await makeIntegration(api, organization, { scopes: ["users:read"] });
    const answer = await createUser(api, reader.token);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ code: "insufficient_scope", required_scopes: ["users:write"] });
  });
});
