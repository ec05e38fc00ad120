import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestApi } from "../support/api.ts";
import {
  auditOf,
  closeMembership,
  countMails,
  deleteDevice,
  makeDevice,
  makeMember,
  readMail,
} from "../support/fixtures.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

const hour = 3_600_000;
const week = 7 * 24 * hour;

describe("sharing", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;
  let token: string;
  let people = 0;

  beforeAll(async () => {
    ({ api, organization, integration, token } = await openPartnerApi({
      clock,
      features: ["managed_onboarding"],
      linkHosts: ["App.Partner.example", "dev.example:8443"],
    }));
  });
  afterAll(() => api.close());

  /** Tokens live for an hour. */
  async function wait(ms: number): Promise<void> {
    clock.advanceMs(ms);
    token = await fetchToken(api, integration);
  }
  const newEmail = () => `carer-${++people}@example.org`;
  const share = (uid: string, body: unknown, as = token, headers = {}) =>
    api.call("POST", `/api/v1/devices/${uid}/share/`, { token: as, body, headers });
  const unshare = (uid: string, userId: string, as = token) =>
    api.call("DELETE", `/api/v1/devices/${uid}/share/${userId}/`, { token: as });

  it("makes an open member a viewer at once, without a mail", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const answer = await share(device.uid, { email: user.email.toUpperCase() });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ result: "assigned", invitation: null });
    expect(answer.body.assignment).toMatchObject({ user_id: user.id, role: "viewer", role_value: 10, source: "share" });
    expect(await countMails(api, user.email)).toBe(0);
    const again = await share(device.uid, { email: user.email });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(answer.body);
    expect(await auditOf(api, answer.body.assignment.id)).toHaveLength(1);
  });

  it("refuses a member who is owner or assigned", async () => {
    const device = await makeDevice(api, organization);
    for (const role of ["owner", "assigned"]) {
      const user = await makeMember(api, organization);
      const body = { user_id: user.id, role };
      await api.call("POST", `/api/v1/devices/${device.uid}/assign/`, { token, body });
      const answer = await share(device.uid, { email: user.email });
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe("assignment_exists");
    }
  });

  it("invites anybody else by mail for seven days", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const answer = await share(device.uid, { email: email.toUpperCase(), first_name: "Carla" });
    expect(answer.status).toBe(202);
    const now = clock.now().toISOString();
    expect(answer.body).toEqual({
      result: "invited",
      assignment: null,
      invitation: {
        id: expect.any(String),
        email,
        status: 10,
        status_display: "Pending",
        kind: "share",
        role: "VIEWER",
        invited_by: null,
        created_at: now,
        updated_at: now,
        expires_at: new Date(clock.nowMs() + week).toISOString(),
        accepted_at: null,
        revoked_at: null,
        email_status: "queued",
      },
    });
    const mail = await readMail(api, email);
    expect(mail).toMatchObject({ count: 1, kind: "share_invitation" });
    expect(mail.link.href).toBe(`https://vigil.example/console/accept?token=${mail.token}`);
    expect(Buffer.from(mail.token, "base64url")).toHaveLength(32);
    expect(mail.params).toMatchObject({
      organization_name: `Organization ${organization.slug}`,
      device_name: "Watch 12",
    });
    expect(answer.text).not.toContain(mail.token);
    const [entry] = await auditOf(api, answer.body.invitation.id);
    expect(entry).toMatchObject({ action: 0, content_type: 11, object_repr: email, actor_type: "partners" });
    expect(JSON.stringify(entry)).not.toContain(mail.token);
    const stored = await api.db.one`
      select encode(token_hash, 'escape') as hash from invitations where id = ${answer.body.invitation.id}`;
    expect(JSON.stringify(stored)).not.toContain(mail.token);
  });

  it("keeps one invitation while it is pending, and mails again only after an hour", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const first = (await share(device.uid, { email })).body.invitation;
    const { token: mailed } = await readMail(api, email);
    await wait(hour - 1);
    const second = await share(device.uid, { email });
    expect(second.status).toBe(202);
    expect(second.body.invitation).toEqual({
      ...first,
      updated_at: clock.now().toISOString(),
      expires_at: new Date(clock.nowMs() + week).toISOString(),
    });
    expect(await readMail(api, email)).toMatchObject({ count: 1, token: mailed });
    await wait(1);
    const third = (await share(device.uid, { email })).body.invitation;
    expect(third.id).toBe(first.id);
    const renewed = await readMail(api, email);
    expect(renewed.count).toBe(2);
    expect(renewed.token).not.toBe(mailed);
    const accept = (used: string) =>
      api.call("POST", "/api/v1/organizations/invitations/server-accept/", { token, body: { token: used } });
    expect((await accept(mailed)).status).toBe(404);
    expect((await accept(renewed.token)).status).toBe(201);
  });

  it("keeps invitations to two devices apart", async () => {
    const [one, two] = [await makeDevice(api, organization), await makeDevice(api, organization)];
    const email = newEmail();
    const ids = [
      (await share(one.uid, { email })).body.invitation.id,
      (await share(two.uid, { email })).body.invitation.id,
    ];
    expect(new Set(ids).size).toBe(2);
    expect(await countMails(api, email)).toBe(2);
  });

  it("invites again after the first invitation has expired or was revoked", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const first = (await share(device.uid, { email })).body.invitation.id;
    await wait(week);
    const second = (await share(device.uid, { email })).body.invitation.id;
    expect(second).not.toBe(first);
    const old = await api.call("GET", `/api/v1/organizations/invitations/${first}/`, { token });
    expect(old.body).toMatchObject({ status: 30, status_display: "Expired" });
    await api.call("POST", `/api/v1/organizations/invitations/${second}/revoke/`, { token });
    const third = (await share(device.uid, { email })).body.invitation.id;
    expect(third).not.toBe(second);
    expect(await countMails(api, email)).toBe(3);
  });

  it("counts a closed member as not in the organization", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    await closeMembership(api, organization, user.id);
    expect((await share(device.uid, { email: user.email })).status).toBe(202);
  });

  it("leads the link to an allowed host and keeps its parameters", async () => {
    const device = await makeDevice(api, organization);
    for (const [link_base, expected] of [
      ["https://app.partner.example/accept", "https://app.partner.example/accept?token="],
      ["HTTPS://APP.PARTNER.EXAMPLE:443/a?x=1%202&y", "https://app.partner.example/a?x=1%202&y&token="],
      ["https://dev.example:8443/#/start", "https://dev.example:8443/?token="],
    ] as const) {
      const email = newEmail();
      expect((await share(device.uid, { email, link_base })).status).toBe(202);
      expect((await readMail(api, email)).link.href.startsWith(expected)).toBe(true);
    }
    expect((await share(device.uid, { email: newEmail(), link_base: null })).status).toBe(202);
  });

  it("checks link_base before anything else", async () => {
    const device = await makeDevice(api, organization);
    const member = await makeMember(api, organization);
    const refused = { link_base: ["Host is not in the allow-list."] };
    for (const link_base of [
      "http://app.partner.example/accept",
      "https://evil.example/",
      "https://app.partner.example:8443/",
      "https://dev.example/",
      "nonsense",
      "",
      5,
    ]) {
      const answer = await share(device.uid, { email: member.email, link_base });
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toEqual(refused);
    }
    expect((await share(device.uid, { link_base: "https://evil.example/" })).body.errors).toEqual(refused);
    expect((await share("490154203237518", { link_base: "https://evil.example/" })).status).toBe(404);
  });

  it("allows people only the host of this service", async () => {
    const device = await makeDevice(api, organization);
    const admin = await makePerson(api, organization, "ADMIN");
    const to = (link_base?: string) => share(device.uid, { email: newEmail(), link_base }, admin.token);
    expect((await to("https://app.partner.example/accept")).status).toBe(400);
    expect((await to("https://VIGIL.example/console/accept")).status).toBe(202);
    const answer = await to();
    expect(answer.status).toBe(202);
    expect(answer.body.invitation.invited_by).toBe(admin.id);
    const user = await makePerson(api, organization, "USER");
    expect((await share(device.uid, { email: newEmail() }, user.token)).body.code).toBe("role_not_allowed");
  });

  it("names what is wrong with the body", async () => {
    const device = await makeDevice(api, organization);
    expect((await share(device.uid, {})).body.errors).toEqual({ email: ["This field is required."] });
    const wrong = await share(device.uid, { email: "nobody", first_name: "x".repeat(101), last_name: 5 });
    expect(Object.keys(wrong.body.errors).sort()).toEqual(["email", "first_name", "last_name"]);
  });

  it("does not need the feature of invitations", async () => {
    const plain = await makeOrganization(api);
    const { token: as } = await makeIntegration(api, plain);
    const device = await makeDevice(api, plain);
    expect((await share(device.uid, { email: newEmail() }, as)).status).toBe(202);
  });

  it("revokes the share of a viewer, and of nobody else", async () => {
    const device = await makeDevice(api, organization);
    const viewer = await makeMember(api, organization);
    const holder = await makeMember(api, organization);
    const { id } = (await share(device.uid, { email: viewer.email })).body.assignment;
    await api.call("POST", `/api/v1/devices/${device.uid}/assign/`, { token, body: { user_id: holder.id } });
    expect((await unshare(device.uid, viewer.id)).status).toBe(204);
    const closed = await api.call("GET", `/api/v1/assignments/${id}/`, { token });
    expect(closed.body).toMatchObject({ is_active: false, role: "viewer" });
    for (const userId of [viewer.id, holder.id]) {
      const answer = await unshare(device.uid, userId);
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe("assignment_not_found");
    }
    expect((await unshare(device.uid, "nobody")).body.code).toBe("not_found");
    expect((await share(device.uid, { email: viewer.email })).status).toBe(201);
  });

  it("keeps organizations apart and forgets deleted devices", async () => {
    const foreign = await makeIntegration(api, await makeOrganization(api));
    const device = await makeDevice(api, organization);
    expect((await share(device.uid, { email: newEmail() }, foreign.token)).status).toBe(404);
    await deleteDevice(api, device);
    expect((await share(device.uid, { email: newEmail() })).status).toBe(404);
  });

  it("repeats the first answer for an Idempotency-Key", async () => {
    const device = await makeDevice(api, organization);
    const email = newEmail();
    const headers = { "idempotency-key": '"share-1"' };
    const first = await share(device.uid, { email }, token, headers);
    const again = await share(device.uid, { email }, token, headers);
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first.body);
    expect(again.headers["idempotency-replayed"]).toBe("true");
  });

  it("makes one viewer or one invitation of 20 parallel calls", async () => {
    const device = await makeDevice(api, organization);
    const member = await makeMember(api, organization);
    const members = await Promise.all(Array.from({ length: 20 }, () => share(device.uid, { email: member.email })));
    expect(members.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(members.filter(({ status }) => status === 200)).toHaveLength(19);
    const email = newEmail();
    const invited = await Promise.all(Array.from({ length: 20 }, () => share(device.uid, { email })));
    expect(invited.every(({ status }) => status === 202)).toBe(true);
    expect(new Set(invited.map(({ body }) => body.invitation.id)).size).toBe(1);
    expect(await countMails(api, email)).toBe(1);
  });
});
