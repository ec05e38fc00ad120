import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FleetPage } from "../../src/console/fleet-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { assign, setState } from "../support/devices.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const fleetPath = "/console/api/fleet/";
const acknowledgementsPath = "/console/api/acknowledgements/";

describe("what a console reads of all devices", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let devices: TestDevice[];
  let foreign: TestDevice;
  let admin: { id: string; email: string; token: string };
  let viewer: { id: string; email: string; token: string };

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    organization = await makeOrganization(api);
    devices = [await makeDevice(api, organization), await makeDevice(api, organization)];
    foreign = await makeDevice(api, await makeOrganization(api));
    admin = await makePerson(api, organization, "ADMIN");
    viewer = await makePerson(api, organization, "VIEWER");
    const [held] = devices as [TestDevice];
    await assign(api, organization.id, held.uid, viewer.id);
    const lastStatus = { bat: { value: 81, ts: null }, hr: { value: 70, ts: null } };
    await setState(api, organization.id, held.uid, { lastStatus });
  });
  afterAll(() => api.close());

  const fleetOf = async (caller: { token: string }, query = ""): Promise<FleetPage> =>
    (await api.call("GET", fleetPath + query, { token: caller.token })).body as unknown as FleetPage;

  it("holds every device for an administrator, and the assigned ones for a viewer", async () => {
    const uids = devices.map(({ uid }) => uid).toSorted();
    expect((await fleetOf(admin)).results.map(({ uid }) => uid)).toEqual(uids);
    const own = await fleetOf(viewer);
    expect(own).toMatchObject({ next: null, results: [{ uid: devices[0]?.uid, people: [expect.any(String)] }] });
    expect(own.results[0]?.last_status).toEqual({ bat: { value: 81, ts: null } });
  });

  it("goes on after an IMEI", async () => {
    const [first = "", second] = devices.map(({ uid }) => uid).toSorted();
    expect((await fleetOf(admin, `?after=${first}`)).results.map(({ uid }) => uid)).toEqual([second]);
  });

  it("holds the devices that are named, if the person may see them", async () => {
    const named = [devices[0]?.uid, devices[1]?.uid, foreign.uid];
    const found = async (caller: { token: string }) =>
      (await fleetOf(caller, `?uid=${named.join(",")}`)).results.map(({ uid }) => uid);
    expect(await found(admin)).toEqual(named.slice(0, 2).toSorted());
    expect(await found(viewer)).toEqual([devices[0]?.uid]);
    const many = Array.from({ length: 201 }, () => foreign.uid).join(",");
    const refused = await api.call("GET", `${fleetPath}?uid=${many}`, { token: admin.token });
    expect([refused.status, refused.body.code]).toEqual([400, "validation_error"]);
  });

  it("tells who has acknowledged an event and with which note, to those who may see it", async () => {
    const [seen, unseen] = [
      await makeEvent(api, devices[0] as TestDevice),
      await makeEvent(api, devices[1] as TestDevice),
    ];
    const open = await makeEvent(api, devices[0] as TestDevice);
    for (const id of [seen, unseen]) {
      const body = { notes: "Called her." };
      await api.call("POST", `/api/v1/events/${id}/acknowledge/`, { token: admin.token, body });
    }
    const query = `?events=${[seen, unseen, open, await makeEvent(api, foreign), nobodysId].join(",")}`;
    const tell = async (token: string) => (await api.call("GET", acknowledgementsPath + query, { token })).body;
    expect(await tell(viewer.token)).toEqual([{ event_id: seen, name: expect.any(String), notes: "Called her." }]);
    expect(await tell(admin.token)).toHaveLength(2);
    const bad = await api.call("GET", `${acknowledgementsPath}?events=x`, { token: admin.token });
    expect([bad.status, bad.body.code]).toEqual([400, "validation_error"]);
  });
});
