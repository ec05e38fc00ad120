import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { addMember } from "../../src/resources/users/member-store.ts";
import { baseUrl, cliActor, openTestApi, type TestApi } from "../support/api.ts";
import { callsWith, signIn } from "../support/browser-session.ts";
import { makeIntegration, makeOrganization, makePerson, password, type TestOrganization } from "../support/world.ts";

describe("sessions of browsers", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock });
    organization = await makeOrganization(api);
  });
  afterAll(() => api.close());

  it("begin with a cookie that scripts cannot read and other sites cannot send", async () => {
    const { email } = await makePerson(api, organization, "ADMIN");
    const answer = await api.call("POST", "/console/api/session/", { body: { email, password } });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers["set-cookie"]).toMatch(
      /^vigil_session=[\w-]{40,}; HttpOnly; SameSite=Strict; Path=\/; Secure$/,
    );
    const wrong = await api.call("POST", "/console/api/session/", { body: { email, password: "not this one" } });
    expect([wrong.status, wrong.body.code, wrong.headers["set-cookie"]]).toEqual([
      401,
      "invalid_credentials",
      undefined,
    ]);
  });

  it("are accepted by the API and the console, with the rights of the role", async () => {
    const viewer = await signIn(api, (await makePerson(api, organization, "VIEWER")).email);
    expect((await viewer.get("/api/v1/devices/")).status).toBe(200);
    expect((await viewer.get("/console/api/me/")).body.role).toBe("VIEWER");
    expect((await viewer.get("/api/v1/audit-log/")).body.code).toBe("role_not_allowed");
  });

  it("change nothing without the header of the console, from another origin or another site", async () => {
    const admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
    const fence = { name: "Home", center_lat: 41.9, center_lng: 12.5, radius_m: 100, scope: "organization" };
    const create = (headers: Record<string, string>) =>
      api.call("POST", "/api/v1/geofences/", { body: fence, headers: { cookie: admin.cookie, ...headers } });
    const mark = { "x-vigil-console": "1" };
    const refused = [{}, { ...mark, origin: "https://evil.example" }, { ...mark, "sec-fetch-site": "same-site" }];
    for (const headers of refused) {
      expect((await create(headers as Record<string, string>)).body.code).toBe("csrf_failed");
    }
    expect((await create({ ...mark, origin: baseUrl, "sec-fetch-site": "same-origin" })).status).not.toBe(403);
    expect((await create(mark)).status).not.toBe(403);
  });

  it("give way to an Authorization header", async () => {
    const { token } = await makeIntegration(api, organization);
    const admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
    const both = await api.call("GET", "/api/v1/organizations/self/", { token, headers: { cookie: admin.cookie } });
    expect(both.status).toBe(200);
    const bad = await api.call("GET", "/api/v1/devices/", { token: "pt_nothing", headers: { cookie: admin.cookie } });
    expect([bad.status, bad.body.code]).toEqual([401, "invalid_token"]);
  });

  it("are listed, and ended one by one or by signing out", async () => {
    const { email } = await makePerson(api, organization, "USER");
    const first = await signIn(api, email);
    const second = await signIn(api, email);
    const listed = (await second.get("/console/api/sessions/")).body;
    expect(listed).toHaveLength(2);
    expect(listed.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    expect(Object.keys(listed[0]).toSorted()).toEqual([
      "created_at",
      "current",
      "id",
      "ip",
      "last_used_at",
      "user_agent",
    ]);
    const other = listed.find(({ current }: { current: boolean }) => !current);
    expect((await second.send("DELETE", `/console/api/sessions/${other.id}/`)).status).toBe(204);
    expect((await first.get("/console/api/me/")).body.code).toBe("invalid_token");
    const out = await second.send("DELETE", "/console/api/session/");
    expect([out.status, String(out.headers["set-cookie"])]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect((await second.get("/console/api/me/")).status).toBe(401);
    expect((await callsWith(api, "vigil_session=nonsense").get("/console/api/me/")).body.code).toBe("invalid_token");
  });

  it("cannot end those of others", async () => {
    const mine = await signIn(api, (await makePerson(api, organization, "OWNER")).email);
    const theirs = await signIn(api, (await makePerson(api, organization, "USER")).email);
    const [session] = (await theirs.get("/console/api/sessions/")).body;
    expect((await mine.send("DELETE", `/console/api/sessions/${session.id}/`)).status).toBe(404);
    expect((await theirs.get("/console/api/me/")).status).toBe(200);
  });

  it("end after 12 hours without use, after 30 days, and when the membership closes", async () => {
    const person = await makePerson(api, organization, "USER");
    const idle = await signIn(api, person.email);
    const used = await signIn(api, person.email);
    for (let hours = 0; hours < 30 * 24; hours += 11) {
      expect((await used.get("/console/api/me/")).status).toBe(200);
      clock.advanceMs(11 * 3_600_000);
    }
    expect((await idle.get("/console/api/me/")).status).toBe(401);
    expect((await used.get("/console/api/me/")).status).toBe(401);
    const fresh = await signIn(api, person.email);
    await api.db.run`
      update memberships set closed_at = ${clock.now()} where organization_id = ${organization.id} and user_id = ${person.id}`;
    expect((await fresh.get("/console/api/me/")).body.code).toBe("invalid_token");
  });

  it("move between the organizations of the person", async () => {
    const other = await makeOrganization(api);
    const person = await makePerson(api, organization, "ADMIN");
    const member = { email: person.email, role: "VIEWER", passwordHash: null } as const;
    await api.db.transaction((tx) => addMember(tx, other.id, member, cliActor(other.id), clock.now()));
    const browser = await signIn(api, person.email, { organization: organization.slug });
    const move = (slug: string) => browser.send("POST", "/console/api/session/organization/", { organization: slug });
    expect((await move(other.slug)).status).toBe(204);
    const me = (await browser.get("/console/api/me/")).body;
    expect([me.organization.slug, me.role]).toEqual([other.slug, "VIEWER"]);
    const foreign = await makeOrganization(api);
    expect((await move(foreign.slug)).status).toBe(404);
  });

  it("are refused to partner tokens on every call of the console", async () => {
    const { token } = await makeIntegration(api, organization);
    for (const path of ["me", "sessions", "preferences", "second-factor"]) {
      expect((await api.call("GET", `/console/api/${path}/`, { token })).body.code).toBe("invalid_token");
      expect((await api.call("GET", `/console/api/${path}/`)).body.code).toBe("not_authenticated");
    }
  });

  it("hold what the person prefers", async () => {
    const browser = await signIn(api, (await makePerson(api, organization, "USER")).email);
    const patch = (body: unknown) => browser.send("PATCH", "/console/api/me/", body);
    expect((await browser.get("/console/api/preferences/")).body).toMatchObject({
      locale: null,
      timezone: null,
      alarm_mail: "off",
    });
    const changed = await patch({ locale: "de", timezone: "europe/berlin", alarm_mail: "critical" });
    expect(changed.body).toMatchObject({ locale: "de", timezone: "Europe/Berlin", alarm_mail: "critical" });
    expect((await patch({ alarm_mail: "warning" })).body).toMatchObject({ locale: "de", alarm_mail: "warning" });
    expect(Object.keys((await patch({ locale: "xx" })).body.errors)).toEqual(["locale"]);
    expect(Object.keys((await patch({ timezone: "Mars/North" })).body.errors)).toEqual(["timezone"]);
    expect(Object.keys((await patch({ alarm_mail: "loud" })).body.errors)).toEqual(["alarm_mail"]);
  });
});
