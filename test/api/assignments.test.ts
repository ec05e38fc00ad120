import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import { closeAssignmentsOfDevice, closeAssignmentsOfUser } from "../../src/resources/assignments/assignment-store.ts";
import { cliActor, type TestApi } from "../support/api.ts";
import { auditOf, closeMembership, deleteDevice, makeDevice, makeMember } from "../support/fixtures.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("assignments", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
  });
  afterAll(() => api.close());

  const assign = (uid: string, body: unknown, as = token, headers = {}) =>
    api.call("POST", `/api/v1/devices/${uid}/assign/`, { token: as, body, headers });
  const unassign = (uid: string, body: unknown, as = token) =>
    api.call("POST", `/api/v1/devices/${uid}/unassign/`, { token: as, body });
  const read = (id: string, as = token) => api.call("GET", `/api/v1/assignments/${id}/`, { token: as });
  const list = (query = "", as = token) => api.call("GET", `/api/v1/assignments/${query}`, { token: as });

  it("makes the documented record", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const answer = await assign(device.uid, { user_id: user.id.toUpperCase(), role: "Owner" });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      device: { uid: device.uid, name: "Watch 12" },
      device_uid: device.uid,
      user: { id: user.id, email: user.email, first_name: "Ada", last_name: "Example" },
      user_id: user.id,
      role: "owner",
      role_value: 30,
      is_active: true,
      source: "assign",
      assigned_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      unassigned_at: null,
    });
    expect((await read(answer.body.id)).body).toEqual(answer.body);
    expect(answer.headers.location).toBe(`https://vigil.example/api/v1/assignments/${answer.body.id}/`);
    const [entry, ...more] = await auditOf(api, answer.body.id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 0,
      content_type: 5,
      actor_type: "partners",
      object_repr: `${user.email} → ${device.uid}`,
    });
  });

  it("assigns as assigned when no role is given", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const answer = await assign(device.uid, { user_id: user.id });
    expect(answer.body).toMatchObject({ role: "assigned", role_value: 20 });
  });

  it("refuses users that are not open members, with the quoted text", async () => {
    const device = await makeDevice(api, organization);
    const other = await makeOrganization(api);
    const stranger = await makeMember(api, other);
    const closed = await makeMember(api, organization);
    await closeMembership(api, organization, closed.id);
    for (const user_id of [newUuid(), stranger.id, closed.id]) {
      const answer = await assign(device.uid, { user_id });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: "user_not_found", detail: "User not found in this organization." });
    }
  });

  it("refuses a second assignment of the same user, whatever the roles", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    await assign(device.uid, { user_id: user.id });
    for (const role of ["assigned", "owner"]) {
      const answer = await assign(device.uid, { user_id: user.id, role });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        code: "assignment_exists",
        detail: "User already has an active assignment for this device.",
      });
    }
  });

  it("refuses a second active owner, and takes one after the first is unassigned", async () => {
    const device = await makeDevice(api, organization);
    const [first, second] = [await makeMember(api, organization), await makeMember(api, organization)];
    await assign(device.uid, { user_id: first.id, role: "owner" });
    const refused = await assign(device.uid, { user_id: second.id, role: "owner" });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: "owner_exists", detail: "Device already has an active owner." });
    expect((await unassign(device.uid, { user_id: first.id })).status).toBe(200);
    expect((await assign(device.uid, { user_id: second.id, role: "owner" })).status).toBe(201);
  });

  it("names what is wrong with the body", async () => {
    const device = await makeDevice(api, organization);
    const user_id = (await makeMember(api, organization)).id;
    const errors = async (body: unknown) => {
      const answer = await assign(device.uid, body);
      expect(answer.status).toBe(400);
      return answer.body.errors;
    };
    const viewer = ['"viewer" is not a valid choice. Use the share endpoint.'];
    expect(await errors({ user_id, role: "viewer" })).toEqual({ role: viewer });
    expect(await errors({ user_id, role: "VIEWER" })).toEqual({ role: viewer });
    expect(await errors({ user_id, role: "boss" })).toEqual({ role: ['"boss" is not a valid choice.'] });
    expect(await errors({ user_id, role: null })).toEqual({ role: ["This field may not be null."] });
    expect(await errors({})).toEqual({ user_id: ["This field is required."] });
    expect(await errors({ user_id: "x" })).toEqual({ user_id: ["Must be a valid UUID."] });
    expect(await errors({ user_id, is_active: false })).toEqual({ is_active: ["This field cannot be changed."] });
    expect((await list(`?search=${device.uid}`)).body.count).toBe(0);
    const accepted = await assign(device.uid, { user_id, is_active: true, device_uid: device.uid, id: null, extra: 1 });
    expect(accepted.status).toBe(201);
  });

  it("closes an assignment softly and keeps it readable, outside the list", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const { id } = (await assign(device.uid, { user_id: user.id })).body;
    const answer = await unassign(device.uid, { user_id: user.id });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, is_active: false, unassigned_at: expect.any(String) });
    expect((await read(id)).body).toEqual(answer.body);
    expect((await list(`?search=${device.uid}`)).body.count).toBe(0);
    const again = await unassign(device.uid, { user_id: user.id });
    expect(again.status).toBe(404);
    expect(again.body.code).toBe("assignment_not_found");
    const entries = await auditOf(api, id);
    expect(entries.map(({ action }) => action)).toEqual([0, 1]);
    expect(entries[1]?.changes.is_active).toEqual([true, false]);
  });

  it("does not unassign a viewer", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    await api.call("POST", `/api/v1/devices/${device.uid}/share/`, { token, body: { email: user.email } });
    expect((await unassign(device.uid, { user_id: user.id })).body.code).toBe("assignment_not_found");
  });

  it("orders by time and role number and searches e-mail and uid without case", async () => {
    const own = await makeOrganization(api);
    const { token: as } = await makeIntegration(api, own);
    const device = await makeDevice(api, own);
    const ada = await makeMember(api, own, "ada.first@example.org");
    const bob = await makeMember(api, own, "bob.second@example.org");
    const first = (await assign(device.uid, { user_id: ada.id, role: "assigned" }, as)).body.id;
    const second = (await assign(device.uid, { user_id: bob.id, role: "owner" }, as)).body.id;
    const ids = async (query: string) => (await list(query, as)).body.results.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual([second, first]);
    expect(await ids("?ordering=assigned_at")).toEqual([first, second]);
    expect(await ids("?ordering=-role")).toEqual([second, first]);
    expect(await ids("?ordering=role,-assigned_at")).toEqual([first, second]);
    expect(await ids("?search=ADA.FIRST")).toEqual([first]);
    expect(await ids(`?search=${device.uid.slice(3, 12)}`)).toHaveLength(2);
    expect(await ids("?search=%25")).toEqual([]);
    expect((await list("?ordering=user", as)).status).toBe(400);
    const page = (await list("?page_size=1&page=2", as)).body;
    expect(page).toMatchObject({ count: 2, next: null });
    expect(page.previous).toContain("https://vigil.example/api/v1/assignments/?");
  });

  it("keeps organizations apart", async () => {
    const other = await makeOrganization(api);
    const foreign = await makeIntegration(api, other);
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const { id } = (await assign(device.uid, { user_id: user.id })).body;
    expect((await read(id, foreign.token)).status).toBe(404);
    expect((await list("", foreign.token)).body.count).toBe(0);
    expect((await assign(device.uid, { nothing: 1 }, foreign.token)).body.code).toBe("not_found");
    expect((await unassign(device.uid, { user_id: user.id }, foreign.token)).body.code).toBe("not_found");
    expect((await read("not-a-uuid")).status).toBe(404);
    await deleteDevice(api, device);
    expect((await assign(device.uid, { user_id: user.id })).body.code).toBe("not_found");
  });

  it("shows people below ADMIN only what concerns their devices and themselves", async () => {
    const [mine, others] = [await makeDevice(api, organization), await makeDevice(api, organization)];
    const carer = await makeMember(api, organization);
    const person = await makePerson(api, organization, "USER");
    const admin = await makePerson(api, organization, "ADMIN");
    const own = (await assign(mine.uid, { user_id: person.id })).body.id;
    const beside = (await assign(mine.uid, { user_id: carer.id })).body.id;
    const hidden = (await assign(others.uid, { user_id: carer.id })).body.id;
    const seen = (await list("", person.token)).body.results.map(({ id }: { id: string }) => id);
    expect(seen.sort()).toEqual([own, beside].sort());
    expect((await read(beside, person.token)).status).toBe(200);
    expect((await read(hidden, person.token)).status).toBe(404);
    expect((await read(hidden, admin.token)).status).toBe(200);
    const refused = await assign(mine.uid, { user_id: carer.id }, person.token);
    expect(refused.body.code).toBe("role_not_allowed");
    await unassign(mine.uid, { user_id: person.id });
    expect((await read(own, person.token)).status).toBe(200);
    expect((await read(beside, person.token)).status).toBe(404);
    expect((await list("", person.token)).body.count).toBe(0);
  });

  it("attributes what an administrator does", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const admin = await makePerson(api, organization, "ADMIN");
    const answer = await assign(device.uid, { user_id: user.id }, admin.token);
    expect(answer.status).toBe(201);
    expect(answer.body.source).toBe("admin");
    expect((await auditOf(api, answer.body.id))[0]?.actor_type).toBe("users");
  });

  it("needs the scope of each operation", async () => {
    const device = await makeDevice(api, organization);
    const reader = await makeIntegration(api, organization, { scopes: ["assignments:read"] });
    const writer = await makeIntegration(api, organization, { scopes: ["assignments:write"] });
    expect((await list("", writer.token)).body.required_scopes).toEqual(["assignments:read"]);
    expect((await assign(device.uid, {}, reader.token)).body.required_scopes).toEqual(["assignments:write"]);
    const share = await api.call("POST", `/api/v1/devices/${device.uid}/share/`, { token: writer.token, body: {} });
    expect(share.body.required_scopes).toEqual(["assignments:share"]);
  });

  it("repeats the first answer for an Idempotency-Key", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const headers = { "idempotency-key": "assign-1" };
    const first = await assign(device.uid, { user_id: user.id }, token, headers);
    const again = await assign(device.uid, { user_id: user.id }, token, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect((await assign(device.uid, { user_id: newUuid() }, token, headers)).status).toBe(422);
  });

  it("lets exactly one of 50 parallel owners win", async () => {
    const device = await makeDevice(api, organization);
    const users = await Promise.all(Array.from({ length: 50 }, () => makeMember(api, organization)));
    const answers = await Promise.all(users.map(({ id }) => assign(device.uid, { user_id: id, role: "owner" })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "owner_exists")).toHaveLength(49);
    expect((await list(`?search=${device.uid}`)).body.count).toBe(1);
  });

  it("lets exactly one of 50 parallel calls for one user win, and one of 20 to end it", async () => {
    const device = await makeDevice(api, organization);
    const user = await makeMember(api, organization);
    const answers = await Promise.all(Array.from({ length: 50 }, () => assign(device.uid, { user_id: user.id })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "assignment_exists")).toHaveLength(49);
    const ends = await Promise.all(Array.from({ length: 20 }, () => unassign(device.uid, { user_id: user.id })));
    expect(ends.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(ends.filter(({ body }) => body.code === "assignment_not_found")).toHaveLength(19);
  });

  it("leaves nothing assigned to a user who is removed at the same time", async () => {
    for (let round = 0; round < 10; round++) {
      const user = await makeMember(api, organization);
      const devices = [await makeDevice(api, organization), await makeDevice(api, organization)];
      const [removed, ...assigned] = await Promise.all([
        api.call("DELETE", `/api/v1/auth/users/${user.id}/`, { token }),
        ...devices.map(({ uid }) => assign(uid, { user_id: user.id, role: "owner" })),
      ]);
      expect(removed.status).toBe(204);
      for (const { status, body } of assigned) if (status !== 201) expect(body.code).toBe("user_not_found");
      expect((await list(`?search=${user.email}`)).body.count).toBe(0);
    }
  });

  it("closes everything of a device or a user, with an entry each", async () => {
    const device = await makeDevice(api, organization);
    const users = [await makeMember(api, organization), await makeMember(api, organization)];
    const ids: string[] = [];
    for (const { id } of users) ids.push((await assign(device.uid, { user_id: id })).body.id);
    const other = await makeDevice(api, organization);
    ids.push((await assign(other.uid, { user_id: users[0]!.id })).body.id);
    const actor = cliActor(organization.id);
    await api.db.transaction((tx) => closeAssignmentsOfDevice(tx, organization.id, device.id, actor, api.clock.now()));
    expect((await list(`?search=${device.uid}`)).body.count).toBe(0);
    expect((await list(`?search=${other.uid}`)).body.count).toBe(1);
    await api.db.transaction((tx) => closeAssignmentsOfUser(tx, organization.id, users[0]!.id, actor, api.clock.now()));
    expect((await list(`?search=${other.uid}`)).body.count).toBe(0);
    for (const id of ids) expect((await auditOf(api, id)).map(({ action }) => action)).toEqual([0, 1]);
  });
});
