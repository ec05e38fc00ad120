import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { expireInvitations } from "../../src/resources/invitations/invitation-expiry.ts";
import type { TestApi } from "../support/api.ts";
import { auditOf, makeDevice, readMail, type TestDevice } from "../support/fixtures.ts";
import { invitations, inviteMember, weekMs } from "../support/invitations.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

describe("invitations", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;
  let token: string;
  let device: TestDevice;
  let people = 0;

  beforeAll(async () => {
    ({ api, organization, integration, token } = await openPartnerApi({ clock, features: ["managed_onboarding"] }));
    device = await makeDevice(api, organization);
  });
  afterAll(() => api.close());

  async function wait(ms: number): Promise<void> {
    clock.advanceMs(ms);
    token = await fetchToken(api, integration);
  }
  async function invite(as = token, email = `carer-${++people}@example.org`): Promise<string> {
    const answer = await api.call("POST", `/api/v1/devices/${device.uid}/share/`, { token: as, body: { email } });
    expect(answer.status).toBe(202);
    return answer.body.invitation.id;
  }
  const read = (id: string, as = token) => api.call("GET", `${invitations}${id}/`, { token: as });
  const list = (query = "", as = token) => api.call("GET", `${invitations}${query}`, { token: as });
  const revoke = (id: string, as = token) => api.call("POST", `${invitations}${id}/revoke/`, { token: as });
  const destroy = (id: string, as = token) => api.call("DELETE", `${invitations}${id}/`, { token: as });

  it("hides the target and the token", async () => {
    const answer = await read(await invite());
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual([
      "id",
      "email",
      "status",
      "status_display",
      "kind",
      "role",
      "invited_by",
      "created_at",
      "updated_at",
      "expires_at",
      "accepted_at",
      "revoked_at",
      "email_status",
    ]);
    expect(answer.text).not.toContain(device.uid);
  });

  it("shows what became of the mail", async () => {
    const id = await invite();
    await api.db.run`update mails set status = 'failed' where id = (select mail_id from invitations where id = ${id})`;
    expect((await read(id)).body.email_status).toBe("failed");
  });

  it("revokes once, for good", async () => {
    const id = await invite();
    const answer = await revoke(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 40, status_display: "Revoked", revoked_at: clock.now().toISOString() });
    const again = await revoke(id);
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: "invitation_not_pending", status: 40 });
    const entries = await auditOf(api, id);
    expect(entries.map(({ action }) => action)).toEqual([0, 1]);
    expect(entries[1]?.changes.status).toEqual([10, 40]);
  });

  it("hides what is deleted, and revokes it if pending", async () => {
    const id = await invite();
    const { token: mailed } = await readMail(api, (await read(id)).body.email);
    expect((await destroy(id)).status).toBe(204);
    for (const answer of [await read(id), await destroy(id), await revoke(id)]) expect(answer.status).toBe(404);
    expect((await list(`?search=carer-${people}@`)).body.count).toBe(0);
    const accept = await api.call("POST", `${invitations}server-accept/`, { token, body: { token: mailed } });
    expect(accept.status).toBe(404);
    const row = await api.db.one`select status from invitations where id = ${id}`;
    expect(row.status).toBe(40);
    expect((await auditOf(api, id)).map(({ action }) => action)).toEqual([0, 2]);
  });

  it("keeps the final status of a deleted one", async () => {
    const id = await invite();
    await api.call("POST", `${invitations}server-accept/`, {
      token,
      body: { token: (await readMail(api, (await read(id)).body.email)).token },
    });
    expect((await destroy(id)).status).toBe(204);
    expect((await api.db.one`select status from invitations where id = ${id}`).status).toBe(20);
  });

  it("is expired at once when its time is over, in every view, and the sweep writes it down", async () => {
    const own = await makeOrganization(api, { features: ["managed_onboarding"] });
    const mine = await makeIntegration(api, own);
    const ownDevice = await makeDevice(api, own);
    const make = async (email: string): Promise<string> => {
      const as = await fetchToken(api, mine);
      const answer = await api.call("POST", `/api/v1/devices/${ownDevice.uid}/share/`, { token: as, body: { email } });
      return answer.body.invitation.id;
    };
    const old = await make("old@example.org");
    clock.advanceMs(1000);
    const young = await make("young@example.org");
    clock.advanceMs(weekMs - 1001);
    let as = await fetchToken(api, mine);
    expect((await read(old, as)).body.status).toBe(10);
    clock.advanceMs(1);
    as = await fetchToken(api, mine);
    const expired = (await read(old, as)).body;
    expect(expired).toMatchObject({ status: 30, status_display: "Expired", updated_at: clock.now().toISOString() });
    const ids = async (query: string) => (await list(query, as)).body.results.map(({ id }: { id: string }) => id);
    expect(await ids("?status=30")).toEqual([old]);
    expect(await ids("?status=10")).toEqual([young]);
    expect(await ids("?status=10,30&ordering=status")).toEqual([young, old]);
    expect(await ids("?ordering=-status")).toEqual([old, young]);
    expect((await revoke(old, as)).body).toMatchObject({ code: "invitation_not_pending", status: 30 });
    expect(await expireInvitations(api.db, clock.now())).toBeGreaterThanOrEqual(1);
    expect(await expireInvitations(api.db, clock.now())).toBe(0);
    expect((await read(old, as)).body).toEqual(expired);
    expect((await read(young, as)).body.status).toBe(10);
    const entry = (await auditOf(api, old)).at(-1);
    expect(entry).toMatchObject({ action: 1, actor_type: "system", additional_data: { via: "task" } });
    expect(entry?.changes).toEqual({ status: [10, 30] });
    await wait(0);
  });

  it("filters, orders and searches", async () => {
    const own = await makeOrganization(api, { features: ["managed_onboarding"] });
    const { token: as } = await makeIntegration(api, own);
    const ownDevice = await makeDevice(api, own);
    for (const email of ["b@example.org", "A@example.org", "c@other.example"]) {
      await api.call("POST", `/api/v1/devices/${ownDevice.uid}/share/`, { token: as, body: { email } });
      clock.advanceMs(10);
    }
    const emails = async (query: string) =>
      (await list(query, as)).body.results.map(({ email }: { email: string }) => email[0]).join("");
    expect(await emails("")).toBe("cab");
    expect(await emails("?ordering=email")).toBe("abc");
    expect(await emails("?ordering=expires_at")).toBe("bac");
    expect(await emails("?search=EXAMPLE.org&ordering=-email")).toBe("ba");
    expect((await list("?status=11", as)).body.errors).toEqual({ status: ['"11" is not a valid choice.'] });
    expect((await list("?ordering=kind", as)).status).toBe(400);
    expect((await list("?page=2", as)).status).toBe(404);
  });

  it("needs the feature, in every operation", async () => {
    const plain = await makeOrganization(api);
    const { token: as } = await makeIntegration(api, plain);
    const admin = await makePerson(api, plain, "ADMIN");
    const id = newUuid();
    for (const answer of [
      await list("", as),
      await read(id, as),
      await destroy(id, as),
      await revoke(id, as),
      await api.call("POST", `${invitations}server-accept/`, { token: as, body: { password: 1 } }),
      await inviteMember(api, admin.token, {}),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ code: "feature_not_enabled", feature: "managed_onboarding" });
    }
  });

  it("lets literal segments win over ids", async () => {
    for (const [method, path] of [
      ["GET", "server-accept/"],
      ["GET", "server-accept"],
      ["DELETE", "server-accept/"],
      ["POST", "server-accept/revoke/"],
      ["PUT", `${newUuid()}/`],
    ] as const) {
      const answer = await api.call(method, `${invitations}${path}`, { token });
      expect(answer.status).toBe(403);
      expect(answer.body.code).toBe("scope_not_available");
    }
    expect((await read("no-uuid")).body.code).toBe("not_found");
  });

  it("keeps organizations apart and needs scopes and roles", async () => {
    const id = await invite();
    const foreign = await makeIntegration(api, await makeOrganization(api, { features: ["managed_onboarding"] }));
    for (const answer of [
      await read(id, foreign.token),
      await revoke(id, foreign.token),
      await destroy(id, foreign.token),
    ])
      expect(answer.status).toBe(404);
    expect((await list("", foreign.token)).body.count).toBe(0);
    const reader = await makeIntegration(api, organization, { scopes: ["invitations:read"] });
    expect((await revoke(id, reader.token)).body.required_scopes).toEqual(["invitations:write"]);
    const user = await makePerson(api, organization, "USER");
    expect((await list("", user.token)).body.code).toBe("role_not_allowed");
    const admin = await makePerson(api, organization, "ADMIN");
    expect((await read(id, admin.token)).status).toBe(200);
    expect((await revoke(id, admin.token)).status).toBe(200);
    expect((await auditOf(api, id)).at(-1)?.actor_type).toBe("users");
  });

  it("lets exactly one of 20 parallel revokes win", async () => {
    const id = await invite();
    const answers = await Promise.all(Array.from({ length: 20 }, () => revoke(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "invitation_not_pending")).toHaveLength(19);
    const other = await invite();
    const deletes = await Promise.all(Array.from({ length: 10 }, () => destroy(other)));
    expect(deletes.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
  });

  describe("of members", () => {
    it("are made by administrators only", async () => {
      const admin = await makePerson(api, organization, "ADMIN");
      const email = "Member-1@example.org";
      const partner = await inviteMember(api, token, { email, role: "USER" });
      expect([partner.status, partner.body.code]).toEqual([403, "scope_not_available"]);
      const user = await makePerson(api, organization, "USER");
      expect((await inviteMember(api, user.token, { email })).body.code).toBe("role_not_allowed");
      const made = await inviteMember(api, admin.token, { email, role: "admin" });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({
        email: email.toLowerCase(),
        kind: "member",
        role: "ADMIN",
        status: 10,
        invited_by: admin.id,
        expires_at: new Date(clock.nowMs() + weekMs).toISOString(),
      });
      const mail = await readMail(api, email.toLowerCase());
      expect(mail).toMatchObject({ count: 1, kind: "member_invitation" });
      expect(mail.link.href).toBe(`https://vigil.example/console/accept?token=${mail.token}`);
      const description = await api.app.inject({ method: "GET", url: "/api/schema/?format=json" });
      expect(Object.keys(description.json().paths[invitations])).toEqual(["get"]);
    });

    it("follow the rules of roles", async () => {
      const admin = await makePerson(api, organization, "ADMIN");
      const owner = await makePerson(api, organization, "OWNER");
      const as = (email: string, role: unknown) => ({ email, role });
      const refused = await inviteMember(api, admin.token, as("boss@example.org", "OWNER"));
      expect([refused.status, refused.body.code]).toEqual([403, "role_not_allowed"]);
      expect((await inviteMember(api, owner.token, as("boss@example.org", "OWNER"))).status).toBe(201);
      expect((await inviteMember(api, owner.token, as("boss@example.org", "KING"))).body.errors).toEqual({
        role: ['"KING" is not a valid choice.'],
      });
      const member = await inviteMember(api, owner.token, as(admin.email, "USER"));
      expect([member.status, Object.keys(member.body.errors)]).toEqual([400, ["email"]]);
      const fixed = await inviteMember(api, owner.token, { email: "fixed@example.org", kind: "share", status: 10 });
      expect(fixed.body.errors).toEqual({ kind: ["This field cannot be changed."] });
    });

    it("replace the pending one of the same address", async () => {
      const owner = await makePerson(api, organization, "OWNER");
      const email = "twice@example.org";
      const first = await inviteMember(api, owner.token, { email, role: "ADMIN" });
      const second = await inviteMember(api, owner.token, { email, role: "VIEWER" });
      expect((await read(first.body.id)).body.status).toBe(40);
      expect((await read(second.body.id)).body).toMatchObject({ status: 10, role: "VIEWER" });
      const parallel = await Promise.all(
        Array.from({ length: 10 }, () => inviteMember(api, owner.token, { email: "many@example.org" })),
      );
      expect(parallel.map(({ status }) => status)).toEqual(Array(10).fill(201));
      expect((await list("?search=many@example.org&status=10")).body.count).toBe(1);
    });

    it("take an Idempotency-Key", async () => {
      const admin = await makePerson(api, organization, "ADMIN");
      const call = () => inviteMember(api, admin.token, { email: "key@example.org" }, { "idempotency-key": "m1" });
      const [first, again] = [await call(), await call()];
      expect(again.body).toEqual(first.body);
      expect(again.headers["idempotency-replayed"]).toBe("true");
    });
  });
});
