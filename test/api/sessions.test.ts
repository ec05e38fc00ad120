import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { addMember } from "../../src/resources/users/member-store.ts";
import { cliActor, openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization, makePerson, password, type TestOrganization } from "../support/world.ts";

describe("sessions of people", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock });
    organization = await makeOrganization(api, { slug: "care-co" });
  });
  afterAll(() => api.close());

  const logIn = (body: unknown) => api.call("POST", "/console/api/login/", { body });
  const me = (token: string) => api.call("GET", "/console/api/me/", { token });

  it("begin with e-mail and password, in any case of the e-mail", async () => {
    const person = await makePerson(api, organization, "ADMIN", "ada@example.org");
    const answer = await logIn({ email: "ADA@Example.org", password });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: "Bearer",
      expires_in: 3600,
      user: expect.objectContaining({
        id: person.id,
        email: "ada@example.org",
        role: "ADMIN",
        portal_active: true,
        is_active: true,
      }),
    });
    const own = await me(answer.body.access_token);
    expect(own.body).toEqual({
      user: answer.body.user,
      organization: { name: "Organization care-co", slug: "care-co", timezone: "Europe/Rome" },
      operator: false,
      role: "ADMIN",
    });
  });

  it("need the organization only with several memberships", async () => {
    const other = await makeOrganization(api, { slug: "other-co" });
    const person = await makePerson(api, organization, "USER", "two@example.org");
    const member = { email: person.email, role: "VIEWER", passwordHash: null } as const;
    await api.db.transaction((tx) => addMember(tx, other.id, member, cliActor(other.id), clock.now()));
    const unclear = await logIn({ email: person.email, password });
    expect([unclear.status, unclear.body.code, Object.keys(unclear.body.errors)]).toEqual([
      400,
      "validation_error",
      ["organization"],
    ]);
    const chosen = await logIn({ email: person.email, password, organization: "other-co" });
    expect([chosen.status, chosen.body.user.role]).toEqual([200, "VIEWER"]);
    expect((await logIn({ email: person.email, password, organization: "no-co" })).status).toBe(401);
    expect((await logIn({ email: person.email, password, organization: "Other-Co" })).status).toBe(200);
    expect((await logIn({ email: person.email, password, organization: " " })).status).toBe(400);
    expect((await logIn({ email: "ada@example.org", password, organization: "" })).status).toBe(200);
  });

  it.each([[{ email: "ada@example.org", password: "wrong password" }], [{ email: "nobody@example.org", password }]])(
    "are refused for wrong credentials",
    async (body) => {
      const answer = await logIn(body);
      expect([answer.status, answer.body.code]).toEqual([401, "invalid_credentials"]);
    },
  );

  it.each([
    [{}],
    [{ email: "a@b.co" }],
    [{ email: 1, password: true }],
    [{ email: "a\0b@c.de", password: "x" }],
    [[]],
    ["text"],
  ])("refuse the body %j", async (body) => {
    expect((await logIn(typeof body === "string" ? JSON.stringify(body) : body)).status).toBeOneOf([400, 415]);
  });

  it("are throttled after ten failures in 15 minutes, then free again", async () => {
    const person = await makePerson(api, organization, "USER");
    const wrong = await Promise.all(
      Array.from({ length: 14 }, () => logIn({ email: person.email, password: "wrong password" })),
    );
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(10);
    const blocked = await logIn({ email: person.email, password });
    expect([blocked.status, blocked.body.code]).toEqual([429, "throttled"]);
    expect(Number(blocked.headers["retry-after"])).toBeGreaterThan(0);
    clock.advanceMs(15 * 60_000);
    expect((await logIn({ email: person.email, password })).status).toBe(200);
  });

  it("end after an hour", async () => {
    const person = await makePerson(api, organization, "USER");
    clock.advanceMs(3_598_000);
    expect((await me(person.token)).status).toBe(200);
    clock.advanceMs(2_000);
    expect([(await me(person.token)).status]).toEqual([401]);
  });

  it("follow the role of the membership on every call, and end when it is closed", async () => {
    const person = await makePerson(api, organization, "VIEWER");
    const audit = async () => (await api.call("GET", "/api/v1/audit-log/", { token: person.token })).status;
    expect(await audit()).toBe(403);
    await api.db
      .run`update memberships set role = 30 where organization_id = ${organization.id} and user_id = ${person.id}`;
    expect(await audit()).toBe(200);
    await api.db.run`
      update memberships set closed_at = ${clock.now()} where organization_id = ${organization.id} and user_id = ${person.id}`;
    const answer = await api.call("GET", "/api/v1/protocols/", { token: person.token });
    expect([answer.status, answer.body.code]).toEqual([401, "invalid_token"]);
  });

  it("do not live again when a closed membership is opened again", async () => {
    const person = await makePerson(api, organization, "USER");
    const { token } = await makeIntegration(api, organization);
    await api.call("DELETE", `/api/v1/auth/users/${person.id}/`, { token });
    clock.advanceMs(1);
    await api.call("POST", "/api/v1/auth/users/", { token, body: { email: person.email } });
    const answer = await me(person.token);
    expect([answer.status, answer.body.code]).toEqual([401, "invalid_token"]);
    const again = await logIn({ email: person.email, password });
    expect((await me(again.body.access_token)).status).toBe(200);
  });

  it("cannot be forged or changed", async () => {
    const { token } = await makePerson(api, organization, "USER");
    const [head, payload, signature] = token.split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forged = [
      `${head}.${encode({ ...claims, exp: claims.exp + 9999 })}.${signature}`,
      `${encode({ alg: "none", typ: "JWT" })}.${payload}.`,
      `${encode({ alg: "none", typ: "JWT" })}.${payload}.${signature}`,
      `${head}.${payload}.${"A".repeat(43)}`,
      `${head}.${payload}`,
      `${head}..${signature}`,
    ];
    for (const text of forged) expect((await me(text)).status).toBe(401);
  });

  it("are what the console needs: a partner token is none", async () => {
    const integration = await makeIntegration(api, organization);
    const answer = await me(integration.token);
    expect([answer.status, answer.body.code]).toEqual([401, "invalid_token"]);
  });

  it("have one limit of 600 calls a minute", async () => {
    const { token } = await makePerson(api, organization, "USER");
    const answer = await api.call("GET", "/api/v1/protocols/", { token });
    expect(answer.headers["ratelimit-policy"]).toBe('"per_minute";q=600;w=60');
    expect(answer.headers["x-ratelimit-remaining"]).toBe("599");
  });
});
