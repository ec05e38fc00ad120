import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import type { TestApi } from "../support/api.ts";
import { assign, register } from "../support/devices.ts";
import { auditOf, makeDevice, type TestDevice } from "../support/fixtures.ts";
import { fetchToken, makeIntegration, makePerson, openPartnerApi, type TestOrganization } from "../support/world.ts";

describe("device messages", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let device: TestDevice;
  const base = (uid = device.uid): string => `/api/v1/devices/${uid}/messages/`;
  const sendText = (body: object, options: { token?: string; headers?: Record<string, string> } = {}) =>
    api.call("POST", `${base()}send-text/`, { token, body, ...options });

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
    device = await makeDevice(api, organization);
  });
  afterAll(() => api.close());

  it("answers 201 with the record and its address", async () => {
    const { status, body, headers } = await sendText({ text: "Call me" });
    expect(status).toBe(201);
    expect(headers.location).toBe(`https://vigil.example${base()}${body.id}/`);
    expect(body).toEqual({
      id: body.id,
      device_uid: device.uid,
      direction: "outbound",
      message_type: "text",
      text: "Call me",
      is_tts: false,
      audio: null,
      sender_user_id: null,
      sender_name: "Care Co",
      device_delivery_status: "pending",
      failure_reason: null,
      command_uuid: null,
      ts: body.created_at,
      created_at: body.created_at,
      delivered_at: null,
      read_at: null,
    });
    expect((await api.call("GET", `${base()}${body.id}/`, { token })).body).toEqual(body);
  });

  it("counts characters, not bytes", async () => {
    const maxLength = await sendText({ text: "😀".repeat(200), sender_name: "é".repeat(50) });
    expect([maxLength.status, maxLength.body.sender_name]).toEqual([201, "é".repeat(50)]);
    const over = await sendText({ text: "😀".repeat(201), sender_name: "é".repeat(51) });
    expect([over.status, Object.keys(over.body.errors)]).toEqual([400, ["text", "sender_name"]]);
    const none = await sendText({ text: "" });
    expect(none.body.errors).toEqual({ text: ["This field may not be blank."] });
    expect((await sendText({})).body.errors).toEqual({ text: ["This field is required."] });
  });

  it("refuses fields of the record that a sender does not write, unless they say what is so", async () => {
    expect((await sendText({ text: "x", direction: "outbound", is_tts: false, read_at: null })).status).toBe(201);
    const refused = await sendText({ text: "x", direction: "inbound", device_delivery_status: "delivered" });
    expect(refused.body.errors).toEqual({
      direction: ["This field cannot be changed."],
      device_delivery_status: ["This field cannot be changed."],
    });
  });

  it("asks the device what it supports", async () => {
    const plain = "353000000000011";
    await register(api, token, plain, { device_model_slug: "gt06-generic" });
    for (const [call, body] of [
      ["send-text", { text: "x" }],
      ["send-tts", { text: "x" }],
    ] as const) {
      const refused = await api.call("POST", `${base(plain)}${call}/`, { token, body });
      expect([refused.status, refused.body.code, Object.keys(refused.body.errors)]).toEqual([
        400,
        "validation_error",
        ["non_field_errors"],
      ]);
    }
  });

  it("takes a spoken text, in a language and voice it knows", async () => {
    const sendTts = (body: object) => api.call("POST", `${base()}send-tts/`, { token, body });
    const { status, body } = await sendTts({ text: "à".repeat(500), language: "it-IT" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ message_type: "voice", is_tts: true, device_delivery_status: "pending" });
    expect(body.audio).toEqual({
      available: false,
      url: `${base()}${body.id}/audio/`,
      mime_type: "audio/amr",
      duration_ms: null,
      size_bytes: null,
    });
    expect((await api.call("GET", body.audio.url, { token })).body.code).toBe("not_found");
    expect((await sendTts({ text: "x".repeat(501) })).status).toBe(400);
    expect((await sendTts({ text: "x", language: "tlh" })).body.errors).toEqual({
      language: ['"tlh" is not a valid choice.'],
    });
    expect((await sendTts({ text: "x", voice: "bass" })).body.errors).toEqual({
      voice: ['"bass" is not a valid choice.'],
    });
  });

  it("lists, filters, searches and orders", async () => {
    const { uid, id } = await makeDevice(api, organization);
    const made: string[] = [];
    for (const text of ["Ärzte kommen", "pills", "zebra"]) {
      made.push(
        (await api.call("POST", `${base(uid)}send-text/`, { token, body: { text, sender_name: "Desk" } })).body.id,
      );
    }
    await api.db.run`
      insert into messages (device_id, id, organization_id, direction, message_type, status, sender_name, ts, created_at, search)
      values (${id}, ${newUuid()}, ${organization.id}, 'inbound', 'voice', 'delivered', 'Watch', '2026-01-01', '2026-01-01', '')`;
    const list = async (query: string) =>
      (await api.call("GET", `${base(uid)}${query}`, { token })).body.results?.map(
        (row: { text: string | null }) => row.text,
      );
    expect(await list("")).toEqual(["zebra", "pills", "Ärzte kommen", null]);
    expect(await list("?ordering=created_at")).toEqual([null, "Ärzte kommen", "pills", "zebra"]);
    expect(await list("?search=ÄRZT")).toEqual(["Ärzte kommen"]);
    expect(await list("?search=desk&message_type=text&direction=outbound&page_size=1")).toEqual(["zebra"]);
    expect(await list("?direction=inbound")).toEqual([null]);
    expect(await list("?ts_before=2026-02-01")).toEqual([null]);
    expect(await list("?ts_after=2026-01-01&ts_before=2026-01-01")).toEqual([]);
    for (const bad of ["direction=up", "message_type=tts", "ts_after=x", "ordering=text"]) {
      expect((await api.call("GET", `${base(uid)}?${bad}`, { token })).status).toBe(400);
    }
  });

  it("deletes one, and several, and says what was not there", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await sendText({ text: `secret ${n}` })).body.id);
    const [first = "", ...rest] = ids;
    expect((await api.call("DELETE", `${base()}${first}/`, { token })).status).toBe(204);
    expect((await api.call("DELETE", `${base()}${first}/`, { token })).status).toBe(404);
    expect((await api.call("GET", `${base()}${first}/`, { token })).status).toBe(404);
    const unknown = newUuid();
    const bulk = await api.call("POST", `${base()}bulk-delete/`, {
      token,
      body: { ids: [...rest, ...rest.map((id) => id.toUpperCase()), first, unknown] },
    });
    expect([bulk.status, bulk.body]).toEqual([200, { deleted: 3, not_found: [first, unknown] }]);
    const other = await makeDevice(api, organization);
    const elsewhere = (await api.call("POST", `${base(other.uid)}send-text/`, { token, body: { text: "x" } })).body.id;
    const foreign = await api.call("POST", `${base()}bulk-delete/`, { token, body: { ids: [elsewhere] } });
    expect(foreign.body).toEqual({ deleted: 0, not_found: [elsewhere] });
    for (const bad of [[], ["x"], Array.from({ length: 101 }, newUuid)]) {
      expect((await api.call("POST", `${base()}bulk-delete/`, { token, body: { ids: bad } })).status).toBe(400);
    }
    const entries = await auditOf(api, first);
    expect(entries.map(({ action, object_repr }) => [action, object_repr])).toEqual([
      [0, "text"],
      [2, "text"],
    ]);
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  it("answers a repeated key with the first message", async () => {
    const headers = { "idempotency-key": "text-1" };
    const first = await sendText({ text: "once" }, { headers });
    const again = await sendText({ text: "once" }, { headers });
    expect([again.status, again.body.id, again.headers["idempotency-replayed"]]).toEqual([201, first.body.id, "true"]);
    expect((await sendText({ text: "twice" }, { headers })).body.code).toBe("idempotency_key_reuse");
  });

  it("is closed to an integration that has not opted in, on every call", async () => {
    const closed = await makeIntegration(api, organization, { messaging: false });
    const { id } = (await sendText({ text: "x" })).body;
    const calls = [
      ["GET", base()],
      ["GET", `${base()}${id}/`],
      ["DELETE", `${base()}${id}/`],
      ["GET", `${base()}${id}/audio/`],
      ["POST", `${base()}send-text/`],
      ["POST", `${base()}send-tts/`],
      ["POST", `${base()}upload-voice/`],
      ["POST", `${base()}bulk-delete/`],
    ] as const;
    for (const [method, path] of calls) {
      const { status, body } = await api.call(method, path, { token: closed.token });
      expect([status, body.code, body.feature]).toEqual([403, "feature_not_enabled", "messaging"]);
    }
    // The feature comes before the scope.
    const narrow = await fetchToken(api, closed, "org:read");
    expect((await api.call("GET", base(), { token: narrow })).body.code).toBe("feature_not_enabled");
  });

  it("lets people write to the devices they hold, in their name", async () => {
    const holder = await makePerson(api, organization, "USER");
    const viewer = await makePerson(api, organization, "USER");
    const stranger = await makePerson(api, organization, "USER");
    const reader = await makePerson(api, organization, "VIEWER");
    await assign(api, organization.id, device.uid, holder.id, 20);
    await assign(api, organization.id, device.uid, viewer.id, 10);
    await assign(api, organization.id, device.uid, reader.id, 20);
    const sent = await sendText({ text: "hello" }, { token: holder.token });
    expect([sent.status, sent.body.sender_user_id]).toEqual([201, holder.id]);
    expect((await sendText({ text: "x" }, { token: viewer.token })).body.code).toBe("role_not_allowed");
    expect((await sendText({ text: "x" }, { token: reader.token })).body.code).toBe("role_not_allowed");
    expect((await sendText({ text: "x" }, { token: stranger.token })).status).toBe(404);
    expect((await api.call("GET", base(), { token: viewer.token })).status).toBe(200);
    expect((await api.call("GET", base(), { token: reader.token })).status).toBe(200);
    expect((await api.call("GET", base(), { token: stranger.token })).status).toBe(404);
    const path = `${base()}${sent.body.id}/`;
    expect((await api.call("DELETE", path, { token: viewer.token })).body.code).toBe("role_not_allowed");
    expect((await api.call("DELETE", path, { token: holder.token })).status).toBe(204);
  });

  it("has no object under the names of its actions", async () => {
    for (const name of ["send-text", "send-tts", "upload-voice", "bulk-delete"]) {
      expect((await api.call("GET", `${base()}${name}/`, { token })).body.code).toBe("scope_not_available");
    }
  });
});
