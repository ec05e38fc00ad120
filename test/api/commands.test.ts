import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { makeCommandSweep } from "../../src/resources/commands/command-sweep.ts";
import { deleteDevice } from "../../src/resources/devices/device-removal.ts";
import { partitionedTables } from "../../src/service.ts";
import { cliActor, openTestApi, type TestAnswer, type TestApi } from "../support/api.ts";
import { assign, imeis, lastAudit, register } from "../support/devices.ts";
import { auditOf } from "../support/fixtures.ts";
import {
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
const nextImei = imeis(490_154_206_000_000);
let api: TestApi;
let organization: TestOrganization;
let integration: TestIntegration;
let token: string;

beforeAll(async () => {
  api = await openTestApi({ clock });
  await maintainPartitions(api.db, partitionedTables, clock.nowMs());
  organization = await makeOrganization(api);
  integration = await makeIntegration(api, organization);
  token = integration.token;
});
afterAll(() => api.close());

const path = (uid: string, id = ""): string => `/api/v1/devices/${uid}/commands/${id === "" ? "" : `${id}/`}`;

async function device(model = "iw-h10"): Promise<string> {
  const uid = nextImei();
  expect((await register(api, token, uid, { device_model_slug: model })).status).toBe(201);
  return uid;
}

const post = (uid: string, body: unknown, headers: Record<string, string> = {}, by = token): Promise<TestAnswer> =>
  api.call("POST", path(uid), { token: by, body, headers });
const setStatus = (id: string, status: string) => api.db.run`
  update commands set status = ${status}, attempts = 1, due_at = null where id = ${id}`;
const typesOf = (answer: TestAnswer): string[] =>
  answer.body.results.map(({ command_type }: { command_type: string }) => command_type);

describe("POST", () => {
  it("answers 201 with a pending record and its address", async () => {
    const uid = await device();
    const answer = await post(uid, { command_type: "calibrate_bp", params: { sbp: 118, dbp: 76 } });
    expect(answer.status).toBe(201);
    const id = answer.body.command_uuid;
    expect(answer.headers.location).toBe(`https://vigil.example${path(uid, id)}`);
    expect(answer.body).toEqual({
      command_uuid: id,
      device_uid: uid,
      command_type: "calibrate_bp",
      params: { sbp: 118, dbp: 76 },
      status: "pending",
      terminal: false,
      queue_position: 1,
      attempts: 0,
      result: null,
      error: null,
      sender_user_id: null,
      created_at: "2026-03-01T08:15:30.123Z",
      sent_at: null,
      acked_at: null,
      completed_at: null,
      expires_at: "2026-03-02T08:15:30.123Z",
    });
    expect((await api.call("GET", path(uid, id), { token })).body).toEqual(answer.body);
  });

  it("takes no params, unknown keys, and its own expiry", async () => {
    const uid = await device();
    const plain = await post(uid, { command_type: "restart", colour: "red", expires_in: 60 });
    expect(plain.body).toMatchObject({ params: {}, expires_at: "2026-03-01T08:16:30.123Z" });
    const more = await post(uid, { command_type: "set_report_interval", params: { interval_seconds: 60, x: 1 } });
    expect(more.body).toMatchObject({ params: { interval_seconds: 60 }, queue_position: 2 });
  });

  it.each([
    [{}, { command_type: ["This field is required."] }],
    [{ command_type: "open_door" }, { command_type: ['"open_door" is not supported by this device.'] }],
    [{ command_type: "find_device" }, { command_type: ['"find_device" is not supported by this device.'] }],
    [
      { command_type: "calibrate_bp", params: { sbp: 300, dbp: "x" } },
      {
        "params.sbp": ["Ensure this value is less than or equal to 250."],
        "params.dbp": ["A valid integer is required."],
      },
    ],
    [
      { command_type: "calibrate_bp", params: { sbp: 100, dbp: 120 } },
      { "params.dbp": ["dbp must be less than sbp."] },
    ],
    [
      { command_type: "calibrate_bp", params: { sbp: 120, dbp: 80, age: 70 } },
      { "params.gender": ["age and gender must be given together."] },
    ],
    [
      { command_type: "set_working_mode", params: { mode: "custom" } },
      { "params.interval_seconds": ["This field is required."] },
    ],
    [{ command_type: "locate_now", params: null }, { params: ["This field may not be null."] }],
    [
      { command_type: "locate_now", expires_in: 0 },
      { expires_in: ["Ensure this value is greater than or equal to 1."] },
    ],
    [
      { command_type: "locate_now", expires_in: 2_592_001 },
      { expires_in: ["Ensure this value is less than or equal to 2592000."] },
    ],
    [{ command_type: "locate_now", status: "sent" }, { status: ["This field cannot be changed."] }],
    [{ command_type: "locate_now", queue_position: 7 }, { queue_position: ["This field cannot be changed."] }],
  ])("refuses %j", async (body, errors) => {
    const answer = await post(await device(), body);
    expect([answer.status, answer.body.code, answer.body.errors]).toEqual([400, "validation_error", errors]);
  });

  it("accepts fixed fields that say what the record says", async () => {
    const uid = await device();
    const answer = await post(uid, {
      command_type: "locate_now",
      status: "pending",
      terminal: false,
      device_uid: uid,
      result: null,
      command_uuid: null,
      queue_position: 1,
      attempts: 0,
    });
    expect(answer.status).toBe(201);
  });

  it("asks the capabilities of the very device", async () => {
    const uid = await device();
    const schema = { type: "object", properties: { volume: { type: "integer", minimum: 1 } }, required: ["volume"] };
    await api.db.run`
      insert into device_capability_overrides (device_id, organization_id, code, supported, params_schema, updated_at)
      select d.id, d.organization_id, v.code, v.supported, v.schema::jsonb, ${clock.now()} from devices d,
        (values ('restart', false, null), ('find_device', true, ${JSON.stringify(schema)})) as v(code, supported, schema)
      where d.uid = ${uid}`;
    const restart = await post(uid, { command_type: "restart" });
    expect(restart.body.errors).toEqual({ command_type: ['"restart" is not supported by this device.'] });
    const find = await post(uid, { command_type: "find_device" });
    expect(find.body.errors).toEqual({ "params.volume": ["This field is required."] });
    expect((await post(uid, { command_type: "find_device", params: { volume: 3 } })).status).toBe(201);
  });

  it("needs the messaging opt-in for send_message, before it looks at the parameters", async () => {
    const plain = await makeIntegration(api, organization, { messaging: false });
    const uid = await device();
    const refused = await post(uid, { command_type: "send_message" }, {}, plain.token);
    expect([refused.status, refused.body.code, refused.body.feature]).toEqual([
      403,
      "feature_not_enabled",
      "messaging",
    ]);
    expect((await post(uid, { command_type: "locate_now" }, {}, plain.token)).status).toBe(201);
    const blank = await post(uid, { command_type: "send_message" });
    expect(blank.body.errors).toEqual({ "params.text": ["This field is required."] });
    expect((await post(uid, { command_type: "send_message", params: { text: "😀".repeat(200) } })).status).toBe(201);
    const long = await post(uid, { command_type: "send_message", params: { text: "😀".repeat(201) } });
    expect(long.body.errors).toEqual({ "params.text": ["Ensure this field has no more than 200 characters."] });
  });
});

describe("the queue", () => {
  it("is 20 deep, exactly, whoever comes at the same time", async () => {
    const uid = await device();
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(uid, { command_type: "locate_now" })));
    const accepted = answers.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(20);
    const positions = accepted.map(({ body }) => body.queue_position).sort((a, b) => a - b);
    expect(positions).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect([answer.status, answer.body.code]).toEqual([429, "command_queue_full"]);
      expect(answer.body).toMatchObject({ queue_limit: 20, queue_length: 20 });
      expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    const bad = await post(uid, { command_type: "nothing" });
    expect(bad.status).toBe(400);
    const id = accepted[0]?.body.command_uuid;
    await setStatus(id, "ack_ok");
    expect((await post(uid, { command_type: "restart" })).body.queue_position).toBe(20);
  });

  it("makes one command of 100 posts with one Idempotency-Key", async () => {
    const uid = await device();
    const headers = { "Idempotency-Key": "one-command" };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => post(uid, { command_type: "locate_now" }, headers)),
    );
    expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ body }) => body.command_uuid)).size).toBe(1);
    const list = await api.call("GET", path(uid), { token });
    expect(list.body.results).toHaveLength(1);
    const again = await post(uid, { command_type: "locate_now" }, headers);
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
    expect(again.headers.location).toContain(made[0]?.body.command_uuid);
    expect((await post(uid, { command_type: "restart" }, headers)).body.code).toBe("idempotency_key_reuse");
  });

  it("does not keep the answer of a full queue under its key", async () => {
    const uid = await device();
    for (let count = 0; count < 20; count++) await post(uid, { command_type: "locate_now" });
    const headers = { "Idempotency-Key": "later" };
    expect((await post(uid, { command_type: "restart" }, headers)).status).toBe(429);
    await api.db.run`update commands set status = 'ack_ok' where status = 'pending'
      and device_id = (select id from devices where uid = ${uid})`;
    expect((await post(uid, { command_type: "restart" }, headers)).status).toBe(201);
  });
});

