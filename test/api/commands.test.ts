import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import type { TestAnswer, TestApi } from "../support/api.ts";
import { type CommandApi, commandPath, openCommandApi } from "../support/command-api.ts";
import { assign, lastAudit } from "../support/devices.ts";
import { auditOf } from "../support/fixtures.ts";
import { makeIntegration, makePerson, type TestOrganization } from "../support/world.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
let commands: CommandApi;
let api: TestApi;
let organization: TestOrganization;
let token: string;

beforeAll(async () => {
  commands = await openCommandApi(clock);
  ({ api, organization, token } = commands);
});
afterAll(() => api.close());

const typesOf = (answer: TestAnswer): string[] =>
  answer.body.results.map(({ command_type }: { command_type: string }) => command_type);

describe("POST", () => {
  it("answers 201 with a pending record and its address", async () => {
    const uid = await commands.device();
    const answer = await commands.post(uid, { command_type: "calibrate_bp", params: { sbp: 118, dbp: 76 } });
    expect(answer.status).toBe(201);
    const id = answer.body.command_uuid;
    expect(answer.headers.location).toBe(`https://vigil.example${commandPath(uid, id)}`);
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
    expect((await api.call("GET", commandPath(uid, id), { token })).body).toEqual(answer.body);
  });

  it("takes no params, unknown keys, and its own expiry", async () => {
    const uid = await commands.device();
    const plain = await commands.post(uid, { command_type: "restart", colour: "red", expires_in: 60 });
    expect(plain.body).toMatchObject({ params: {}, expires_at: "2026-03-01T08:16:30.123Z" });
    const more = await commands.post(uid, {
      command_type: "set_report_interval",
      params: { interval_seconds: 60, x: 1 },
    });
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
    const answer = await commands.post(await commands.device(), body);
    expect([answer.status, answer.body.code, answer.body.errors]).toEqual([400, "validation_error", errors]);
  });

  it("accepts fixed fields that say what the record says", async () => {
    const uid = await commands.device();
    const answer = await commands.post(uid, {
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
    const uid = await commands.device();
    const schema = { type: "object", properties: { volume: { type: "integer", minimum: 1 } }, required: ["volume"] };
    await api.db.run`
      insert into device_capability_overrides (device_id, organization_id, code, supported, params_schema, updated_at)
      select d.id, d.organization_id, v.code, v.supported, v.schema::jsonb, ${clock.now()} from devices d,
        (values ('restart', false, null), ('find_device', true, ${JSON.stringify(schema)})) as v(code, supported, schema)
      where d.uid = ${uid}`;
    const restart = await commands.post(uid, { command_type: "restart" });
    expect(restart.body.errors).toEqual({ command_type: ['"restart" is not supported by this device.'] });
    const find = await commands.post(uid, { command_type: "find_device" });
    expect(find.body.errors).toEqual({ "params.volume": ["This field is required."] });
    expect((await commands.post(uid, { command_type: "find_device", params: { volume: 3 } })).status).toBe(201);
  });

  it("needs the messaging opt-in for send_message, before it looks at the parameters", async () => {
    const plain = await makeIntegration(api, organization, { messaging: false });
    const uid = await commands.device();
    const refused = await commands.post(uid, { command_type: "send_message" }, {}, plain.token);
    expect([refused.status, refused.body.code, refused.body.feature]).toEqual([
      403,
      "feature_not_enabled",
      "messaging",
    ]);
    expect((await commands.post(uid, { command_type: "locate_now" }, {}, plain.token)).status).toBe(201);
    const blank = await commands.post(uid, { command_type: "send_message" });
    expect(blank.body.errors).toEqual({ "params.text": ["This field is required."] });
    expect(
      (await commands.post(uid, { command_type: "send_message", params: { text: "😀".repeat(200) } })).status,
    ).toBe(201);
    const long = await commands.post(uid, { command_type: "send_message", params: { text: "😀".repeat(201) } });
    expect(long.body.errors).toEqual({ "params.text": ["Ensure this field has no more than 200 characters."] });
  });
});

describe("GET", () => {
  it("lists newest first, with filters, search and cursors", async () => {
    const uid = await commands.device();
    const start = clock.now();
    for (const command_type of ["locate_now", "restart", "test_heart_rate", "locate_now"]) {
      expect((await commands.post(uid, { command_type })).status).toBe(201);
      clock.advanceMs(1000);
    }
    const list = (query = "") => api.call("GET", `${commandPath(uid)}${query}`, { token });
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
    const [one, other] = [await commands.device(), await commands.device()];
    const { body } = await commands.post(one, { command_type: "restart" });
    expect((await api.call("GET", commandPath(other, body.command_uuid), { token })).status).toBe(404);
    expect((await api.call("DELETE", commandPath(other, body.command_uuid), { token })).status).toBe(404);
  });
});

describe("DELETE", () => {
  it("cancels what waits, hides what is final, and refuses what is being sent", async () => {
    const uid = await commands.device();
    const made = async (): Promise<string> => (await commands.post(uid, { command_type: "restart" })).body.command_uuid;
    const remove = (id: string) => api.call("DELETE", commandPath(uid, id), { token });
    const [pending, second] = [await made(), await made()];
    expect((await remove(pending)).status).toBe(204);
    expect((await remove(pending)).status).toBe(404);
    expect((await api.call("GET", commandPath(uid, second), { token })).body.queue_position).toBe(1);
    for (const status of ["sending", "sent"]) {
      await commands.setStatus(second, status);
      const refused = await remove(second);
      expect([refused.status, refused.body.code]).toEqual([409, "command_in_flight"]);
    }
    for (const status of ["ack_ok", "ack_error", "timeout"]) {
      const id = await made();
      await commands.setStatus(id, status);
      expect((await remove(id)).status).toBe(204);
      expect((await api.call("GET", commandPath(uid, id), { token })).status).toBe(404);
    }
    expect(typesOf(await api.call("GET", commandPath(uid), { token }))).toEqual(["restart"]);
    const kept = await api.db.one<{ count: number }>`
      select count(*) as count from commands where device_id = (select id from devices where uid = ${uid})`;
    expect(kept.count).toBe(4);
    expect(await api.db.many`select 1 from outbound_events where device_uid = ${uid}`).toEqual([]);
  });
});

describe("people", () => {
  it("may command what is assigned to them, unless as viewers", async () => {
    const uid = await commands.device();
    const user = await makePerson(api, organization, "USER");
    const looker = await makePerson(api, organization, "USER");
    const viewer = await makePerson(api, organization, "VIEWER");
    const body = { command_type: "send_message", params: { text: "Hello" } };
    expect((await commands.post(uid, body, {}, user.token)).status).toBe(404);
    await assign(api, organization.id, uid, user.id, 20);
    await assign(api, organization.id, uid, looker.id, 10);
    await assign(api, organization.id, uid, viewer.id, 20);
    const sent = await commands.post(uid, body, {}, user.token);
    expect([sent.status, sent.body.sender_user_id]).toEqual([201, user.id]);
    for (const person of [looker, viewer]) {
      const refused = await commands.post(uid, body, {}, person.token);
      expect([refused.status, refused.body.code]).toEqual([403, "role_not_allowed"]);
      const list = await api.call("GET", commandPath(uid), { token: person.token });
      expect(typesOf(list)).toEqual(["send_message"]);
      const removal = await api.call("DELETE", commandPath(uid, sent.body.command_uuid), { token: person.token });
      expect(removal.body.code).toBe("role_not_allowed");
    }
    expect((await api.call("DELETE", commandPath(uid, sent.body.command_uuid), { token: user.token })).status).toBe(
      204,
    );
  });
});

describe("the audit log", () => {
  it("tells of commands, and not what they say", async () => {
    const uid = await commands.device();
    const { body } = await commands.post(uid, { command_type: "set_sos_numbers", params: { numbers: ["+391"] } });
    await api.call("DELETE", commandPath(uid, body.command_uuid), { token });
    const entries = await auditOf(api, body.command_uuid);
    expect(entries).toMatchObject([
      { action: 0, content_type: 8, object_repr: "set_sos_numbers", changes: { params: [null, "***"] } },
      { action: 2, content_type: 8, changes: { params: ["***", null], status: ["pending", null] } },
    ]);
    expect(entries[0]?.changes).toMatchObject({ device: [null, uid], command_type: [null, "set_sos_numbers"] });
    await commands.post(uid, { command_type: "set_report_interval", params: { interval_seconds: 60 } });
    const last = await lastAudit(api, token, "set_report_interval", "command");
    expect(last).toMatchObject({ actor_type: "partners", changes: { params: [null, { interval_seconds: 60 }] } });
  });
});
