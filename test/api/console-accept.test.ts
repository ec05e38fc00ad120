import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestApi } from "../support/api.ts";
import { auditOf, deleteDevice, makeDevice, makeMember, readMail, type TestDevice } from "../support/fixtures.ts";
import { invitations, inviteByMail, inviteMember, weekMs } from "../support/invitations.ts";
import {
  fetchToken,
  logIn,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  password,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("accepting in the browser", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;
  let token: string;
  let people = 0;

  beforeAll(async () => {
    ({ api, organization, integration, token } = await openPartnerApi({ clock, features: ["managed_onboarding"] }));
  });
  afterAll(() => api.close());

  const newEmail = () => `carer-${++people}@example.org`;
  const share = async (email: string, names = {}, device?: TestDevice) =>
    inviteByMail(api, token, (device ?? (await makeDevice(api, organization))).uid, { email, ...names });
  const open = (mailed: string) => api.app.inject({ method: "GET", url: `/console/accept?token=${mailed}` });
  const accept = async (body: unknown) => {
    const answer = await api.app.inject({
      method: "POST",
      url: "/console/api/accept/",
      headers: { "content-type": "application/json" },
      payload: JSON.stringify(body),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
  const read = async (id: string) => (await api.call("GET", `${invitations}${id}/`, { token })).body;

  it("is not for links that led to a partner's page: the partner has seen the token", async () => {
    const partner = await makeIntegration(api, organization, { linkHosts: ["app.partner.example"] });
    const { uid } = await makeDevice(api, organization);
    const email = newEmail();
    const elsewhere = await makeIntegration(api, await makeOrganization(api));
    await api.call("POST", "/api/v1/auth/users/", { token: elsewhere.token, body: { email } });
    const body = { email, link_base: "https://app.partner.example/accept" };
    expect((await api.call("POST", `/api/v1/devices/${uid}/share/`, { token: partner.token, body })).status).toBe(202);
    const { token: mailed } = await readMail(api, email);
    expect((await open(mailed)).statusCode).toBe(404);
    expect((await accept({ token: mailed, password })).status).toBe(404);
    const users = await api.call("GET", `/api/v1/auth/users/?search=${email}`, { token: elsewhere.token });
    expect(users.body.results).toMatchObject([{ portal_active: false }]);
    const served = await api.call("POST", `${invitations}server-accept/`, {
      token: partner.token,
      body: { token: mailed },
    });
    expect(served.status).toBe(200);
  });

  it("lets a new person choose a password and see the device", async () => {
    const email = newEmail();
    const device = await makeDevice(api, organization);
    const { id, mailed } = await share(email, { first_name: "<Carla>" }, device);
    const page = await open(mailed);
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toContain("script-src 'self'");
    expect(page.body).toContain('lang="it"');
    expect(page.body).toContain(email);
    expect(page.body).toContain("&lt;Carla&gt;");
    expect(page.body).toContain("has_password&quot;:false");
    expect((await read(id)).status).toBe(10);
    expect((await accept({ token: mailed, password: "short" })).body.errors).toEqual({
      password: ["Ensure this field has at least 8 characters."],
    });
    const answer = await accept({ token: mailed, first_name: "", last_name: "Carer", password });
    expect(answer).toMatchObject({ status: 200, body: { detail: "The invitation has been accepted." } });
    const session = await logIn(api, email, organization.slug);
    const seen = await api.call("GET", "/api/v1/assignments/", { token: session });
    expect(seen.body.results).toMatchObject([
      {
        device_uid: device.uid,
        role: "viewer",
        source: "invitation",
        user: { first_name: "<Carla>", last_name: "Carer" },
      },
    ]);
    expect(await read(id)).toMatchObject({ status: 20, accepted_at: clock.now().toISOString() });
    const entry = (await auditOf(api, id)).at(-1);
    expect(entry).toMatchObject({ actor_type: "users", changes: { status: [10, 20] } });
    expect((await open(mailed)).statusCode).toBe(404);
    expect((await accept({ token: mailed, password })).body).toMatchObject({
      code: "invitation_not_pending",
      status: 20,
    });
  });

  it("asks a person with a password for it, and keeps it", async () => {
    const other = await makeOrganization(api);
    const known = await makePerson(api, other, "ADMIN", newEmail());
    const { id, mailed } = await share(known.email);
    expect((await open(mailed)).body).toContain("has_password&quot;:true");
    const wrong = await accept({ token: mailed, password: "something else entirely" });
    expect([wrong.status, wrong.body.code]).toEqual([401, "invalid_credentials"]);
    expect((await read(id)).status).toBe(10);
    expect((await accept({ token: mailed, password })).status).toBe(200);
    expect(await logIn(api, known.email, organization.slug)).toBeTruthy();
    expect(await logIn(api, known.email, other.slug)).toBeTruthy();
  });

  it("stops guessing of a password", async () => {
    const other = await makeOrganization(api);
    const known = await makePerson(api, other, "USER", newEmail());
    const { mailed } = await share(known.email);
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      statuses.push((await accept({ token: mailed, password: `wrong ${count}` })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect((await accept({ token: mailed, password })).status).toBe(429);
    clock.advanceMs(900_000);
    expect((await accept({ token: mailed, password })).status).toBe(200);
  });

  it("gives a member without a password their first one, and keeps role and name", async () => {
    const email = newEmail();
    const { mailed } = await share(email);
    const member = await makeMember(api, organization, email);
    expect((await open(mailed)).body).toContain("is_member&quot;:true");
    expect((await accept({ token: mailed, first_name: "Other", password })).status).toBe(200);
    const session = await logIn(api, email, organization.slug);
    const me = await api.call("GET", "/console/api/me/", { token: session });
    expect(me.body).toMatchObject({ role: "USER", user: { id: member.id, first_name: "Ada" } });
    const passwordSet = (await auditOf(api, member.id)).find(({ changes }) => "password" in changes);
    expect(passwordSet?.changes.password).toEqual([null, "***"]);
  });

  it("makes a member with the role of the invitation", async () => {
    const owner = await makePerson(api, organization, "OWNER");
    const email = newEmail();
    await inviteMember(api, owner.token, { email, role: "ADMIN" });
    const { token: mailed } = await readMail(api, email);
    expect((await accept({ token: mailed, first_name: "Ann", last_name: "Admin", password })).status).toBe(200);
    const session = await logIn(api, email, organization.slug);
    const me = await api.call("GET", "/console/api/me/", { token: session });
    expect(me.body).toMatchObject({ role: "ADMIN", user: { full_name: "Ann Admin" } });
  });

  it("says what is wrong with a link", async () => {
    for (const url of ["/console/accept", "/console/accept?token=", "/console/accept?token=a&token=b"]) {
      expect((await api.app.inject({ method: "GET", url })).statusCode).toBe(404);
    }
    expect((await accept({ token: "unknown", password })).status).toBe(404);
    const device = await makeDevice(api, organization);
    const deleted = await share(newEmail(), {}, device);
    await deleteDevice(api, device);
    expect((await open(deleted.mailed)).statusCode).toBe(404);
    expect((await accept({ token: deleted.mailed, password })).status).toBe(404);
    const revoked = await share(newEmail());
    await api.call("POST", `${invitations}${revoked.id}/revoke/`, { token });
    expect((await open(revoked.mailed)).statusCode).toBe(404);
    expect((await accept({ token: revoked.mailed, password })).body).toMatchObject({ status: 40 });
    const late = await share(newEmail());
    clock.advanceMs(weekMs);
    token = await fetchToken(api, integration);
    expect((await open(late.mailed)).statusCode).toBe(410);
    expect((await accept({ token: late.mailed, password })).body.code).toBe("invitation_expired");
  });

  it("is single use under parallel calls", async () => {
    const { mailed } = await share(newEmail());
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept({ token: mailed, password })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });
});
