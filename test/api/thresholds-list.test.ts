import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { deleteDevice, makeDevice, makeMember, type TestDevice } from "../support/fixtures.ts";
import { makeThreshold } from "../support/rules.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

describe("the list of alert thresholds", () => {
  let api: TestApi;
  let token: string;
  let device: TestDevice;
  let deleted: TestDevice;
  const list = (query: string) => api.call("GET", `/api/v1/alert-thresholds/${query}`, { token });
  const shown = async (query: string) => {
    const { body, text } = await list(query);
    if (!body.results) throw new Error(text);
    return body.results.map(({ metric_key, scope }: Record<string, string>) => `${metric_key} ${scope}`);
  };

  beforeAll(async () => {
    const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
    api = await openTestApi({ clock });
    const organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    device = await makeDevice(api, organization);
    deleted = await makeDevice(api, organization);
    const { id: user } = await makeMember(api, organization);
    const rows = [
      { scope: 20, user, metric_key: "temp" },
      { scope: 10, metric_key: "bat" },
      { scope: 15, device: device.uid, metric_key: "hr" },
      { scope: 15, device: deleted.uid, metric_key: "steps" },
    ];
    for (const row of rows) {
      await makeThreshold(api, token, row);
      clock.advanceMs(1000);
    }
    const other = (await makeIntegration(api, await makeOrganization(api))).token;
    await makeThreshold(api, other, { scope: 10 });
    await deleteDevice(api, deleted);
  });
  afterAll(() => api.close());

  const [bat, hr, steps, temp] = ["bat Organization", "hr Device", "steps Device", "temp User"];

  it.each([
    ["", [bat, hr, steps, temp]],
    ["?ordering=-metric_key", [temp, steps, hr, bat]],
    ["?ordering=scope,-created_at", [bat, steps, hr, temp]],
    ["?ordering=-scope,metric_key", [temp, hr, steps, bat]],
    ["?ordering=created_at&page_size=3", [temp, bat, hr]],
    ["?scope=10", [bat]],
    ["?scope=device", [hr, steps]],
    ["?scope=USER", [temp]],
    ["?metric_key=hr", [hr]],
    ["?metric_key=glucose", []],
    ["?search=TE", [steps, temp]],
    ["?search=%25", []],
    ["?device_uid=nonsense", []],
    ["?device_uid=490154203999999", []],
    ["?unknown=1", [bat, hr, steps, temp]],
  ])("answers %s", async (query, expected) => {
    expect(await shown(query)).toEqual(expected);
  });

  it("selects the rows of a device, live or deleted", async () => {
    expect(await shown(`?device_uid=${device.uid}`)).toEqual([hr]);
    expect(await shown(`?device_uid=${deleted.uid}`)).toEqual([steps]);
    expect((await list(`?device_uid=${deleted.uid}`)).body.results[0].device).toBe(deleted.uid);
  });

  it.each([
    ["?scope=11", "scope"],
    ["?scope=Group", "scope"],
    ["?metric_key=pulse", "metric_key"],
    ["?ordering=high", "ordering"],
    ["?page=x", "page"],
  ])("refuses %s", async (query, field) => {
    const { status, body } = await list(query);
    expect([status, body.code, Object.keys(body.errors)]).toEqual([400, "validation_error", [field]]);
  });

  it("has no page past its end", async () => {
    expect((await list("?page=2")).status).toBe(404);
  });
});
