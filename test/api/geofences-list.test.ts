import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestApi } from "../support/api.ts";
import { assign } from "../support/devices.ts";
import { deleteDevice, makeDevice, makeMember, type TestDevice } from "../support/fixtures.ts";
import { home, link, makeFence } from "../support/rules.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type TestOrganization } from "../support/world.ts";

describe("the list of geofences", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let devices: TestDevice[];
  const list = (query = "") => api.call("GET", `/api/v1/geofences/${query}`, { token });
  const names = async (query: string) => {
    const { status, body, text } = await list(query);
    if (status !== 200) throw new Error(text);
    return body.results.map(({ name }: { name: string }) => name);
  };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock, features: ["geofence_scoping"] }));
    const foreign = await makeOrganization(api);
    await makeFence(api, (await makeIntegration(api, foreign)).token, { name: "Foreign" });
    devices = [
      await makeDevice(api, organization),
      await makeDevice(api, organization),
      await makeDevice(api, organization),
    ];
    const { id: user } = await makeMember(api, organization);
    await assign(api, organization.id, (devices[0] as TestDevice).uid, user, 30);
    await assign(api, organization.id, (devices[1] as TestDevice).uid, user, 10);
    const rows = [
      { name: "Garage", radius: 300 },
      { name: "Äußere Zone", radius: 100, description: "Around the MÜLLER house", is_active: false },
      { name: "Zoo", radius: 200, scope: "user", user },
      { name: "all", radius: 50_000, scope: "org" },
      { name: "Empty", radius: 5 },
    ];
    const ids: string[] = [];
    for (const row of rows) {
      ids.push(await makeFence(api, token, row));
      clock.advanceMs(1000);
    }
    await link(
      api,
      token,
      ids[0] as string,
      devices.map(({ uid }) => uid),
    );
    await link(api, token, ids[1] as string, [devices[1]?.uid]);
    await makeFence(api, token, { name: "Gone" }).then((id) =>
      api.call("DELETE", `/api/v1/geofences/${id}/`, { token }),
    );
    await deleteDevice(api, devices[2] as TestDevice);
  });
  afterAll(() => api.close());

  it("shows items without devices and schedule, with the count of live devices they apply to", async () => {
    const { body } = await list();
    expect(body.count).toBe(5);
    expect(
      Object.fromEntries(
        body.results.map((item: { name: string; device_count: number }) => [item.name, item.device_count]),
      ),
    ).toEqual({
      Garage: 2,
      "Äußere Zone": 1,
      Zoo: 1,
      all: 2,
      Empty: 0,
    });
    expect(body.results.find(({ name }: { name: string }) => name === "Empty")).toEqual({
      ...home,
      id: expect.any(String),
      name: "Empty",
      radius: 5,
      description: "",
      fence_type: "circle",
      trigger_on_enter: true,
      trigger_on_exit: true,
      trigger_on_dwell: false,
      dwell_threshold_seconds: null,
      is_active: true,
      scope: "device",
      group_id: null,
      user_id: null,
      device_count: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  it.each([
    ["", ["Empty", "Garage", "Zoo", "all", "Äußere Zone"]],
    ["?ordering=-name", ["Äußere Zone", "all", "Zoo", "Garage", "Empty"]],
    ["?ordering=radius", ["Empty", "Äußere Zone", "Zoo", "Garage", "all"]],
    ["?ordering=-radius,name", ["all", "Garage", "Zoo", "Äußere Zone", "Empty"]],
    ["?ordering=created_at", ["Garage", "Äußere Zone", "Zoo", "all", "Empty"]],
    ["?ordering=-updated_at&page_size=3&page=2", ["all", "Zoo"]],
    ["?page=last&page_size=2", ["Äußere Zone"]],
    ["?is_active=false", ["Äußere Zone"]],
    ["?is_active=TRUE&scope=device", ["Empty", "Garage"]],
    ["?scope=org", ["all"]],
    ["?scope=user", ["Zoo"]],
    ["?scope=group", []],
    ["?fence_type=circle&search=GAR", ["Garage"]],
    ["?search=müller", ["Äußere Zone"]],
    ["?search=zo", ["Zoo", "Äußere Zone"]],
    ["?search=%25", []],
    ["?search=+", ["Empty", "Garage", "Zoo", "all", "Äußere Zone"]],
    ["?device_uid=nonsense", []],
    ["?device_uid=490154203999999", []],
    ["?device_uid=", ["Empty", "Garage", "Zoo", "all", "Äußere Zone"]],
    ["?unknown=1&limit=0&page_size=1", ["Empty"]],
  ])("answers %s", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it("finds the fences of a device that is linked, as long as it lives", async () => {
    expect(await names(`?device_uid=${devices[0]?.uid}`)).toEqual(["Garage"]);
    expect(await names(`?device_uid=${devices[1]?.uid}`)).toEqual(["Garage", "Äußere Zone"]);
    expect(await names(`?device_uid=${devices[2]?.uid}`)).toEqual([]);
  });

  it.each([
    ["?ordering=description", "ordering"],
    ["?is_active=maybe", "is_active"],
    ["?scope=planet", "scope"],
    ["?fence_type=polygon", "fence_type"],
    ["?page=0", "page"],
    ["?page_size=-1", "page_size"],
  ])("refuses %s", async (query, field) => {
    const { status, body } = await list(query);
    expect([status, body.code, Object.keys(body.errors)]).toEqual([400, "validation_error", [field]]);
  });

  it("has no page past its end", async () => {
    expect((await list("?page=2")).status).toBe(404);
    expect((await list("?scope=group&page=1")).status).toBe(200);
  });
});
