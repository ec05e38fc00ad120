import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { deleteOldChanges } from "../../src/console/stream/change-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { signIn } from "../support/browser-session.ts";
import { assign, setState } from "../support/devices.ts";
import { listen, openStream, type TestStream } from "../support/event-source.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice, type TestDevice } from "../support/fixtures.ts";
import { until } from "../support/until.ts";
import { makeIntegration, makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

describe("the live stream", () => {
  let api: TestApi;
  let origin: string;
  let organization: TestOrganization;
  let device: TestDevice;
  let admin: { id: string; token: string };
  const open: TestStream[] = [];

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    origin = await listen(api);
    organization = await makeOrganization(api);
    device = await makeDevice(api, organization);
    admin = await makePerson(api, organization, "ADMIN");
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  afterAll(() => api.close());

  const connect = async (token: string, lastEventId?: string): Promise<TestStream> => {
    const resumed: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const stream = await openStream(origin, { authorization: `Bearer ${token}`, ...resumed });
    open.push(stream);
    return stream;
  };
  const ids = (stream: TestStream, name: string): string[] =>
    stream.events.filter(({ event }) => event === name).map(({ data }) => data.id);

  it("greets with the time, for a cookie as for a bearer token, and is for people alone", async () => {
    const { cookie } = await signIn(api, (await makePerson(api, organization, "VIEWER")).email);
    const stream = await openStream(origin, { cookie });
    open.push(stream);
    expect(Date.parse(stream.events[0]?.data.now)).toBeGreaterThan(0);
    const { token } = await makeIntegration(api, organization);
    expect((await api.call("GET", "/console/api/stream/", { token })).body.code).toBe("invalid_token");
    expect((await api.call("GET", "/console/api/stream/")).status).toBe(401);
  });

  it("sends an event and its acknowledgement as the API shows them", async () => {
    const stream = await connect(admin.token);
    const id = await makeEvent(api, device);
    const told = await stream.next("event", ({ data }) => data.id === id);
    const { notes, ...record } = (await api.call("GET", `/api/v1/events/${id}/`, admin)).body;
    expect([told.data, notes]).toEqual([record, null]);

    await api.call("POST", `/api/v1/events/${id}/acknowledge/`, { ...admin, body: { notes: "Called her." } });
    const acknowledged = await stream.next("event_acknowledged", ({ data }) => data.id === id);
    expect(acknowledged.data).toEqual((await api.call("GET", `/api/v1/events/${id}/`, admin)).body);
    expect(Number(acknowledged.id)).toBeGreaterThan(Number(told.id));
  });

  it("sends messages and commands, and what becomes of them", async () => {
    const stream = await connect(admin.token);
    const path = `/api/v1/devices/${device.uid}`;
    const { body: text } = await api.call("POST", `${path}/messages/send-text/`, { ...admin, body: { text: "Hello" } });
    await stream.next("message", ({ data }) => data.id === text.id && data.text === "Hello");
    await api.db.run`update messages set status = 'delivered', delivered_at = now() where id = ${text.id}`;
    await stream.next("message", ({ data }) => data.id === text.id && data.device_delivery_status === "delivered");

    const body = { command_type: "locate_now" };
    const { body: command } = await api.call("POST", `${path}/commands/`, { ...admin, body });
    const told = await stream.next("command", ({ data }) => data.command_uuid === command.command_uuid);
    expect(told.data).toEqual(command);
    await api.db.run`update commands set status = 'ack_ok', due_at = null where id = ${command.command_uuid}`;
    await stream.next("command", ({ data }) => data.command_uuid === command.command_uuid && data.terminal === true);
  });

  it("hides the parameters of private commands from people below ADMIN", async () => {
    const viewer = await makePerson(api, organization, "VIEWER");
    await assign(api, organization.id, device.uid, viewer.id);
    const streams = [await connect(admin.token), await connect(viewer.token)];
    const body = { command_type: "set_sos_numbers", params: { numbers: ["+390612345"] } };
    const sent = await api.call("POST", `/api/v1/devices/${device.uid}/commands/`, { ...admin, body });
    expect(sent.status).toBe(201);
    const params = streams.map(async (stream) => {
      const told = await stream.next("command", ({ data }) => data.command_uuid === sent.body.command_uuid);
      return told.data.params;
    });
    expect(await Promise.all(params)).toEqual([sent.body.params, { redacted: true }]);
  });

  it("sends what a device is doing, at most once a second", async () => {
    const stream = await connect(admin.token);
    await stream.next("hello");
    const startMs = Date.now();
    let writes = 0;
    await until(async () => {
      const lastStatus = { hr: { value: 60 + (writes++ % 40), ts: null } };
      await setState(api, organization.id, device.uid, {
        isOnline: true,
        lastSeenAt: "2026-03-01T08:00:00Z",
        lastStatus,
      });
      expect(stream.events.filter(({ event }) => event === "device").length).toBeGreaterThan(2);
    });
    const told = stream.events.filter(({ event }) => event === "device");
    expect(told.length).toBeLessThanOrEqual((Date.now() - startMs) / 1000 + 2);
    expect(writes).toBeGreaterThan(told.length);
    expect(told[0]?.data).toMatchObject({
      uid: device.uid,
      is_online: true,
      last_seen_at: "2026-03-01T08:00:00.000Z",
      last_location: null,
    });
  });

  it("sends people below ADMIN only the devices assigned to them, and nobody of another organization", async () => {
    const foreign = await makeOrganization(api);
    const stranger = await connect((await makePerson(api, foreign, "OWNER")).token);
    const user = await makePerson(api, organization, "USER");
    const own = await makeDevice(api, organization);
    await assign(api, organization.id, own.uid, user.id);
    const limited = await connect(user.token);
    const all = await connect(admin.token);
    const other = await makeEvent(api, device);
    await setState(api, organization.id, device.uid, { isOnline: true });
    const first = await makeEvent(api, own);
    await limited.next("event", ({ data }) => data.id === first);
    await api.db.run`update assignments set is_active = false, unassigned_at = now() where user_id = ${user.id}`;
    const second = await makeEvent(api, own);
    await all.next("event", ({ data }) => data.id === second);
    await all.next("device");
    expect(ids(all, "event")).toEqual([other, first, second]);
    expect(ids(limited, "event")).toEqual([first]);
    expect(limited.events.filter(({ event }) => event === "device")).toEqual([]);
    expect(stranger.events.map(({ event }) => event)).toEqual(["hello"]);
  });

  it("goes on after the last id without missing anything", async () => {
    const stream = await connect(admin.token);
    const seen = await makeEvent(api, device);
    const { id } = await stream.next("event", ({ data }) => data.id === seen);
    stream.close();
    const missed = [await makeEvent(api, device), await makeEvent(api, device)];
    await api.call("POST", `/api/v1/events/${seen}/acknowledge/`, { ...admin, body: {} });
    const resumed = await connect(admin.token, id);
    await resumed.next("event_acknowledged", ({ data }) => data.id === seen);
    const later = await makeEvent(api, device);
    await resumed.next("event", ({ data }) => data.id === later);
    expect(resumed.events[0]?.event).toBe("hello");
    expect(ids(resumed, "event")).toEqual([...missed, later]);
    expect(ids(resumed, "resync")).toEqual([]);
  });

  it("misses no event of a transaction that commits after later ones", async () => {
    const stream = await connect(admin.token);
    let late = "";
    await api.db.transaction(async (tx) => {
      late = await makeEvent({ ...api, db: { ...api.db, ...tx } }, device);
      const early = await makeEvent(api, device);
      await stream.next("event", ({ data }) => data.id === early);
      expect(ids(stream, "event")).toEqual([early]);
    });
    await stream.next("event", ({ data }) => data.id === late);
  });

  it.each(["unknown", "999999999999", "-1"])("says resync after the id %s", async (lastEventId) => {
    const stream = await connect(admin.token, lastEventId);
    await stream.next("resync");
  });

  it("says resync when what was missed has been deleted, and not when nothing was", async () => {
    const quiet = await makeOrganization(api);
    const person = await makePerson(api, quiet, "ADMIN");
    const other = (await connect(person.token)).events[0]?.id;
    const first = await connect(admin.token);
    await makeEvent(api, device);
    await first.next("event");
    await api.db.run`update live_changes set created_at = now() - interval '7 hours'`;
    await deleteOldChanges(api.db);
    await (await connect(admin.token, first.events[0]?.id)).next("resync");
    const resumed = await connect(person.token, other);
    const id = await makeEvent(api, await makeDevice(api, quiet));
    await resumed.next("event", ({ data }) => data.id === id);
    expect(resumed.events.map(({ event }) => event)).toEqual(["hello", "event"]);
  });

  it("ends with the rights of its person: membership, session, password or token", async () => {
    const member = await makePerson(api, organization, "USER");
    const changed = await makePerson(api, organization, "USER");
    const session = await signIn(api, (await makePerson(api, organization, "USER")).email);
    const streams = [await connect(member.token), await connect(changed.token)];
    streams.push(await openStream(origin, { cookie: session.cookie }));
    const stays = await connect(admin.token);
    await api.db.run`update memberships set closed_at = now() where user_id = ${member.id}`;
    await api.db.run`update users set password_changed_at = now() where id = ${changed.id}`;
    await session.send("DELETE", "/console/api/session/");
    await until(() => expect(streams.map((stream) => stream.isEnded())).toEqual([true, true, true]));
    expect(stays.isEnded()).toBe(false);
  });

  it("is refused to a person with twenty open ones", async () => {
    const { token } = await makePerson(api, organization, "VIEWER");
    for (let count = 0; count < 20; count++) await connect(token);
    const answer = await api.call("GET", "/console/api/stream/", { token });
    expect([answer.status, answer.body.code]).toEqual([429, "throttled"]);
  });
});
