import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setCapabilityOverride } from "../../src/resources/devices/capability-override-store.ts";
import { findLiveDeviceAnywhere } from "../../src/resources/devices/device-store.ts";
import { cliActor, type TestApi } from "../support/api.ts";
import { assign, imeis, lastAudit, register } from "../support/devices.ts";
import { fetchToken, makePerson, openPartnerApi, type TestOrganization } from "../support/world.ts";

const unset = { desired: null, reported: null, reported_at: null, command_uuid: null, in_sync: true };

describe("configuration and capabilities of a device", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let client: { clientId: string; clientSecret: string; token: string };
  let token: string;
  const nextImei = imeis();
  const make = async (device_model_slug: string): Promise<string> =>
    (await register(api, token, nextImei(), { device_model_slug })).body.uid;
  const config = async (uid: string, as = token) =>
    (await api.call("GET", `/api/v1/devices/${uid}/config/`, { token: as })).body;
  const capabilities = async (uid: string, as = token) =>
    (await api.call("GET", `/api/v1/devices/${uid}/capabilities/`, { token: as })).body;

  async function override(uid: string, code: string, supported: boolean, paramsSchema?: object | null) {
    await api.db.transaction(async (tx) => {
      const device = await findLiveDeviceAnywhere(tx, uid);
      const schema = paramsSchema as Record<string, unknown> | null | undefined;
      const change = { code, supported, paramsSchema: schema };
      await setCapabilityOverride(tx, device!, change, cliActor(organization.id), api.clock.now());
    });
  }

  /** What a command would have written. */
  async function setSetting(
    uid: string,
    setting: string,
    values: { desired?: unknown; reported?: unknown; at: string },
  ) {
    const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
    const reportedAt = values.reported === undefined ? null : values.at;
    await api.db.run`
      insert into device_settings (device_id, organization_id, setting, desired, reported, reported_at, updated_at)
      select id, organization_id, ${setting}, ${json(values.desired)}, ${json(values.reported)}, ${reportedAt}, ${values.at}
      from devices where uid = ${uid}`;
  }

  beforeAll(async () => {
    ({ api, organization, integration: client, token } = await openPartnerApi());
  });
  afterAll(() => api.close());

  describe("config", () => {
    it("lists the settings a device supports, before anything is set", async () => {
      const uid = await make("iw-generic");
      expect(await config(uid)).toEqual({
        device_uid: uid,
        updated_at: null,
        settings: {
          working_mode: unset,
          report_interval_seconds: unset,
          timezone: unset,
          sos_numbers: unset,
          contacts: unset,
          fall_detection: unset,
          heart_rate_interval_minutes: unset,
          temperature_interval_minutes: unset,
        },
      });
      expect((await config(await make("osmand-generic"))).settings).toEqual({});
    });

    it("follows an override", async () => {
      const uid = await make("osmand-generic");
      await override(uid, "set_report_interval", true);
      expect((await config(uid)).settings).toEqual({ report_interval_seconds: unset });
    });

    it("shows what is requested and what is acknowledged", async () => {
      const uid = await make("iw-generic");
      await setSetting(uid, "fall_detection", {
        desired: { enabled: true, sensitivity: 2 },
        reported: { sensitivity: 2, enabled: true },
        at: "2026-03-01T08:00:00Z",
      });
      await setSetting(uid, "report_interval_seconds", { desired: 300, reported: 600, at: "2026-03-01T09:00:00Z" });
      await setSetting(uid, "timezone", { desired: "Europe/Rome", at: "2026-02-01T08:00:00Z" });
      await setSetting(uid, "working_mode", { reported: "normal", at: "2026-02-01T08:00:00Z" });
      const { updated_at, settings } = await config(uid);
      expect(updated_at).toBe("2026-03-01T09:00:00.000Z");
      expect(settings.fall_detection).toEqual({
        desired: { enabled: true, sensitivity: 2 },
        reported: { enabled: true, sensitivity: 2 },
        reported_at: "2026-03-01T08:00:00.000Z",
        command_uuid: null,
        in_sync: true,
      });
      expect(settings.report_interval_seconds).toMatchObject({ desired: 300, reported: 600, in_sync: false });
      expect(settings.timezone).toMatchObject({ desired: "Europe/Rome", reported: null, in_sync: false });
      expect(settings.working_mode).toMatchObject({ desired: null, reported: "normal", in_sync: true });
      expect(settings.contacts).toEqual(unset);
    });

    it("withholds phone numbers from those who cannot write devices", async () => {
      const uid = await make("iw-generic");
      await setSetting(uid, "sos_numbers", { desired: ["+39333"], reported: ["+39444"], at: "2026-03-01T08:00:00Z" });
      await setSetting(uid, "contacts", { desired: [{ name: "A", phone: "1" }], at: "2026-03-01T08:00:00Z" });
      const user = await makePerson(api, organization, "USER");
      await assign(api, organization.id, uid, user.id, 30);
      const admin = await makePerson(api, organization, "ADMIN");
      const hidden = { desired: null, reported: null, in_sync: false, redacted: true };
      for (const as of [await fetchToken(api, client, "devices:read"), user.token]) {
        const { settings } = await config(uid, as);
        expect(settings.sos_numbers).toMatchObject(hidden);
        expect(settings.contacts).toMatchObject(hidden);
        expect(settings.timezone).toEqual(unset);
        expect(JSON.stringify(settings)).not.toContain("+39");
      }
      for (const as of [token, admin.token]) {
        const { settings } = await config(uid, as);
        expect(settings.sos_numbers).toMatchObject({ desired: ["+39333"], reported: ["+39444"] });
        expect(settings.sos_numbers).not.toHaveProperty("redacted");
      }
    });
  });

  describe("capabilities", () => {
    it("are those of the model, all in one answer", async () => {
      const uid = await make("iw-h10");
      const answer = await capabilities(uid, await fetchToken(api, client, "catalog:read"));
      expect(answer).toMatchObject({ device_uid: uid, device_model_slug: "iw-h10", protocol_slug: "iw" });
      const path = "/api/v1/protocols/iw/models/iw-h10/capabilities/?page_size=200";
      const { results } = (await api.call("GET", path, { token })).body;
      const byCode = (a: { code: string }, b: { code: string }) => (a.code < b.code ? -1 : 1);
      expect(answer.capabilities.toSorted(byCode)).toEqual(results);
      expect(results.find(({ code }: { code: string }) => code === "restart").ack_timeout_seconds).toBe(60);
    });

    it("have the keys of the record whatever their kind, null where a kind has nothing to say", async () => {
      const { capabilities: all } = await capabilities(await make("iw-h10"));
      for (const { kind, ...record } of all as { kind: string; [key: string]: unknown }[]) {
        expect(Object.keys(record)).toEqual(
          expect.arrayContaining(["requires_ack", "ack_timeout_seconds", "params_schema", "source", "overridden"]),
        );
        if (kind === "command") continue;
        expect(record).toMatchObject({ requires_ack: false, ack_timeout_seconds: null, params_schema: null });
      }
    });

    it("have the overrides of this device alone", async () => {
      const [uid, other] = [await make("iw-h10"), await make("iw-h10")];
      await override(uid, "restart", false);
      const restart = async (deviceUid: string) =>
        (await capabilities(deviceUid)).capabilities.find(({ code }: { code: string }) => code === "restart");
      expect(await restart(uid)).toMatchObject({ supported: false, source: "device", overridden: true });
      expect(await restart(other)).toMatchObject({ supported: true, source: "catalog", overridden: false });
    });

    it("keep an earlier parameter schema unless it is replaced, and each change is audited", async () => {
      const uid = await make("gt06-generic");
      const { id } = (await api.call("GET", `/api/v1/devices/${uid}/`, { token })).body;
      const schema = { type: "object", properties: { interval_seconds: { type: "integer", minimum: 600 } } };
      const shown = async () =>
        (await capabilities(uid)).capabilities.find(({ code }: { code: string }) => code === "set_report_interval");
      await override(uid, "set_report_interval", true, schema);
      expect((await shown()).params_schema).toEqual(schema);
      const entry = await lastAudit(api, token, "set_report_interval", "devicecapability");
      expect(entry).toMatchObject({ action_display: "created", object_pk: id, object_repr: "set_report_interval" });
      expect(entry).toMatchObject({ actor_type: "system", additional_data: { via: "cli" } });
      await override(uid, "set_report_interval", false);
      expect(await shown()).toMatchObject({ supported: false, params_schema: schema });
      const second = await lastAudit(api, token, "set_report_interval", "devicecapability");
      expect(second).toMatchObject({ action_display: "updated", changes: { supported: [true, false] } });
      await override(uid, "set_report_interval", false);
      expect((await lastAudit(api, token, "set_report_interval", "devicecapability")).id).toBe(second.id);
      await override(uid, "set_report_interval", false, null);
      expect((await shown()).params_schema).not.toEqual(schema);
    });
  });
});
