import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { commandPath } from "../support/command-api.ts";
import { imeis } from "../support/devices.ts";
import { auditOf, makeMember } from "../support/fixtures.ts";
import { until } from "../support/until.ts";
import { makeIntegration, makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const next = imeis(490_154_207_000_000);
const list = "/console/api/devices/";

interface Row {
  uid: string;
}

describe("the devices of an organization in the console", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let admin: BrowserCalls;
  const [low, full, silent] = [next(), next(), next()];

  const register = (uid: string, more = {}) =>
    admin.send("POST", "/api/v1/devices/", { uid, device_model_slug: "iw-h10", ...more });
  const uidsOf = async (query: string) => {
    const { status, body } = await admin.get(`${list}${query}`);
    expect(status).toBe(200);
    return body.results.map(({ uid }: Row) => uid);
  };
  const act = async (body: Record<string, unknown>) => {
    const answer = await admin.send("POST", `${list}bulk/`, body);
    return answer.status === 200 ? answer.body.results : answer.body;
  };

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    organization = await makeOrganization(api, { features: ["managed_onboarding"] });
    admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
    await register(low, { name: "B low", tags: ["north"] });
    await register(full, { name: "A full", tags: ["north", "pilot"] });
    await register(silent, { name: "=C silent" });
    const now = api.clock.now();
    const position = { lat: 1, lng: 1, accuracy_m: null, source: "gps" };
    for (const [uid, percent, seen, ts] of [
      [low, 12, new Date(now.getTime() - 60_000), now],
      [full, 90, new Date(now.getTime() - 2 * 86_400_000), new Date(now.getTime() - 3 * 3_600_000)],
    ] as const) {
      await api.db.run`
        update device_state s set is_online = true, last_seen_at = ${seen}, located_at = ${ts}, battery_band = ${percent < 20 ? 1 : 3},
          last_status = ${JSON.stringify({ bat: { value: percent, ts: seen.toISOString() } })},
          last_location = ${JSON.stringify({ ...position, ts: ts.toISOString() })}
        from devices d where d.id = s.device_id and d.uid = ${uid}`;
    }
  });
  afterAll(() => api.close());

  it("are listed by name, and found by what the service knows of them", async () => {
    expect(await uidsOf("")).toEqual([silent, full, low]);
    expect(await uidsOf(`?uid=${low},${next()},${silent}`)).toEqual([silent, low]);
    expect(await uidsOf("?battery=low")).toEqual([low]);
    expect(await uidsOf("?battery=unknown")).toEqual([silent]);
    expect(await uidsOf("?ordering=battery")).toEqual([low, full, silent]);
    expect(await uidsOf("?seen=hour")).toEqual([low]);
    expect(await uidsOf("?seen=older")).toEqual([full]);
    expect(await uidsOf("?seen=never")).toEqual([silent]);
    expect(await uidsOf("?state=online")).toEqual([low]);
    expect(await uidsOf("?state=stale")).toEqual([full]);
    expect(await uidsOf("?state=offline&search=silent")).toEqual([silent]);
    expect(await uidsOf("?state=alarm")).toEqual([]);
    expect(await uidsOf("?tags=pilot&page_size=1")).toEqual([full]);
    expect((await admin.get(`${list}?state=other`)).status).toBe(400);
  });

  it("are exported as a file that can be imported again", async () => {
    const file = await admin.get(`${list}export/?search=north`);
    expect(file.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(file.headers["content-disposition"]).toMatch(/^attachment; filename="devices-[\d-]+\.csv"$/);
    const [header, ...lines] = file.text.trim().split("\r\n");
    expect(header).toBe(
      "uid,device_model_slug,name,timezone,tags,terminal_id,is_online,last_seen_at,battery,created_at",
    );
    expect(lines.map((line) => line.split(",").slice(0, 5))).toEqual(
      [low, full].toSorted().map((uid) => expect.arrayContaining([uid, "iw-h10"])),
    );
    const all = (await admin.get(`${list}export/`)).text;
    expect(all).toContain("'=C silent");
    const again = await admin.send("POST", `${list}import/`, all, { "content-type": "text/csv" });
    expect(again.body).toEqual({ created: 0, updated: 3, errors: [] });
    expect((await admin.get(`/api/v1/devices/${silent}/`)).body.name).toBe("=C silent");
  });

  it("are tagged and untagged together, each with its own result", async () => {
    const unknown = next();
    expect(await act({ action: "tag", uids: [low, unknown, full], tags: ["Ward 3", "north"] })).toEqual([
      { uid: low, ok: true },
      { uid: full, ok: true },
      { uid: unknown, ok: false, code: "not_found", detail: "Not found." },
    ]);
    expect((await admin.get(`/api/v1/devices/${low}/`)).body.tags).toEqual(["north", "Ward 3"]);
    await act({ action: "untag", uids: [low, full], tags: ["north"] });
    expect((await admin.get(`/api/v1/devices/${full}/`)).body.tags).toEqual(["pilot", "Ward 3"]);
    const many = Array.from({ length: 20 }, (_, n) => `tag ${n}`);
    expect(await act({ action: "tag", uids: [full], tags: many })).toMatchObject([
      { ok: false, code: "validation_error", detail: expect.stringContaining("20 tags") },
    ]);
    expect(await act({ action: "tag", uids: [low] })).toMatchObject({ errors: { tags: ["This field is required."] } });
    expect(await act({ action: "tag", uids: [], tags: ["x"] })).toHaveProperty("errors.uids");
  });

  it("are assigned together, and refused where somebody has them already", async () => {
    const member = await makeMember(api, organization);
    await admin.send("POST", `/api/v1/devices/${low}/assign/`, { user_id: member.id });
    expect(await act({ action: "assign", uids: [low, full], user_id: member.id, role: "owner" })).toEqual([
      { uid: low, ok: false, code: "assignment_exists", detail: expect.any(String) },
      { uid: full, ok: true },
    ]);
    const held = (await admin.get(`/api/v1/assignments/?search=${full}`)).body.results;
    expect(held).toMatchObject([{ role: "owner", source: "admin", user_id: member.id }]);
    expect(await uidsOf("?search=ada")).toEqual([full, low]);
    expect(await uidsOf("?search=h10&page_size=2")).toEqual([silent, full]);
  });

  it("are deleted together, listed as deleted, and taken back", async () => {
    const [one, two] = [next(), next()];
    for (const uid of [one, two]) await register(uid, { name: `Old ${uid}`, tags: ["kept"] });
    expect(await act({ action: "delete", uids: [one, two] })).toEqual([
      { uid: one, ok: true },
      { uid: two, ok: true },
    ]);
    const deleted = async () => (await admin.get("/console/api/deleted-devices/?search=old")).body.results;
    expect((await deleted()).map(({ uid }: Row) => uid).toSorted()).toEqual([one, two].toSorted());
    expect((await admin.send("POST", "/api/v1/devices/", { uid: one })).status).toBe(200);
    expect((await deleted()).map(({ uid }: Row) => uid)).toEqual([two]);
    expect((await admin.get(`/api/v1/devices/${one}/`)).body).toMatchObject({ name: `Old ${one}`, tags: ["kept"] });
  });

  it("are deleted together without a hold on the log of partners while their rows are locked", async () => {
    const { id, token } = await makeIntegration(api, organization);
    const [one, two] = [next(), next()];
    for (const uid of [one, two]) {
      await register(uid);
      await api.call("POST", commandPath(uid), { token, body: { command_type: "restart" } });
    }
    const batch = await api.db.connect();
    try {
      await batch.query("begin");
      const ofTwo = "select from device_state where device_id = (select id from devices where uid = $1) for update";
      await batch.query(ofTwo, [two]);
      const deleted = act({ action: "delete", uids: [one, two] });
      await until(async () => {
        const waiting = await api.db.many`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        expect(waiting).not.toEqual([]);
      });
      // What a batch does next.
      await batch.query("select from outbound_lanes where integration_id = $1 for update nowait", [id]);
      await batch.query("commit");
      expect(await deleted).toMatchObject([{ ok: true }, { ok: true }]);
    } finally {
      await batch.end();
    }
    const told = await api.db
      .many`select device_uid, type from outbound_events where integration_id = ${id} order by id`;
    expect(told).toEqual([one, two].toSorted().map((uid) => ({ device_uid: uid, type: "command.failed" })));
  });

  it("are given and denied what their model says, and return to it", async () => {
    const path = `${list}${low}/capabilities/`;
    const find = async (code: string) =>
      (await admin.get(path)).body.find((one: { code: string }) => one.code === code);
    expect(await find("power_off")).toMatchObject({ supported: true, overridden: false, supported_by_model: true });
    expect((await admin.send("POST", path, { code: "power_off", supported: false })).status).toBe(200);
    expect(await find("power_off")).toMatchObject({ supported: false, overridden: true, supported_by_model: true });
    const seen = (await admin.get(`/api/v1/devices/${low}/capabilities/`)).body.capabilities;
    expect(seen.find((one: { code: string }) => one.code === "power_off")).toMatchObject({ supported: false });
    await admin.send("POST", path, { code: "power_off", supported: null });
    expect(await find("power_off")).toMatchObject({ supported: true, overridden: false });
    expect((await admin.send("POST", path, { code: "fly", supported: true })).body.errors).toHaveProperty("code");
    const { id } = (await admin.get(`/api/v1/devices/${low}/`)).body;
    const entries = (await auditOf(api, id)).filter(({ changes }) => "supported" in changes);
    expect(entries.map(({ action }) => action)).toEqual([0, 2]);
  });

  it("are shown to others as far as they may see them", async () => {
    const person = await makePerson(api, organization, "VIEWER");
    const viewer = await signIn(api, person.email);
    await admin.send("POST", `/api/v1/devices/${silent}/assign/`, { user_id: person.id });
    const { body } = await viewer.get(list);
    expect([body.count, body.results[0].uid]).toEqual([1, silent]);
  });

  it("keep their invitations: a pending one is mailed once more, once an hour, with a new link", async () => {
    const { body: made } = await admin.send("POST", "/console/api/invitations/", { email: "new@example.org" });
    const resend = (id: string) => admin.send("POST", `/console/api/invitations/${id}/resend/`);
    const early = await resend(made.id);
    expect([early.status, early.body.code]).toEqual([429, "invite_rate_limited"]);
    await api.db.run`update invitations set mailed_at = mailed_at - interval '1 hour' where id = ${made.id}`;
    expect(await resend(made.id)).toMatchObject({ status: 200, body: { status: 10, email_status: "queued" } });
    const links = await api.db.many<{ params: { link: string } }>`
      select params from mails where recipient = 'new@example.org' order by created_at`;
    expect(new Set(links.map(({ params }) => params.link)).size).toBe(2);
    const pages = await Promise.all(
      links.map(({ params }) => api.call("GET", new URL(params.link).pathname + new URL(params.link).search)),
    );
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    await admin.send("POST", `/api/v1/organizations/invitations/${made.id}/revoke/`);
    expect((await resend(made.id)).body).toMatchObject({ code: "invitation_not_pending", status: 40 });
  });
});
