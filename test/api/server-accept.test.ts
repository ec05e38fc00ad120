import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestApi } from "../support/api.ts";
import {
  auditOf,
  closeMembership,
  deleteDevice,
  makeDevice,
  makeMember,
  readMail,
  type TestDevice,
} from "../support/fixtures.ts";
import { invitations, inviteByMail, inviteMember, weekMs } from "../support/invitations.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("server-accept", () => {
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
  const invite = (device: TestDevice, email: string, names = {}) =>
    inviteByMail(api, token, device.uid, { email, ...names });
  const accept = (body: unknown, as = token, headers = {}) =>
    api.call("POST", `${invitations}server-accept/`, { token: as, body, headers });
  const userOf = async (id: string) =>
    api.db.one`
      select role, first_name, last_name, phone_number from memberships
      where organization_id = ${organization.id} and user_id = ${id}`;

  it("makes the person, the membership and the assignment", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const { id, mailed } = await invite(device, email);
    const answer = await accept({ token: mailed, first_name: "Carla", last_name: "Carer", phone_number: "+39061" });
    expect(answer.status).toBe(201);
    const now = clock.now().toISOString();
    expect(answer.body).toMatchObject({
      user: {
        email,
        first_name: "Carla",
        last_name: "Carer",
        full_name: "Carla Carer",
        phone_number: "+39061",
        role: "VIEWER",
        is_active: true,
        portal_active: false,
      },
      assignment: { device_uid: device.uid, role: "viewer", source: "invitation", is_active: true },
      invitation: { id, status: 20, status_display: "Accepted", accepted_at: now, updated_at: now },
      user_created: true,
    });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect((await auditOf(api, id)).at(-1)?.changes.status).toEqual([10, 20]);
    expect(await auditOf(api, answer.body.assignment.id)).toHaveLength(1);
    expect(await auditOf(api, answer.body.user.id)).toHaveLength(1);
    const again = await accept({ token: mailed });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: "invitation_not_pending", status: 20 });
  });

  it("echoes the request and stores the names of the share where it gives none", async () => {
    const { mailed } = await invite(await makeDevice(api, organization), newEmail(), {
      first_name: "Carla",
      last_name: "Carer",
    });
    const answer = await accept({ token: mailed, last_name: "Other" });
    expect(answer.body.user).toMatchObject({ first_name: "", last_name: "Other", full_name: "Other" });
    expect(await userOf(answer.body.user.id)).toMatchObject({ first_name: "Carla", last_name: "Other" });
  });

  it("refuses a password before it looks at anything else", async () => {
    const { id, mailed } = await invite(await makeDevice(api, organization), newEmail());
    for (const body of [
      { token: mailed, password: "secret" },
      { token: mailed, password: null },
      { token: "unknown", password: "" },
      { password: null, first_name: 5 },
    ]) {
      const answer = await accept(body);
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe("password_not_allowed_in_partner_flow");
    }
    expect((await api.call("GET", `${invitations}${id}/`, { token })).body.status).toBe(10);
    expect((await accept({})).body.errors).toEqual({ token: ["This field is required."] });
    expect((await accept([])).status).toBe(400);
  });

  it("answers 200 for a person who exists elsewhere, and attaches the membership", async () => {
    const other = await makeOrganization(api);
    const known = await makePerson(api, other, "ADMIN", newEmail());
    const { mailed } = await invite(await makeDevice(api, organization), known.email);
    const answer = await accept({ token: mailed, first_name: "Known" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      user_created: false,
      user: { id: known.id, role: "VIEWER", portal_active: true, first_name: "Known" },
    });
  });

  it("keeps the role of an open member and reopens a closed one as viewer", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const { mailed } = await invite(device, email);
    const member = await makeMember(api, organization, email);
    const open = await accept({ token: mailed, first_name: "Changed" });
    expect(open.status).toBe(200);
    expect(open.body.user).toMatchObject({ id: member.id, role: "USER", first_name: "Changed" });
    expect((await userOf(member.id)).first_name).toBe("Ada");
    const closed = await makeMember(api, organization);
    await closeMembership(api, organization, closed.id);
    const again = await invite(device, closed.email);
    const reopened = await accept({ token: again.mailed });
    expect(reopened.status).toBe(200);
    expect(reopened.body.user).toMatchObject({ id: closed.id, role: "VIEWER", is_active: true });
  });

  it("keeps the assignment of an owner, and the invitation is accepted", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const { mailed } = await invite(device, email);
    const member = await makeMember(api, organization, email);
    const body = { user_id: member.id, role: "owner" };
    const held = await api.call("POST", `/api/v1/devices/${device.uid}/assign/`, { token, body });
    const answer = await accept({ token: mailed });
    expect(answer.status).toBe(200);
    expect(answer.body.assignment).toEqual(held.body);
    expect(answer.body.invitation.status).toBe(20);
  });

  it("does not know tokens of others, of members, of hidden invitations and of deleted devices", async () => {
    const device = await makeDevice(api, organization);
    const { mailed } = await invite(device, newEmail());
    const foreign = await makeIntegration(api, await makeOrganization(api, { features: ["managed_onboarding"] }));
    const admin = await makePerson(api, organization, "ADMIN");
    await inviteMember(api, admin.token, { email: "new-member@example.org", role: "USER" });
    const member = await readMail(api, "new-member@example.org");
    const hidden = await invite(device, newEmail());
    await api.call("DELETE", `${invitations}${hidden.id}/`, { token });
    for (const answer of [
      await accept({ token: "unknown" }),
      await accept({ token: mailed }, foreign.token),
      await accept({ token: member.token }),
      await accept({ token: hidden.mailed }),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe("not_found");
    }
    await deleteDevice(api, device);
    expect((await accept({ token: mailed })).status).toBe(404);
  });

  it("tells expired and revoked ones apart", async () => {
    const device = await makeDevice(api, organization);
    const revoked = await invite(device, newEmail());
    await api.call("POST", `${invitations}${revoked.id}/revoke/`, { token });
    expect((await accept({ token: revoked.mailed })).body).toMatchObject({
      code: "invitation_not_pending",
      status: 40,
    });
    const late = await invite(device, newEmail());
    clock.advanceMs(weekMs);
    token = await fetchToken(api, integration);
    const answer = await accept({ token: late.mailed });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe("invitation_expired");
  });

  it("is single use under parallel calls", async () => {
    for (let round = 0; round < 5; round++) {
      const email = newEmail();
      const { mailed } = await invite(await makeDevice(api, organization), email);
      const answers = await Promise.all(Array.from({ length: 8 }, () => accept({ token: mailed })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
      const { count } = await api.db.one<{ count: number }>`
        select count(*) as count from assignments a join users u on u.id = a.user_id where u.email = ${email}`;
      expect(count).toBe(1);
    }
  });

  it("ends in one state when it is revoked at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const { id, mailed } = await invite(await makeDevice(api, organization), newEmail());
      const [accepted, revoked] = await Promise.all([
        accept({ token: mailed }),
        api.call("POST", `${invitations}${id}/revoke/`, { token }),
      ]);
      expect([accepted.status, revoked.status]).toEqual(accepted.status === 201 ? [201, 409] : [409, 200]);
    }
  });

  it("makes one person of parallel accepts for several devices", async () => {
    const email = newEmail();
    for (let count = 0; count < 6; count++) await invite(await makeDevice(api, organization), email);
    const mails = await api.db.many<{ params: { link: string } }>`select params from mails where recipient = ${email}`;
    const links = mails.map(({ params }) => new URL(params.link).searchParams.get("token"));
    const answers = await Promise.all(links.map((used) => accept({ token: used })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
  });

  it("repeats the first answer for an Idempotency-Key", async () => {
    const { mailed } = await invite(await makeDevice(api, organization), newEmail());
    const headers = { "idempotency-key": "accept-1" };
    const first = await accept({ token: mailed }, token, headers);
    const again = await accept({ token: mailed }, token, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
  });

  it("is open to administrators", async () => {
    const admin = await makePerson(api, organization, "ADMIN");
    const { mailed } = await invite(await makeDevice(api, organization), newEmail());
    expect((await accept({ token: mailed }, admin.token)).status).toBe(201);
  });
});
