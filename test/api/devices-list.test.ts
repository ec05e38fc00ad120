import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { register, setState } from "../support/devices.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

const prefix = "49015420323751";
const uidOf = (digit: number) => `${prefix}${digit}`;

describe("device list", () => {
  let api: TestApi;
  let token: string;
  const list = (query: string) => api.call("GET", `/api/v1/devices/${query}`, { token });
  /** The last digits of the IMEIs, in the order of the list. */
  const digits = async (query: string) => {
    const { status, body } = await list(query);
    expect(status).toBe(200);
    expect(body.count).toBe(body.results.length);
    return body.results.map(({ uid }: { uid: string }) => uid.at(-1)).join("");
  };

  beforeAll(async () => {
    api = await openTestApi();
    const organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    const other = await makeIntegration(api, await makeOrganization(api));
    await register(api, token, uidOf(3), { name: "b", tags: ["Ward-3", "pilot"] });
    await register(api, token, uidOf(1), { name: "B", device_model_slug: "gt06-generic", tags: ["pilot"] });
    await register(api, token, uidOf(2), { name: "Ärztin 50%", device_model_slug: "iw-kids" });
    await register(api, token, uidOf(4), { name: "b", device_model_slug: "watch-generic" });
    await register(api, other.token, uidOf(9), { name: "b", tags: ["pilot"] });
    const state = { isOnline: true, lastSeenAt: "2026-03-01T08:00:00Z" };
    await setState(api, organization.id, uidOf(2), state);
    await setState(api, organization.id, uidOf(3), { ...state, isOnline: false, lastSeenAt: "2026-03-02T08:00:00Z" });
  });
  afterAll(() => api.close());

  it("holds the devices of the organization by IMEI", async () => {
    expect(await digits("")).toBe("1234");
  });

  it.each([
    ["uid", "1234"],
    ["-uid", "4321"],
    ["name,uid", "1342"],
    ["name,-uid", "1432"],
    ["-name,uid", "2341"],
    ["device_model_slug", "1324"],
    ["-device_model_slug", "4231"],
    ["created_at", "3124"],
    ["-created_at", "4213"],
    ["is_online,uid", "1342"],
    ["-is_online,uid", "2134"],
    ["last_seen_at,uid", "2314"],
    ["-last_seen_at,uid", "3214"],
  ])("orders by %s", async (ordering, expected) => {
    expect(await digits(`?ordering=${ordering}`)).toBe(expected);
  });

  it.each([
    ["device_model_slug=iw-kids", "2"],
    ["device_model_slug=iw-kids,gt06-generic", "12"],
    ["device_model_slug=no-such", ""],
    ["protocol_slug=iw", "23"],
    ["protocol_slug=watch,gt06,no-such", "14"],
    ["is_online=true", "2"],
    ["is_online=1", "2"],
    ["is_online=FALSE", "134"],
    ["tags=pilot", "13"],
    ["tags=Ward-3,none", "3"],
    ["tags=ward-3", ""],
    ["tags=pilot&is_online=false&protocol_slug=iw", "3"],
    ["tags=&is_online=&device_model_slug=", "1234"],
    [`search=${uidOf(2)}`, "2"],
    [`search=${prefix}`, "1234"],
    ["search=%C3%A4RZT", "2"],
    ["search=0%25", "2"],
    ["search=%25%25", ""],
    ["search=PILOT", "13"],
    ["search=ward-3", "3"],
    ["search=b", "134"],
    ["search=%20", "1234"],
    ["search=b&ordering=-name,-uid&tags=pilot", "31"],
  ])("finds by %s", async (query, expected) => {
    expect(await digits(`?${query}`)).toBe(expected);
  });

  it.each([
    ["is_online=maybe", "is_online"],
    ["ordering=phone_number", "ordering"],
    ["page=0", "page"],
    ["page_size=x", "page_size"],
    ["search=%00", "search"],
    ["tags=%00", "tags"],
  ])("refuses %s", async (query, field) => {
    const { status, body } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual([field]);
  });

  it("is read page by page", async () => {
    const first = await list("?page_size=3&ordering=-uid");
    expect(first.body).toMatchObject({ count: 4, previous: null });
    const next = new URL(first.body.next);
    const second = await list(next.search);
    expect(second.body).toMatchObject({ count: 4, next: null });
    expect(second.body.results.map(({ uid }: { uid: string }) => uid)).toEqual([uidOf(1)]);
    expect((await list("?page=last&page_size=3")).body.results).toHaveLength(1);
    expect((await list("?page=3&page_size=3")).status).toBe(404);
  });

  it("follows a change of name and tags", async () => {
    await api.call("PATCH", `/api/v1/devices/${uidOf(4)}/`, { token, body: { name: "Turm", tags: ["Käse"] } });
    expect(await digits("?search=TURM")).toBe("4");
    expect(await digits("?search=k%C3%A4s")).toBe("4");
    expect(await digits("?tags=K%C3%A4se")).toBe("4");
  });
});
