import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemberRole } from "../../src/oauth/roles.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { auditOf, createUser, freshEmail, userPath, usersPath } from "../support/people.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

type Person = Awaited<ReturnType<typeof makePerson>>;
const roles: MemberRole[] = ["VIEWER", "USER", "ADMIN", "OWNER"];

describe("people and users", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let people: Record<MemberRole, Person>;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api);
    people = {
      VIEWER: await makePerson(api, organization, "VIEWER"),
      USER: await makePerson(api, organization, "USER"),
      ADMIN: await makePerson(api, organization, "ADMIN"),
      OWNER: await makePerson(api, organization, "OWNER"),
    };
  });
  afterAll(() => api.close());

  const member = async (role: MemberRole): Promise<string> => {
    const answer = await createUser(api, people.OWNER.token, { role });
    expect(answer.status).toBe(201);
    return answer.body.id;
  };
  const setRole = (by: Person, id: string, role: MemberRole) =>
    api.call("PATCH", userPath(id), { token: by.token, body: { role } });

  it.each(["VIEWER", "USER"] as const)("shows a %s only the own record", async (role) => {
    const { token, id, email } = people[role];
    const list = await api.call("GET", usersPath, { token });
    expect(list.body).toMatchObject({ count: 1, results: [{ id, email }] });
    expect((await api.call("GET", `${usersPath}?is_active=false`, { token })).body.count).toBe(0);
    expect((await api.call("GET", userPath(id), { token })).body).toMatchObject({ id, role });
    expect((await api.call("GET", userPath(people.ADMIN.id), { token })).status).toBe(404);
  });

  it.each(["ADMIN", "OWNER"] as const)("shows an %s all records", async (role) => {
    const { token } = people[role];
    expect((await api.call("GET", usersPath, { token })).body.count).toBeGreaterThanOrEqual(4);
    expect((await api.call("GET", userPath(people.VIEWER.id), { token })).status).toBe(200);
  });

  it.each(["VIEWER", "USER"] as const)("lets a %s write nothing, not even the own record", async (role) => {
    const { token, id } = people[role];
    const answers = [
      await createUser(api, token),
      await api.call("PATCH", userPath(id), { token, body: { first_name: "x" } }),
      await api.call("DELETE", userPath(id), { token }),
      await api.call("POST", `${userPath(id)}invite/`, { token }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: "role_not_allowed" } });
  });

  it.each(roles)("lets an ADMIN create a %s, except an OWNER", async (role) => {
    const answer = await createUser(api, people.ADMIN.token, { role });
    if (role === "OWNER") expect(answer).toMatchObject({ status: 403, body: { code: "role_not_allowed" } });
    else expect(answer).toMatchObject({ status: 201, body: { role } });
  });

  it("holds the matrix of role changes", async () => {
    for (const from of roles) {
      for (const to of roles) {
        const id = await member(from);
        const touchesOwner = from !== to && (from === "OWNER" || to === "OWNER");
        const byAdmin = await setRole(people.ADMIN, id, to);
        expect(byAdmin.status, `ADMIN ${from} to ${to}`).toBe(touchesOwner ? 403 : 200);
        if (touchesOwner) expect(byAdmin.body.code).toBe("role_not_allowed");
        const byOwner = await setRole(people.OWNER, id, to);
        expect(byOwner.status, `OWNER ${from} to ${to}`).toBe(200);
        expect(byOwner.body.role).toBe(to);
      }
    }
  });

  it("lets an ADMIN remove everyone but an OWNER, whose profile it may change", async () => {
    const { token } = people.ADMIN;
    for (const role of ["VIEWER", "USER", "ADMIN"] as const) {
      expect((await api.call("DELETE", userPath(await member(role)), { token })).status).toBe(204);
    }
    const owner = await member("OWNER");
    const refused = await api.call("DELETE", userPath(owner), { token });
    expect(refused).toMatchObject({ status: 403, body: { code: "role_not_allowed" } });
    const patched = await api.call("PATCH", userPath(owner), { token, body: { first_name: "Olga" } });
    expect(patched.body.first_name).toBe("Olga");
  });

  it("refuses people what partners are refused", async () => {
    const { token } = people.OWNER;
    const body = { password: "correct horse", role: "BOSS" };
    expect(await createUser(api, token, body)).toMatchObject({
      status: 400,
      body: { errors: { password: [expect.any(String)] } },
    });
    expect(await createUser(api, token, { role: "BOSS" })).toMatchObject({
      status: 400,
      body: { errors: { role: ['"BOSS" is not a valid choice.'] } },
    });
  });

  it("attributes what a person does", async () => {
    const { body } = await createUser(api, people.ADMIN.token, { email: freshEmail() });
    expect(await auditOf(api, organization, body.id)).toMatchObject([{ action: 0, actor_type: "users" }]);
  });

  describe("the last owner", () => {
    it("cannot be demoted or removed", async () => {
      const own = await makeOrganization(api);
      const owner = await makePerson(api, own, "OWNER");
      const demoted = await setRole(owner, owner.id, "ADMIN");
      expect(demoted).toMatchObject({ status: 409, body: { code: "last_owner" } });
      const removed = await api.call("DELETE", userPath(owner.id), { token: owner.token });
      expect(removed).toMatchObject({ status: 409, body: { code: "last_owner" } });
      expect((await setRole(owner, owner.id, "OWNER")).status).toBe(200);
    });

    it("is left when owners demote and remove each other at once", async () => {
      for (let round = 0; round < 5; round++) {
        const own = await makeOrganization(api);
        const owners = await Promise.all(Array.from({ length: 3 }, () => makePerson(api, own, "OWNER")));
        const answers = await Promise.all(
          owners.map((owner, index) => {
            const target = owners[(index + 1) % owners.length] as Person;
            return index % 2 === 0
              ? setRole(owner, target.id, "USER")
              : api.call("DELETE", userPath(target.id), { token: owner.token });
          }),
        );
        const { count } = await api.db.one<{ count: number }>`
          select count(*) as count from memberships
          where organization_id = ${own.id} and role = 40 and closed_at is null`;
        expect(count).toBeGreaterThanOrEqual(1);
        // An owner whose own turn comes after the demotion or removal is no longer one.
        for (const { status } of answers) expect([200, 204, 409, 403, 401]).toContain(status);
      }
    });
  });
});
