import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { createUser, userPath, usersPath } from "../support/people.ts";
import { makeIntegration, makeOrganization, makePerson } from "../support/world.ts";

describe("listing users", () => {
  let api: TestApi;
  let token: string;

  beforeAll(async () => {
    api = await openTestApi();
    const organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    const other = (await makeIntegration(api, await makeOrganization(api))).token;
    await createUser(api, token, { email: "c@example.org", first_name: "Zoe", last_name: "a", role: "VIEWER" });
    await createUser(api, token, { email: "b@example.org", first_name: "éva", last_name: "B", phone_number: "+39 55" });
    await createUser(api, token, { email: "d_1@example.org", first_name: "Ann", last_name: "C" });
    const closed = await createUser(api, token, { email: "closed@example.org", first_name: "Gone" });
    await api.call("DELETE", userPath(closed.body.id), { token });
    await makePerson(api, organization, "OWNER", "a@example.org");
    await createUser(api, other, { email: "z@example.org" });
  });
  afterAll(() => api.close());

  const emails = async (query: string): Promise<string[]> => {
    const answer = await api.call("GET", `${usersPath}?${query}`, { token });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.results.map(({ email }: { email: string }) => email.split("@")[0]);
  };

  it("shows open memberships by e-mail address, closed ones only when asked", async () => {
    expect(await emails("")).toEqual(["a", "b", "c", "d_1"]);
    expect(await emails("is_active=1")).toEqual(["a", "b", "c", "d_1"]);
    expect(await emails("is_active=FALSE")).toEqual(["closed"]);
  });

  it.each([
    ["-email", ["d_1", "c", "b", "a"]],
    // By code point: capitals first, accents last, the empty name of the owner before all.
    ["first_name", ["a", "d_1", "c", "b"]],
    ["last_name", ["a", "b", "d_1", "c"]],
    ["-last_name", ["c", "d_1", "b", "a"]],
    ["-created_at", ["a", "d_1", "b", "c"]],
    ["-role,-email", ["a", "d_1", "b", "c"]],
    ["role,email", ["c", "b", "d_1", "a"]],
  ])("orders by %s", async (ordering, expected) => {
    expect(await emails(`ordering=${ordering}`)).toEqual(expected);
  });

  it.each([
    ["ZOE", ["c"]],
    ["ÉV", ["b"]],
    ["%2B39 55", ["b"]],
    ["D_1", ["d_1"]],
    ["_", ["d_1"]],
    ["%25", []],
    ["example", ["a", "b", "c", "d_1"]],
    ["gone", []],
    ["   ", ["a", "b", "c", "d_1"]],
  ])("searches for %s", async (search, expected) => {
    expect(await emails(`search=${search}`)).toEqual(expected);
  });

  it("pages with links", async () => {
    const { body } = await api.call("GET", `${usersPath}?page_size=3&page=2`, { token });
    expect(body).toMatchObject({ count: 4, next: null });
    expect(body.previous).toBe(`${baseUrl}${usersPath}?page_size=3&page=1`);
    expect(body.results).toHaveLength(1);
    expect((await api.call("GET", `${usersPath}?page=2`, { token })).status).toBe(404);
  });

  it("refuses what it does not understand", async () => {
    const answer = await api.call("GET", `${usersPath}?is_active=maybe&ordering=phone_number&page=0`, { token });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.errors).sort()).toEqual(["is_active", "ordering", "page"]);
  });
});

describe("a person in several organizations", () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await openTestApi();
  });
  afterAll(() => api.close());

  it("stands in each list once, with what that organization knows", async () => {
    const [first, second] = await Promise.all(
      ["USER", "VIEWER"].map(async (role, index) => {
        const { token } = await makeIntegration(api, await makeOrganization(api));
        const body = { email: "mo@example.org", first_name: `Name ${index}`, phone_number: String(index), role };
        const made = await api.call("POST", "/api/v1/auth/users/", { token, body });
        expect(made.status).toBe(201);
        return { token, id: made.body.id as string };
      }),
    );
    for (const [index, { token }] of [first!, second!].entries()) {
      for (const ordering of ["email", "-created_at", "role", "first_name"]) {
        const { body } = await api.call("GET", `/api/v1/auth/users/?ordering=${ordering}`, { token });
        expect(body.results.map((user: { first_name: string }) => user.first_name)).toEqual([`Name ${index}`]);
        expect(body.count).toBe(1);
      }
    }
    expect((await api.call("DELETE", `/api/v1/auth/users/${second!.id}/`, { token: second!.token })).status).toBe(204);
    const left = await api.call("GET", "/api/v1/auth/users/", { token: first!.token });
    expect(left.body.results).toMatchObject([{ first_name: "Name 0", is_active: true }]);
    expect((await api.call("GET", "/api/v1/auth/users/", { token: second!.token })).body.results).toEqual([]);
  });
});
