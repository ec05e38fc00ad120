import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { imeis, register } from "../support/devices.ts";
import { auditOf, deleteDevice, makeDevice, makeMember } from "../support/fixtures.ts";
import { link, makeFence } from "../support/rules.ts";
import { makeOrganization, openPartnerApi, type TestOrganization } from "../support/world.ts";

describe("devices of a geofence", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let foreignUid: string;
  const nextImei = imeis(490_154_207_000_000);
  const unlink = (fence: string, uid: string) =>
    api.call("DELETE", `/api/v1/geofences/${fence}/devices/${uid}/`, { token });
  const devicesOf = async (fence: string): Promise<string[]> =>
    (await api.call("GET", `/api/v1/geofences/${fence}/`, { token })).body.devices.map(
      ({ uid }: { uid: string }) => uid,
    );
  const newUids = async (count: number): Promise<string[]> => {
    const made = [];
    for (let index = 0; index < count; index++) made.push((await makeDevice(api, organization)).uid);
    return made;
  };

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ features: ["geofence_scoping"] }));
    foreignUid = (await makeDevice(api, await makeOrganization(api))).uid;
  });
  afterAll(() => api.close());

  it("are linked, known already or not found", async () => {
    const fence = await makeFence(api, token);
    const [first, second, deleted] = [
      await makeDevice(api, organization, "A"),
      await makeDevice(api, organization, "B"),
      await makeDevice(api, organization),
    ];
    await deleteDevice(api, deleted);
    expect((await link(api, token, fence, [first.uid])).body).toEqual({
      linked: [first.uid],
      already_linked: [],
      not_found: [],
      device_count: 1,
    });
    const unknown = ["490154203999999", "not an imei", foreignUid, deleted.uid, ""];
    const { status, body } = await link(api, token, fence, [second.uid, first.uid, second.uid, ...unknown]);
    expect(status).toBe(200);
    expect(body).toEqual({
      linked: [second.uid],
      already_linked: [first.uid],
      not_found: unknown,
      device_count: 2,
    });
    const { body: detail } = await api.call("GET", `/api/v1/geofences/${fence}/`, { token });
    const expected = [first, second].map(({ uid, name }) => ({ uid, name })).sort((a, b) => (a.uid < b.uid ? -1 : 1));
    expect(detail.devices).toEqual(expected);
    await deleteDevice(api, second);
    expect(await devicesOf(fence)).toEqual([first.uid]);
  });

  it.each([
    ["nothing", undefined, "device_uids"],
    ["null", null, "device_uids"],
    ["one text", "490154203237518", "device_uids"],
    ["an empty list", [], "device_uids"],
    ["501 of them", Array(501).fill("490154203237518"), "device_uids"],
    ["a number", [490154203237518], "device_uids.0"],
    ["a null inside", ["490154203237518", null], "device_uids.1"],
  ])("are refused as %s", async (_name, uids, field) => {
    const { status, body } = await link(api, token, await makeFence(api, token), uids);
    expect([status, body.code, Object.keys(body.errors)]).toEqual([400, "validation_error", [field]]);
  });

  it("can be 500 in one call", async () => {
    const fence = await makeFence(api, token);
    const [uid] = await newUids(1);
    const { status, body } = await link(api, token, fence, Array(500).fill(uid));
    expect([status, body.linked]).toEqual([200, [uid]]);
  });

  it("belong to fences of scope device only", async () => {
    const { id: user } = await makeMember(api, organization);
    const [uid] = await newUids(1);
    for (const fields of [{ scope: "org" }, { scope: "user", user }]) {
      const fence = await makeFence(api, token, fields);
      const { status, body } = await link(api, token, fence, [uid]);
      expect([status, body.code, body.detail]).toEqual([
        400,
        "invalid_scope",
        "Devices can be linked only to geofences with scope device.",
      ]);
      expect((await unlink(fence, uid as string)).status).toBe(404);
      expect((await link(api, token, fence, [])).body.code).toBe("validation_error");
    }
  });

  it("are unlinked once, and linked again", async () => {
    const fence = await makeFence(api, token);
    const [uid, other] = (await newUids(2)) as [string, string];
    await link(api, token, fence, [uid, other]);
    expect((await unlink(fence, uid)).status).toBe(204);
    const again = await unlink(fence, uid);
    expect([again.status, again.body.code]).toEqual([404, "not_found"]);
    for (const unknown of [foreignUid, "490154203999999", "x"]) expect((await unlink(fence, unknown)).status).toBe(404);
    expect(await devicesOf(fence)).toEqual([other]);
    expect((await link(api, token, fence, [uid])).body).toMatchObject({ linked: [uid], device_count: 2 });
  });

  it("come back with a device that comes back", async () => {
    const fence = await makeFence(api, token);
    const uid = nextImei();
    await register(api, token, uid);
    await link(api, token, fence, [uid]);
    await api.call("DELETE", `/api/v1/devices/${uid}/`, { token });
    expect(await devicesOf(fence)).toEqual([]);
    expect((await unlink(fence, uid)).status).toBe(404);
    await register(api, token, uid);
    expect(await devicesOf(fence)).toEqual([uid]);
  });

  it("are in the audit log as one pair of arrays, and move updated_at", async () => {
    const fence = await makeFence(api, token);
    const [a, b] = (await newUids(2)).sort() as [string, string];
    const before = (await api.call("GET", `/api/v1/geofences/${fence}/`, { token })).body.updated_at;
    await link(api, token, fence, [b]);
    await link(api, token, fence, [a, b]);
    await link(api, token, fence, [a, b]);
    await unlink(fence, b);
    await api.call("DELETE", `/api/v1/geofences/${fence}/`, { token });
    const entries = await auditOf(api, fence);
    expect(entries.slice(1, -1).map(({ action, changes }) => [action, changes])).toEqual([
      [1, { devices: [[], [b]] }],
      [1, { devices: [[b], [a, b]] }],
      [1, { devices: [[a, b], [a]] }],
    ]);
    expect(entries.at(-1)).toMatchObject({ action: 2, changes: { devices: [[a], null] } });
    const { updated_at } = await api.db.one<{ updated_at: Date }>`
      select updated_at from geofences where id = ${fence}`;
    expect(updated_at.getTime()).toBeGreaterThanOrEqual(Date.parse(before));
  });

  it("are linked once by parallel calls, each of which learns what it did", async () => {
    const fence = await makeFence(api, token);
    const uids = await newUids(5);
    const answers = await Promise.all(Array.from({ length: 8 }, () => link(api, token, fence, uids)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.flatMap(({ body }) => body.linked).sort()).toEqual([...uids].sort());
    expect(answers.flatMap(({ body }) => body.already_linked)).toHaveLength(35);
    const removed = await Promise.all(Array.from({ length: 4 }, () => unlink(fence, uids[0] as string)));
    expect(removed.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
  });

  it("end in a clean state when they are deleted while they are linked", async () => {
    const fence = await makeFence(api, token);
    const uids = Array.from({ length: 6 }, nextImei);
    for (const uid of uids) await register(api, token, uid);
    const answers = await Promise.all(
      uids.flatMap((uid) => [link(api, token, fence, [uid]), api.call("DELETE", `/api/v1/devices/${uid}/`, { token })]),
    );
    expect(answers.map(({ status }) => status)).toEqual(uids.flatMap(() => [200, 204]));
    expect(await devicesOf(fence)).toEqual([]);
  });

  it("answer a repeated Idempotency-Key as the first time", async () => {
    const fence = await makeFence(api, token);
    const [uid] = await newUids(1);
    const headers = { "Idempotency-Key": newUuid() };
    const send = () =>
      api.call("POST", `/api/v1/geofences/${fence}/devices/`, { token, body: { device_uids: [uid] }, headers });
    const first = await send();
    await unlink(fence, uid as string);
    const again = await send();
    expect([again.headers["idempotency-replayed"], again.body]).toEqual(["true", first.body]);
    expect(await devicesOf(fence)).toEqual([]);
  });
});
