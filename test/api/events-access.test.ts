import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import { assign } from "../support/devices.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import {
  fetchToken,
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("who may do what with events", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let client: { clientId: string; clientSecret: string; token: string };
  let mine: TestDevice;
  let theirs: TestDevice;
  let event: string;
  let hidden: string;

  beforeAll(async () => {
    ({ api, organization, integration: client } = await openPartnerApi());
    [mine, theirs] = [await makeDevice(api, organization), await makeDevice(api, organization)];
    event = await makeEvent(api, mine);
    hidden = await makeEvent(api, theirs);
  });
  afterAll(() => api.close());

  const get = (token: string, id: string) => api.call("GET", `/api/v1/events/${id}/`, { token });
  const remove = (token: string, id: string) => api.call("DELETE", `/api/v1/events/${id}/`, { token });
  const acknowledge = (token: string, id: string, body?: unknown) =>
    api.call("POST", `/api/v1/events/${id}/acknowledge/`, { token, body });
  const listed = async (token: string, query = ""): Promise<string[]> =>
    (await api.call("GET", `/api/v1/events/?${query}`, { token })).body.results.map(({ id }: { id: string }) => id);
  const held = async (role: "VIEWER" | "USER", as: 10 | 20 | 30) => {
    const person = await makePerson(api, organization, role);
    const device = await makeDevice(api, organization);
    await assign(api, organization.id, device.uid, person.id, as);
    return { person, device, id: await makeEvent(api, device) };
  };

  it("needs events:read to read, also for places, and events:acknowledge to write", async () => {
    const place = { lat: 1, lng: 2, accuracy_m: null, source: "wifi", ts: "2026-03-01T08:15:24.000Z" };
    const id = await makeEvent(api, mine, { location: place });
    const reader = await fetchToken(api, client, "events:read");
    const writer = await fetchToken(api, client, "events:acknowledge");
    expect((await get(reader, id)).body.location).toEqual(place);
    expect((await acknowledge(writer, id)).status).toBe(200);
    for (const answer of [await acknowledge(reader, id), await remove(reader, id)]) {
      expect([answer.status, answer.body.required_scopes]).toEqual([403, ["events:acknowledge"]]);
    }
    expect((await get(writer, id)).body.required_scopes).toEqual(["events:read"]);
    expect((await remove(writer, id)).status).toBe(204);
  });

  it("shows another organization nothing, whatever it filters by", async () => {
    const { token } = await makeIntegration(api, await makeOrganization(api));
    for (const query of ["", `device=${mine.id}`, `device_uid=${mine.uid}`, "search=sos", "event_type=sos"]) {
      expect(await listed(token, query)).toEqual([]);
    }
  });

  it.each(["VIEWER", "USER"] as const)("shows a %s the events of assigned devices", async (role) => {
    const { person, device, id } = await held(role, 10);
    expect((await get(person.token, id)).status).toBe(200);
    expect((await get(person.token, hidden)).status).toBe(404);
    expect(await listed(person.token)).toEqual([id]);
    expect(await listed(person.token, `device_uid=${device.uid}`)).toEqual([id]);
    expect(await listed(person.token, `device=${theirs.id}`)).toEqual([]);
    await api.db.run`
      update assignments set is_active = false, unassigned_at = now() where user_id = ${person.id}`;
    expect((await get(person.token, id)).status).toBe(404);
    expect(await listed(person.token)).toEqual([]);
  });

  it.each([20, 30] as const)("lets a USER acknowledge where assigned with role %i", async (role) => {
    const { person, id } = await held("USER", role);
    const answer = await acknowledge(person.token, id, { notes: "ok" });
    expect([answer.status, answer.body.acknowledged_by]).toEqual([200, person.id]);
  });

  it("does not let a USER acknowledge as viewer of the device, nor learn about its body", async () => {
    const { person, id } = await held("USER", 10);
    for (const body of [undefined, { notes: 5 }]) {
      const answer = await acknowledge(person.token, id, body);
      expect([answer.status, answer.body.code]).toEqual([403, "role_not_allowed"]);
    }
    expect((await get(client.token, id)).body.acknowledged).toBe(false);
  });

  it("does not find events of devices that are not assigned", async () => {
    const { person } = await held("USER", 30);
    const answer = await acknowledge(person.token, hidden);
    expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  it("does not let a VIEWER acknowledge, whatever the assignment", async () => {
    const { person, id } = await held("VIEWER", 30);
    const answer = await acknowledge(person.token, id);
    expect([answer.status, answer.body.code]).toEqual([403, "role_not_allowed"]);
  });

  it.each(["VIEWER", "USER"] as const)("does not let a %s delete", async (role) => {
    const { person, id } = await held(role, 30);
    const answer = await remove(person.token, id);
    expect([answer.status, answer.body.code]).toEqual([403, "role_not_allowed"]);
    expect((await get(client.token, id)).status).toBe(200);
  });

  it.each(["ADMIN", "OWNER"] as const)("lets an %s see, acknowledge and delete all, also as viewer", async (role) => {
    const person = await makePerson(api, organization, role);
    await assign(api, organization.id, mine.uid, person.id, 10);
    const id = await makeEvent(api, mine);
    expect(await listed(person.token)).toEqual(expect.arrayContaining([id, event, hidden]));
    expect((await acknowledge(person.token, id)).body.acknowledged_by).toBe(person.id);
    expect((await remove(person.token, id)).status).toBe(204);
    const { body } = await api.call("GET", "/api/v1/audit-log/?model_name=event&ordering=-id&page_size=1", {
      token: client.token,
    });
    expect(body.results[0]).toMatchObject({ object_pk: id, actor_type: "users", actor: { id: person.id } });
  });

  it("shows the addresses of a contested connection to ADMINs only", async () => {
    const data = { code: "session_conflict", addresses: ["192.0.2.1", "198.51.100.2"] };
    const id = await makeEvent(api, mine, { type: 220, severity: 20, data });
    const admin = await makePerson(api, organization, "ADMIN");
    const user = await makePerson(api, organization, "USER");
    await assign(api, organization.id, mine.uid, user.id, 30);
    expect((await get(admin.token, id)).body.data).toEqual(data);
    for (const token of [client.token, user.token]) {
      const answers = [await get(token, id), await api.call("GET", "/api/v1/events/?event_type=custom", { token })];
      answers.push(await acknowledge(token, id));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers[0]?.body.data).toEqual({ code: "session_conflict" });
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain("192.0.2.1");
    }
  });
});
