import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { makeCommandSweep } from "../../src/resources/commands/command-sweep.ts";
import { removeDevice } from "../../src/resources/use-cases/device-removal.ts";
import { cliActor, type TestApi } from "../support/api.ts";
import { type CommandApi, commandPath, openCommandApi } from "../support/command-api.ts";
import { auditOf } from "../support/fixtures.ts";
import type { TestIntegration, TestOrganization } from "../support/world.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
let commands: CommandApi;
let api: TestApi;
let organization: TestOrganization;
let integration: TestIntegration;
let token: string;

beforeAll(async () => {
  commands = await openCommandApi(clock);
  ({ api, organization, integration, token } = commands);
});
afterAll(() => api.close());

describe("the queue", () => {
  it("is 20 deep, exactly, whoever comes at the same time", async () => {
    const uid = await commands.device();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => commands.post(uid, { command_type: "locate_now" })),
    );
    const accepted = answers.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(20);
    const positions = accepted.map(({ body }) => body.queue_position).sort((a, b) => a - b);
    expect(positions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect([answer.status, answer.body.code]).toEqual([429, "command_queue_full"]);
      expect(answer.body).toMatchObject({ queue_limit: 20, queue_length: 20 });
      expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    const bad = await commands.post(uid, { command_type: "nothing" });
    expect(bad.status).toBe(400);
    const id = accepted[0]?.body.command_uuid;
    await commands.setStatus(id, "ack_ok");
    expect((await commands.post(uid, { command_type: "restart" })).body.queue_position).toBe(20);
  });

  it("makes one command of 100 posts with one Idempotency-Key", async () => {
    const uid = await commands.device();
    const headers = { "Idempotency-Key": "one-command" };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => commands.post(uid, { command_type: "locate_now" }, headers)),
    );
    expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ body }) => body.command_uuid)).size).toBe(1);
    const list = await api.call("GET", commandPath(uid), { token });
    expect(list.body.results).toHaveLength(1);
    const again = await commands.post(uid, { command_type: "locate_now" }, headers);
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
    expect(again.headers.location).toContain(made[0]?.body.command_uuid);
    expect((await commands.post(uid, { command_type: "restart" }, headers)).body.code).toBe("idempotency_key_reuse");
  });

  it("does not keep the answer of a full queue under its key", async () => {
    const uid = await commands.device();
    for (let count = 0; count < 20; count++) await commands.post(uid, { command_type: "locate_now" });
    const headers = { "Idempotency-Key": "later" };
    expect((await commands.post(uid, { command_type: "restart" }, headers)).status).toBe(429);
    await api.db.run`update commands set status = 'ack_ok' where status = 'pending'
      and device_id = (select id from devices where uid = ${uid})`;
    expect((await commands.post(uid, { command_type: "restart" }, headers)).status).toBe(201);
  });
});

