import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ListedPerson } from "../../src/console/person-list.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { assign } from "../support/devices.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const path = "/console/api/people/";
type Person = Awaited<ReturnType<typeof makePerson>>;

describe("the people of the console", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let devices: TestDevice[];
  let admin: Person;
  let wearer: Person;
  let relative: Person;
  let stranger: Person;

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    organization = await makeOrganization(api);
    devices = [await makeDevice(api, organization), await makeDevice(api, organization)];
    admin = await makePerson(api, organization, "ADMIN");
    wearer = await makePerson(api, organization, "USER");
    relative = await makePerson(api, organization, "VIEWER");
    const other = await makeOrganization(api);
    stranger = await makePerson(api, other, "OWNER");
    await assign(api, other.id, (await makeDevice(api, other)).uid, stranger.id);
    const [own, shared] = devices as [TestDevice, TestDevice];
    await assign(api, organization.id, own.uid, wearer.id);
    await assign(api, organization.id, shared.uid, wearer.id);
    await assign(api, organization.id, shared.uid, relative.id);
  });
  afterAll(() => api.close());

  async function seenBy({ token }: Person, query = ""): Promise<ListedPerson[]> {
    const { status, body } = await api.call("GET", path + query, { token });
    expect(status).toBe(200);
    expect(body.count).toBe(body.results.length);
    return body.results;
  }
  const idsOf = (people: readonly ListedPerson[]): string[] => people.map(({ id }) => id).toSorted();

  it("are all members for an administrator, each with their devices", async () => {
    const people = await seenBy(admin);
    expect(idsOf(people)).toEqual([admin.id, wearer.id, relative.id].toSorted());
    const held = people.find(({ id }) => id === wearer.id);
    expect(held).toMatchObject({ role: "USER", portal_active: true, device_count: 2 });
    expect(held?.devices.map(({ uid }) => uid).toSorted()).toEqual(devices.map(({ uid }) => uid).toSorted());
  });

  it("are those who share a device for a viewer, with these devices alone and without their roles", async () => {
    const people = await seenBy(relative);
    expect(idsOf(people)).toEqual([wearer.id, relative.id].toSorted());
    expect(people.find(({ id }) => id === wearer.id)).toMatchObject({
      role: null,
      portal_active: null,
      device_count: 1,
      devices: [{ uid: devices[1]?.uid }],
    });
    expect(people.find(({ id }) => id === relative.id)).toMatchObject({ role: "VIEWER", portal_active: true });
  });

  it("are found by what is known of them and by their devices, within what one may see", async () => {
    expect(idsOf(await seenBy(admin, `?search=${devices[0]?.uid}`))).toEqual([wearer.id]);
    expect(idsOf(await seenBy(relative, `?search=${devices[0]?.uid}`))).toEqual([]);
    expect(idsOf(await seenBy(admin, `?search=${encodeURIComponent(relative.email)}`))).toEqual([relative.id]);
    expect(idsOf(await seenBy(admin, `?id=${wearer.id},${stranger.id}`))).toEqual([wearer.id]);
    expect(idsOf(await seenBy(admin, "?has_devices=false"))).toEqual([admin.id]);
    expect(idsOf(await seenBy(admin, "?has_devices=true"))).toEqual([wearer.id, relative.id].toSorted());
  });

  it("refuses ids that are none", async () => {
    const { status, body } = await api.call("GET", `${path}?id=x`, { token: admin.token });
    expect([status, body.code, Object.keys(body.errors)]).toEqual([400, "validation_error", ["id"]]);
  });
});
