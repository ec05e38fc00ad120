import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { listHolders, listHoldersOfDevices, listHoldersOfUsers } from "../../src/resources/assignments/holder-store.ts";
import { type FenceRule, listFenceRules, listFenceRulesById } from "../../src/resources/geofences/fence-rules-store.ts";
import { updateOrganization } from "../../src/resources/organizations/organization-store.ts";
import {
  findRuleChanges,
  findRuleVersion,
  keptChanges,
  type RuleChange,
  touchRules,
} from "../../src/resources/rule-versions/rule-version.ts";
import { listThresholdChanges } from "../../src/resources/thresholds/threshold-changes.ts";
import {
  listThresholdRules,
  listThresholdRulesById,
  type ThresholdRule,
} from "../../src/resources/thresholds/threshold-rules-store.ts";
import { cliActor, type TestApi } from "../support/api.ts";
import { imeis, register } from "../support/devices.ts";
import { makeDevice, makeMember } from "../support/fixtures.ts";
import { home, link, makeFence, makeThreshold, postFence } from "../support/rules.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type TestOrganization } from "../support/world.ts";

async function all<T>(chunks: AsyncGenerator<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

describe("the rule version of an organization", () => {
  const clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  const nextImei = imeis(490_154_208_000_000);

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi({ clock, features: ["geofence_scoping"] }));
  });
  afterAll(() => api.close());

  /** What a write tells: each version it makes by one, and what it says has changed. */
  async function changesBy(write: () => Promise<unknown>): Promise<RuleChange[]> {
    const before = await findRuleVersion(api.db, organization.id);
    await write();
    const found = await findRuleChanges(api.db, organization.id, before);
    expect(found?.version).toBe(before + (found?.changes.length === 0 ? 0 : 1));
    return found?.changes ?? [];
  }
  const call = (method: string, path: string, body?: unknown) => api.call(method, `/api/v1/${path}`, { token, body });

  it("changes with every write that changes a fence", async () => {
    const { uid } = await makeDevice(api, organization);
    let id = "";
    const made = await changesBy(async () => {
      id = await makeFence(api, token);
    });
    const fence = [{ kind: "geofence", id }];
    expect(made).toEqual(fence);
    expect(await changesBy(() => call("PATCH", `geofences/${id}/`, { radius: 151 }))).toEqual(fence);
    expect(await changesBy(() => call("PATCH", `geofences/${id}/`, { radius: 151 }))).toEqual([]);
    expect(await changesBy(() => call("PUT", `geofences/${id}/`, home))).toEqual(fence);
    expect(await changesBy(() => link(api, token, id, [uid]))).toEqual(fence);
    expect(await changesBy(() => link(api, token, id, [uid]))).toEqual([]);
    expect(await changesBy(() => call("DELETE", `geofences/${id}/devices/${uid}/`))).toEqual(fence);
    expect(await changesBy(() => call("DELETE", `geofences/${id}/devices/${uid}/`))).toEqual([]);
    expect(await changesBy(() => call("DELETE", `geofences/${id}/`))).toEqual(fence);
    expect(await changesBy(() => postFence(api, token, { radius: 0 }))).toEqual([]);
  });

  it("changes with every write that changes a threshold", async () => {
    const { uid } = await makeDevice(api, organization);
    let id = "";
    const made = await changesBy(async () => {
      id = await makeThreshold(api, token, { scope: 15, device: uid });
    });
    const threshold = [{ kind: "threshold", id }];
    expect(made).toEqual(threshold);
    expect(await changesBy(() => call("PATCH", `alert-thresholds/${id}/`, { high: 99 }))).toEqual(threshold);
    expect(await changesBy(() => call("PATCH", `alert-thresholds/${id}/`, { high: 99 }))).toEqual([]);
    expect(await changesBy(() => call("DELETE", `alert-thresholds/${id}/`))).toEqual(threshold);
  });

  it("changes when other people hold a device, and when a device is created or deleted", async () => {
    const uid = nextImei();
    const registration = await changesBy(() => register(api, token, uid));
    const { id } = (await call("GET", `devices/${uid}/`)).body;
    const device = [{ kind: "device", id }];
    expect(registration).toEqual(device);
    expect(await changesBy(() => register(api, token, uid, { name: "x" }))).toEqual([]);
    const [owner, viewer] = [await makeMember(api, organization), await makeMember(api, organization)];
    const path = `devices/${uid}`;
    expect(await changesBy(() => call("POST", `${path}/assign/`, { user_id: owner.id, role: "owner" }))).toEqual(
      device,
    );
    expect(await changesBy(() => call("POST", `${path}/share/`, { email: viewer.email }))).toEqual([]);
    expect(await changesBy(() => call("DELETE", `${path}/share/${viewer.id}/`))).toEqual([]);
    expect(await changesBy(() => call("POST", `${path}/unassign/`, { user_id: owner.id }))).toEqual(device);
    await call("POST", `${path}/assign/`, { user_id: owner.id });
    expect(await changesBy(() => call("DELETE", `auth/users/${owner.id}/`))).toEqual(device);
    expect(await changesBy(() => call("DELETE", `auth/users/${viewer.id}/`))).toEqual([]);
    expect(await changesBy(() => call("DELETE", `${path}/`))).toEqual(device);
    expect(await changesBy(() => register(api, token, uid))).toEqual(device);
  });

  it("is logged with what applied before, of thresholds and of holders", async () => {
    const { uid, id: deviceId } = await makeDevice(api, organization);
    const { id: userId } = await makeMember(api, organization);
    const since = await findRuleVersion(api.db, organization.id);
    const id = await makeThreshold(api, token, { scope: 15, device: uid, high: 120 });
    for (const is_active of [false, true]) await call("PATCH", `alert-thresholds/${id}/`, { is_active });
    await call("DELETE", `alert-thresholds/${id}/`);
    for (const way of ["assign", "unassign", "assign"]) {
      await call("POST", `devices/${uid}/${way}/`, { user_id: userId });
    }
    await call("DELETE", `auth/users/${userId}/`);
    const until = await findRuleVersion(api.db, organization.id);
    expect(until).toBe(since + 8);
    const changes = (await listThresholdChanges(api.db, organization.id, since, until)).reverse();
    expect(changes.map((change) => change.version - since)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const held = { kind: "device", id: deviceId };
    expect(changes).toMatchObject([
      { kind: "threshold", id, before: null },
      { kind: "threshold", id, before: { id, deviceId, high: 120, revision: 1 } },
      { kind: "threshold", id, before: null },
      { kind: "threshold", id, before: { id, deviceId, high: 120, revision: 3 } },
      { ...held, before: { userId, isHolder: false } },
      { ...held, before: { userId, isHolder: true } },
      { ...held, before: { userId, isHolder: false } },
      { ...held, before: { userId, isHolder: true } },
    ]);
  });

  it("changes with the settings of the organization", async () => {
    const rename = () =>
      api.db.transaction((tx) =>
        updateOrganization(tx, organization.id, { name: "Renamed" }, cliActor(organization.id), clock.now()),
      );
    expect(await changesBy(rename)).toEqual([{ kind: "all", id: organization.id }]);
    expect(await changesBy(rename)).toEqual([]);
  });

  it("has a version for each of parallel writes", async () => {
    const before = await findRuleVersion(api.db, organization.id);
    const made = await Promise.all(Array.from({ length: 12 }, () => makeFence(api, token)));
    const found = await findRuleChanges(api.db, organization.id, before);
    expect(found?.version).toBe(before + 12);
    expect(found?.changes.map(({ id }) => id).sort()).toEqual([...made].sort());
    expect(await findRuleVersion(api.db, (await makeOrganization(api)).id)).toBe(0);
  });

  it("is known back to a limit, and not further", async () => {
    const { id } = await makeOrganization(api);
    await api.db.transaction((tx) => touchRules(tx, id));
    await api.db.run`update rule_versions set version = ${keptChanges} where organization_id = ${id}`;
    await api.db.transaction((tx) => touchRules(tx, id, { kind: "device", id }));
    expect(await findRuleChanges(api.db, id, 0)).toBeUndefined();
    expect(await findRuleChanges(api.db, id, 1)).toEqual({
      version: keptChanges + 1,
      changes: [{ kind: "device", id }],
    });
    const { count } = await api.db.one<{ count: number }>`
      select count(*) as count from rule_changes where organization_id = ${id}`;
    expect(count).toBe(1);
  });

  it("is read as the rules need it: active rules, links and holders", async () => {
    const own = await makeOrganization(api, { features: ["geofence_scoping"] });
    const partner = (await makeIntegration(api, own)).token;
    const [device, other] = [await makeDevice(api, own), await makeDevice(api, own)];
    const [holder, without] = [await makeMember(api, own), await makeMember(api, own)];
    for (const { id } of [holder, without]) {
      await api.call("POST", `/api/v1/devices/${device.uid}/assign/`, { token: partner, body: { user_id: id } });
    }
    const schedule = { timezone: "Europe/Rome", windows: [{ days: [1], start: "08:00", end: "24:00" }] };
    const linked = await makeFence(api, partner, { trigger_on_dwell: true, dwell_threshold_seconds: 60, schedule });
    await link(api, partner, linked, [device.uid, other.uid]);
    const ofUser = await makeFence(api, partner, { scope: "user", user: holder.id });
    const ofAll = await makeFence(api, partner, { scope: "org" });
    const idle = await makeFence(api, partner, { is_active: false });
    const deleted = await makeFence(api, partner);
    await api.call("DELETE", `/api/v1/geofences/${deleted}/`, { token: partner });

    const fences = await all<FenceRule>(listFenceRules(api.db, own.id));
    expect(fences.map(({ id }) => id)).toEqual([linked, ofUser, ofAll].sort());
    const linkedAt = clock.now();
    const rule = fences.find(({ id }) => id === linked);
    expect(rule).toEqual({
      id: linked,
      name: "Home",
      ...home.center,
      radiusM: 150,
      triggerOnEnter: true,
      triggerOnExit: true,
      triggerOnDwell: true,
      dwellThresholdSeconds: 60,
      schedule,
      scope: "device",
      userId: null,
      shapeRevision: 1,
      shapeVersion: expect.any(Number),
      createdAt: clock.now(),
      updatedAt: clock.now(),
      links: expect.arrayContaining([
        { deviceId: device.id, linkedAt },
        { deviceId: other.id, linkedAt },
      ]),
    });
    expect(fences.find(({ id }) => id === ofUser)).toMatchObject({ scope: "user", userId: holder.id, links: [] });
    const byId = await listFenceRulesById(api.db, own.id, [linked, idle, deleted]);
    expect(byId.map(({ id }) => id)).toEqual([linked]);
    expect(await listFenceRulesById(api.db, organization.id, [linked])).toEqual([]);

    const held = [{ deviceId: device.id, userId: holder.id, assignedAt: clock.now() }];
    expect(await listHolders(api.db, own.id)).toEqual(held);
    expect(await listHoldersOfUsers(api.db, own.id, [holder.id])).toEqual(held);
    expect(await listHoldersOfDevices(api.db, own.id, [device.id, other.id])).toHaveLength(2);

    const threshold = await makeThreshold(api, partner, { scope: 15, device: device.uid, low: 45, severity: 30 });
    await makeThreshold(api, partner, { scope: 10, is_active: false });
    const rules = await all<ThresholdRule>(listThresholdRules(api.db, own.id));
    expect(rules).toEqual([
      {
        id: threshold,
        scope: 15,
        userId: null,
        deviceId: device.id,
        metricKey: "hr",
        low: 45,
        high: 120,
        severity: 30,
        overrideMode: 10,
        minDurationSeconds: 0,
        clearMargin: 0,
        cooldownSeconds: 300,
        revision: 1,
      },
    ]);
    expect(await listThresholdRulesById(api.db, own.id, [threshold, linked])).toEqual(rules);
  });

  it("is read in chunks, each fence once", async () => {
    const { id } = await makeOrganization(api);
    await api.db.run`
      insert into geofences (id, organization_id, name, description, lat, lng, radius_m, trigger_on_enter, trigger_on_exit,
        trigger_on_dwell, is_active, scope, shape_revision, search, created_at, updated_at)
      select gen_random_uuid(), ${id}, 'f', '', 1, 1, 5, true, true, false, true, 'device', 1, '', ${clock.now()}, ${clock.now()}
      from generate_series(1, 5001)`;
    const fences = await all<FenceRule>(listFenceRules(api.db, id));
    expect(new Set(fences.map((fence) => fence.id)).size).toBe(5001);
  });
});