describe("GET", () => {
  it("lists newest first, with filters, search and cursors", async () => {
    const uid = await device();
    const start = clock.now();
    for (const command_type of ["locate_now", "restart", "test_heart_rate", "locate_now"]) {
      expect((await post(uid, { command_type })).status).toBe(201);
      clock.advanceMs(1000);
    }
    const list = (query = "") => api.call("GET", `${path(uid)}${query}`, { token });
    expect(typesOf(await list())).toEqual(["locate_now", "test_heart_rate", "restart", "locate_now"]);
    expect(typesOf(await list("?ordering=created_at&command_type=locate_now,restart"))).toEqual([
      "locate_now",
      "restart",
      "locate_now",
    ]);
    expect(typesOf(await list("?search=HEART"))).toEqual(["test_heart_rate"]);
    expect(typesOf(await list("?command_type=unknown"))).toEqual([]);
    expect(typesOf(await list("?status=ack_ok,timeout"))).toEqual([]);
    expect(typesOf(await list("?status=pending,sending,sent"))).toHaveLength(4);
    const from = new Date(start.getTime() + 1000).toISOString();
    const to = new Date(start.getTime() + 3000).toISOString();
    expect(typesOf(await list(`?created_after=${from}&created_before=${to}`))).toEqual(["test_heart_rate", "restart"]);
    const first = await list("?page_size=3&order=asc");
    expect(typesOf(first)).toEqual(["locate_now", "restart", "test_heart_rate"]);
    const second = await api.call("GET", first.body.next.replace("https://vigil.example", ""), { token });
    expect([typesOf(second), second.body.next]).toEqual([["locate_now"], null]);
    for (const query of ["?status=done", "?created_after=x", "?ordering=status", "?page_size=0", "?order=up"]) {
      expect((await list(query)).body.code, query).toBe("validation_error");
    }
    expect((await list("?cursor=x")).body.code).toBe("invalid_cursor");
  });

  it("is 404 for a command of another device", async () => {
    const [one, other] = [await device(), await device()];
    const { body } = await post(one, { command_type: "restart" });
    expect((await api.call("GET", path(other, body.command_uuid), { token })).status).toBe(404);
    expect((await api.call("DELETE", path(other, body.command_uuid), { token })).status).toBe(404);
  });
});

