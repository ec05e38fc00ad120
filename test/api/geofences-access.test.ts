import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestApi } from "../support/api.ts";
import { assign } from "../support/devices.ts";
import { auditOf, makeDevice, makeMember } from "../support/fixtures.ts";
import { home, link, makeFence, makeThreshold, postFence, postThreshold } from "../support/rules.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  openPartnerApi,
  type TestOrganization,
} from "../support/world.ts";

describe("who sees and writes rules", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let partner: string;
  const ids: Record<string, string> = {};
  const paths = { fence: "/api/v1/geofences/", threshold: "/api/v1/alert-thresholds/" };
  const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id);
  const seen = async (path: string, token: string) => {
    const { body } = await api.call("GET", path, { token });
    return body.results.map(({ id }: { id: string }) => nameOf(id)).sort();
  };

  const people = {} as Record<"VIEWER" | "USER" | "ADMIN" | "OWNER", { id: string; token: string }>;
  let [mine, theirs] = ["", ""];

  beforeAll(async () => {
    ({ api, organization, token: partner } = await openPartnerApi({ features: ["geofence_scoping"] }));
    for (const role of ["VIEWER", "USER", "ADMIN", "OWNER"] as const) {
      people[role] = await makePerson(api, organization, role);
    }
    mine = (await makeDevice(api, organization, "Mine")).uid;
    theirs = (await makeDevice(api, organization, "Theirs")).uid;
    const { id: holder } = await makeMember(api, organization);
    const { id: onlooker } = await makeMember(api, organization);
    await assign(api, organization.id, mine, people.VIEWER.id, 10);
    await assign(api, organization.id, mine, people.USER.id, 20);
    await assign(api, organization.id, mine, holder, 30);
    await assign(api, organization.id, mine, onlooker, 10);

    const fence = async (name: string, fields: object = {}, uids: string[] = []) => {
      ids[name] = await makeFence(api, partner, { name, ...fields });
      if (uids.length > 0) await link(api, partner, ids[name], uids);
    };
    await fence("of the organization", { scope: "org" });
    await fence("of my device", {}, [mine]);
    await fence("of both devices", {}, [mine, theirs]);
    await fence("of their device", {}, [theirs]);
    await fence("of no device");
    await fence("of a holder", { scope: "user", user: holder });
    await fence("of an onlooker", { scope: "user", user: onlooker });
    await fence("of VIEWER", { scope: "user", user: people.VIEWER.id });
    await fence("of USER", { scope: "user", user: people.USER.id });

    const threshold = async (name: string, fields: object) => {
      ids[name] = await makeThreshold(api, partner, fields);
    };
    await threshold("t organization", { scope: 10 });
    await threshold("t mine", { scope: 15, device: mine });
    await threshold("t theirs", { scope: 15, device: theirs });
    await threshold("t holder", { scope: 20, user: holder });
    await threshold("t VIEWER", { scope: 20, user: people.VIEWER.id });
    await threshold("t USER", { scope: 20, user: people.USER.id });
  });
  afterAll(() => api.close());

  const shared = ["of a holder", "of both devices", "of my device", "of the organization"];

  it.each([
    ["VIEWER", [...shared, "of USER", "of VIEWER"].sort()],
    ["USER", [...shared, "of USER"].sort()],
  ] as const)("%s sees fences of assigned devices, of their holders and of everybody", async (role, expected) => {
    const { token } = people[role];
    expect(await seen(paths.fence, token)).toEqual(expected);
    for (const [name, id] of Object.entries(ids).filter(([name]) => name.startsWith("of "))) {
      const { status } = await api.call("GET", `${paths.fence}${id}/`, { token });
      expect([name, status]).toEqual([name, (expected as string[]).includes(name) ? 200 : 404]);
    }
  });

  it("names to people below ADMIN only the devices they see", async () => {
    const detail = async (token: string) =>
      (await api.call("GET", `${paths.fence}${ids["of both devices"]}/`, { token })).body.devices.map(
        ({ uid }: { uid: string }) => uid,
      );
    expect(await detail(people.USER.token)).toEqual([mine]);
    expect(await detail(people.ADMIN.token)).toEqual([mine, theirs].sort());
    expect(await seen(`${paths.fence}?device_uid=${theirs}`, people.USER.token)).toEqual([]);
    expect(await seen(`${paths.fence}?device_uid=${mine}`, people.USER.token)).toEqual([
      "of both devices",
      "of my device",
    ]);
  });

  it.each([
    ["VIEWER", ["t VIEWER", "t mine", "t organization"]],
    ["USER", ["t USER", "t mine", "t organization"]],
  ] as const)("%s sees thresholds of assigned devices, of the person and of everybody", async (role, expected) => {
    const { token } = people[role];
    expect(await seen(paths.threshold, token)).toEqual(expected);
    expect(await seen(`${paths.threshold}?device_uid=${theirs}`, token)).toEqual([]);
    for (const [name, id] of Object.entries(ids).filter(([name]) => name.startsWith("t "))) {
      const { status } = await api.call("GET", `${paths.threshold}${id}/`, { token });
      expect([name, status]).toEqual([name, (expected as readonly string[]).includes(name) ? 200 : 404]);
    }
  });

  it.each(["VIEWER", "USER"] as const)("%s writes nothing", async (role) => {
    const { token } = people[role];
    const fence = `${paths.fence}${ids["of my device"]}/`;
    const threshold = `${paths.threshold}${ids["t mine"]}/`;
    const calls = [
      ["POST", paths.fence],
      ["PUT", fence],
      ["PATCH", fence],
      ["DELETE", fence],
      ["POST", `${fence}devices/`],
      ["DELETE", `${fence}devices/${mine}/`],
      ["POST", paths.threshold],
      ["PATCH", threshold],
      ["DELETE", threshold],
    ] as const;
    for (const [method, path] of calls) {
      const { status, body } = await api.call(method, path, { token, body: method === "DELETE" ? undefined : {} });
      expect([method, path, status, body.code]).toEqual([method, path, 403, "role_not_allowed"]);
    }
  });

  it.each(["ADMIN", "OWNER"] as const)("%s sees and writes all, under the same rules as a partner", async (role) => {
    const { id, token } = people[role];
    expect((await seen(paths.fence, token)).length).toBe(9);
    expect((await seen(paths.threshold, token)).length).toBe(6);
    const fence = await makeFence(api, token, { scope: "org" });
    expect((await postFence(api, token, { scope: "group" })).body.errors.scope).toEqual([
      '"group" is not available to partners.',
    ]);
    expect((await api.call("PUT", `${paths.fence}${fence}/`, { token, body: home })).status).toBe(200);
    expect((await api.call("DELETE", `${paths.fence}${fence}/`, { token })).status).toBe(204);
    const threshold = await postThreshold(api, token, { scope: 10, metric_key: "temp" });
    expect((await api.call("DELETE", `${paths.threshold}${threshold.body.id}/`, { token })).status).toBe(204);
    for (const entry of [...(await auditOf(api, fence)), ...(await auditOf(api, threshold.body.id))]) {
      expect(entry.actor_type).toBe("users");
    }
    const log = await api.call("GET", `/api/v1/audit-log/?actor=${id}`, { token });
    expect(log.body.results[0].actor.id).toBe(id);
  });

  it("needs the feature for a person's fence of the organization too", async () => {
    const plain = await makeOrganization(api);
    const { token } = await makePerson(api, plain, "OWNER");
    expect((await postFence(api, token, { scope: "org" })).body).toMatchObject({
      code: "feature_not_enabled",
      feature: "geofence_scoping",
    });
  });

  it("keeps another organization's devices and users out", async () => {
    const { token } = await makeIntegration(api, await makeOrganization(api));
    const fence = await makeFence(api, token);
    expect((await link(api, token, fence, [mine])).body).toMatchObject({ linked: [], not_found: [mine] });
    const user = people.USER.id;
    expect((await postFence(api, token, { scope: "user", user })).body.errors).toHaveProperty("user");
    expect((await postThreshold(api, token, { scope: 20, user })).body.errors).toHaveProperty("user");
    expect((await postThreshold(api, token, { scope: 15, device: mine })).body.errors).toHaveProperty("device");
    expect(await seen(`${paths.fence}?device_uid=${mine}`, token)).toEqual([]);
    expect(await seen(`${paths.threshold}?device_uid=${mine}`, token)).toEqual([]);
  });
});