describe("ends without a device", () => {
  it("expires at its time, with one event and one entry, and never before", async () => {
    const sweep = makeCommandSweep(api.db, clock);
    const uid = await commands.device();
    const { body } = await commands.post(uid, { command_type: "restart", expires_in: 10 });
    clock.advanceMs(9999);
    await sweep();
    expect((await api.call("GET", commandPath(uid, body.command_uuid), { token })).body.status).toBe("pending");
    clock.advanceMs(1);
    await Promise.all([sweep(), makeCommandSweep(api.db, clock)(), sweep()]);
    const { body: expired } = await api.call("GET", commandPath(uid, body.command_uuid), { token });
    const completed = clock.now().toISOString();
    expect(expired).toMatchObject({ status: "timeout", terminal: true, queue_position: null, attempts: 0 });
    expect(expired).toMatchObject({ sent_at: null, acked_at: null, completed_at: completed });
    expect(expired.error).toEqual({ code: "expired", message: "The device was not reached in time.", details: {} });
    const rows = await api.db.many<{ body: string }>`
      select body from outbound_events where device_uid = ${uid} and integration_id = ${integration.id}`;
    expect(rows).toHaveLength(1);
    const envelope = JSON.parse(rows[0]?.body ?? "");
    expect(envelope).toMatchObject({ type: "command.failed", occurred_at: completed, device: { uid, imei: uid } });
    expect(Object.keys(envelope.data)).toEqual(
      "command_uuid command_type status params result error created_at sent_at acked_at completed_at".split(" "),
    );
    expect(envelope.data).toMatchObject({ command_uuid: body.command_uuid, status: "timeout", error: expired.error });
    expect(await auditOf(api, body.command_uuid)).toMatchObject([
      { action: 0 },
      { action: 1, actor_type: "system", changes: { status: ["pending", "timeout"], error: [null, "expired"] } },
    ]);
  });

  it("is cancelled with its device", async () => {
    const uid = await commands.device();
    const ids: string[] = [];
    for (const type of ["restart", "locate_now"])
      ids.push((await commands.post(uid, { command_type: type })).body.command_uuid);
    await commands.setStatus(ids[0] as string, "sent");
    const { id } = await api.db.one<{ id: string }>`select id from devices where uid = ${uid}`;
    await api.db.transaction((tx) => removeDevice(tx, organization.id, id, cliActor(organization.id), clock.now()));
    const rows = await api.db.many`select status, error->>'code' as code from commands where device_id = ${id}`;
    expect(rows).toEqual([
      { status: "timeout", code: "cancelled" },
      { status: "timeout", code: "cancelled" },
    ]);
    const outbound = await api.db.many<{ body: string }>`
      select body from outbound_events where device_uid = ${uid} and integration_id = ${integration.id} order by id`;
    expect(outbound.map(({ body }) => JSON.parse(body).data.command_uuid).sort()).toEqual(ids.sort());
  });
});

describe("the configuration of the device", () => {
  const config = async (uid: string) =>
    (await api.call("GET", `/api/v1/devices/${uid}/config/`, { token })).body.settings;

  it("shows what was requested, and the command in progress", async () => {
    const uid = await commands.device();
    const ask = async (command_type: string, params: object): Promise<string> =>
      (await commands.post(uid, { command_type, params })).body.command_uuid;
    const first = await ask("set_report_interval", { interval_seconds: 60 });
    const second = await ask("set_report_interval", { interval_seconds: 300 });
    await ask("set_working_mode", { mode: "custom", interval_seconds: 120 });
    await ask("set_timezone", { utc_offset_minutes: 120 });
    await ask("set_sos_numbers", { numbers: ["112"] });
    await ask("set_contacts", { contacts: [{ name: "Jo", phone: "1" }] });
    await ask("set_fall_detection", { enabled: true });
    await ask("set_heart_rate_interval", { enabled: false });
    const temperature = await ask("set_temperature_interval", { enabled: true, interval_minutes: 30 });
    const settings = await config(uid);
    const desired = Object.fromEntries(
      Object.entries(settings).map(([name, setting]) => [name, (setting as { desired: unknown }).desired]),
    );
    expect(desired).toEqual({
      working_mode: "custom",
      report_interval_seconds: 300,
      timezone: 120,
      sos_numbers: ["112"],
      contacts: [{ name: "Jo", phone: "1" }],
      fall_detection: { enabled: true, sensitivity: 2 },
      heart_rate_interval_minutes: 0,
      temperature_interval_minutes: 30,
    });
    expect(settings.temperature_interval_minutes).toMatchObject({ command_uuid: temperature, in_sync: false });
    expect(settings.report_interval_seconds.command_uuid).toBe(second);
    await api.call("DELETE", commandPath(uid, second), { token });
    expect((await config(uid)).report_interval_seconds.command_uuid).toBe(first);
    await api.call("DELETE", commandPath(uid, first), { token });
    expect((await config(uid)).report_interval_seconds).toMatchObject({ command_uuid: null, reported: null });
  });
});