describe("DELETE", () => {
  it("forgets what waits, hides what is final, and leaves alone what is under way", async () => {
    const uid = await device();
    const made = async (): Promise<string> => (await post(uid, { command_type: "restart" })).body.command_uuid;
    const remove = (id: string) => api.call("DELETE", path(uid, id), { token });
    const [pending, second] = [await made(), await made()];
    expect((await remove(pending)).status).toBe(204);
    expect((await remove(pending)).status).toBe(404);
    expect((await api.call("GET", path(uid, second), { token })).body.queue_position).toBe(1);
    for (const status of ["sending", "sent"]) {
      await setStatus(second, status);
      const refused = await remove(second);
      expect([refused.status, refused.body.code]).toEqual([409, "command_in_flight"]);
    }
    for (const status of ["ack_ok", "ack_error", "timeout"]) {
      const id = await made();
      await setStatus(id, status);
      expect((await remove(id)).status).toBe(204);
      expect((await api.call("GET", path(uid, id), { token })).status).toBe(404);
    }
    expect(typesOf(await api.call("GET", path(uid), { token }))).toEqual(["restart"]);
    const kept = await api.db.one<{ count: number }>`
      select count(*) as count from commands where device_id = (select id from devices where uid = ${uid})`;
    expect(kept.count).toBe(4);
    expect(await api.db.many`select 1 from outbound_events where device_uid = ${uid}`).toEqual([]);
  });
});

describe("people", () => {
  it("may command what is assigned to them, unless as viewers", async () => {
    const uid = await device();
    const user = await makePerson(api, organization, "USER");
    const looker = await makePerson(api, organization, "USER");
    const viewer = await makePerson(api, organization, "VIEWER");
    const body = { command_type: "send_message", params: { text: "Hello" } };
    expect((await post(uid, body, {}, user.token)).status).toBe(404);
    await assign(api, organization.id, uid, user.id, 20);
    await assign(api, organization.id, uid, looker.id, 10);
    await assign(api, organization.id, uid, viewer.id, 20);
    const sent = await post(uid, body, {}, user.token);
    expect([sent.status, sent.body.sender_user_id]).toEqual([201, user.id]);
    for (const person of [looker, viewer]) {
      const refused = await post(uid, body, {}, person.token);
      expect([refused.status, refused.body.code]).toEqual([403, "role_not_allowed"]);
      const list = await api.call("GET", path(uid), { token: person.token });
      expect(typesOf(list)).toEqual(["send_message"]);
      const removal = await api.call("DELETE", path(uid, sent.body.command_uuid), { token: person.token });
      expect(removal.body.code).toBe("role_not_allowed");
    }
    expect((await api.call("DELETE", path(uid, sent.body.command_uuid), { token: user.token })).status).toBe(204);
  });
});

describe("the audit log", () => {
  it("tells of commands, and not what they say", async () => {
    const uid = await device();
    const { body } = await post(uid, { command_type: "set_sos_numbers", params: { numbers: ["+391"] } });
    await api.call("DELETE", path(uid, body.command_uuid), { token });
    const entries = await auditOf(api, body.command_uuid);
    expect(entries).toMatchObject([
      { action: 0, content_type: 8, object_repr: "set_sos_numbers", changes: { params: [null, "***"] } },
      { action: 2, content_type: 8, changes: { params: ["***", null], status: ["pending", null] } },
    ]);
    expect(entries[0]?.changes).toMatchObject({ device: [null, uid], command_type: [null, "set_sos_numbers"] });
    await post(uid, { command_type: "set_report_interval", params: { interval_seconds: 60 } });
    const last = await lastAudit(api, token, "set_report_interval", "command");
    expect(last).toMatchObject({ actor_type: "partners", changes: { params: [null, { interval_seconds: 60 }] } });
  });
});

describe("ends without a device", () => {
  it("expires at its time, with one event and one entry, and never before", async () => {
    const sweep = makeCommandSweep(api.db, clock);
    const uid = await device();
    const { body } = await post(uid, { command_type: "restart", expires_in: 10 });
    clock.advanceMs(9999);
    await sweep();
    expect((await api.call("GET", path(uid, body.command_uuid), { token })).body.status).toBe("pending");
    clock.advanceMs(1);
    await Promise.all([sweep(), makeCommandSweep(api.db, clock)(), sweep()]);
    const { body: expired } = await api.call("GET", path(uid, body.command_uuid), { token });
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
    const uid = await device();
    const ids: string[] = [];
    for (const type of ["restart", "locate_now"]) ids.push((await post(uid, { command_type: type })).body.command_uuid);
    await setStatus(ids[0] as string, "sent");
    const { id } = await api.db.one<{ id: string }>`select id from devices where uid = ${uid}`;
    await api.db.transaction((tx) => deleteDevice(tx, organization.id, id, cliActor(organization.id), clock.now()));
    const rows = await api.db.many`select status, error->>'code' as code from commands where device_id = ${id}`;
    expect(rows).toEqual([
      { status: "timeout", code: "cancelled" },
      { status: "timeout", code: "cancelled" },
    ]);
    const told = await api.db.many<{ body: string }>`
      select body from outbound_events where device_uid = ${uid} and integration_id = ${integration.id} order by id`;
    expect(told.map(({ body }) => JSON.parse(body).data.command_uuid)).toEqual(ids);
  });
});

describe("the configuration of the device", () => {
  const config = async (uid: string) =>
    (await api.call("GET", `/api/v1/devices/${uid}/config/`, { token })).body.settings;

  it("shows what was asked for, and the command that is under way", async () => {
    const uid = await device();
    const ask = async (command_type: string, params: object): Promise<string> =>
      (await post(uid, { command_type, params })).body.command_uuid;
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
    await api.call("DELETE", path(uid, second), { token });
    expect((await config(uid)).report_interval_seconds.command_uuid).toBe(first);
    await api.call("DELETE", path(uid, first), { token });
    expect((await config(uid)).report_interval_seconds).toMatchObject({ command_uuid: null, reported: null });
  });
});
