import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { imeis } from "../support/devices.ts";
import { auditOf, makeDevice } from "../support/fixtures.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const header = "uid,device_model_slug,name,timezone,tags,terminal_id";
const next = imeis(490_154_208_000_000);

describe("devices and people by the console", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let admin: BrowserCalls;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api, { features: ["managed_onboarding"] });
    admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
  });
  afterAll(() => api.close());

  const send = (lines: readonly string[], query = "") =>
    admin.send("POST", `/console/api/devices/import/${query}`, [header, ...lines].join("\r\n"), {
      "content-type": "text/csv; charset=utf-8",
    });
  const find = async (uid: string) => (await admin.get(`/api/v1/devices/${uid}/`)).body;

  it("registers new devices, updates known ones and revives deleted ones, each audited", async () => {
    const [fresh, known, deleted] = [next(), next(), next()];
    expect((await send([`${known},iw-h10,Old,,,`, `${deleted},iw-h10,Gone,,,`])).body).toEqual({
      created: 2,
      updated: 0,
      errors: [],
    });
    await admin.send("DELETE", `/api/v1/devices/${deleted}/`);
    const lines = [`${fresh},iw-h10,"Watch, 12",Europe/Berlin,north; ward 3,`, `${known},,New,,,`, `${deleted},,,,,`];
    const dry = await send(lines, "?dry_run=true");
    expect([dry.status, dry.body, (await find(known)).name]).toEqual([
      200,
      { created: 1, updated: 2, errors: [] },
      "Old",
    ]);
    const answer = await send(lines);
    expect([answer.status, answer.body]).toEqual([200, { created: 1, updated: 2, errors: [] }]);
    expect(await find(fresh)).toMatchObject({
      name: "Watch, 12",
      timezone: "Europe/Berlin",
      tags: ["north", "ward 3"],
      protocol_slug: "iw",
      is_online: false,
    });
    expect((await find(known)).name).toBe("New");
    expect((await find(deleted)).name).toBe("Gone");
    const { id } = await find(fresh);
    expect((await auditOf(api, id)).map(({ action, actor_type }) => [action, actor_type])).toEqual([[0, "users"]]);
    expect((await admin.get(`/api/v1/devices/?search=ward`)).body.count).toBe(1);
  });

  it("writes nothing when a line is wrong, and names line and field of each", async () => {
    const foreign = await makeDevice(api, await makeOrganization(api));
    const [good, twice, noModel] = [next(), next(), next()];
    const lines = [
      `${good},iw-h10,,,,`,
      `12,iw-h10,,,,`,
      `${twice},no-model,,Mars/Base,,`,
      `${twice},iw-h10,,,,`,
      `${noModel},,,,,`,
      `${foreign.uid},iw-h10,,,,`,
    ];
    const answer = await send(lines);
    expect([answer.status, answer.body.created, answer.body.updated]).toEqual([400, 0, 0]);
    expect(answer.body.errors.map(({ line, field }: { line: number; field: string }) => [line, field])).toEqual([
      [3, "uid"],
      [4, "device_model_slug"],
      [4, "timezone"],
      [5, "uid"],
      [6, "device_model_slug"],
      [7, "uid"],
    ]);
    expect((await admin.get(`/api/v1/devices/${good}/`)).status).toBe(404);
    const dry = await send(lines, "?dry_run=true");
    expect([dry.status, dry.body.errors.length]).toEqual([200, 6]);
  });

  it("refuses terminal ids that another device has, in the file or outside it", async () => {
    const [first, second, third] = [next(), next(), next()];
    expect((await send([`${first},watch-generic,,,,ABC1`])).body.errors).toEqual([]);
    const answer = await send([`${second},watch-generic,,,,ABC1`, `${third},watch-generic,,,,${second.slice(4, 14)}`]);
    expect(answer.body.errors.map(({ line, field }: { line: number; field: string }) => [line, field])).toEqual([
      [2, "terminal_id"],
      [3, "terminal_id"],
    ]);
  });

  it("takes CSV with known columns alone", async () => {
    const json = await admin.send("POST", "/console/api/devices/import/", { uid: next() });
    expect(json.status).toBe(415);
    const csv = { "content-type": "text/csv" };
    const odd = await admin.send("POST", "/console/api/devices/import/", "imei,name\n1,2", csv);
    expect([odd.status, odd.body.errors.map(({ field }: { field: string }) => field)]).toEqual([400, ["imei", "uid"]]);
  });

  it("shows an unknown device to somebody who knows its IMEI, and never the list", async () => {
    const [own, foreign] = [next(), (await makeDevice(api, await makeOrganization(api))).uid];
    for (const imei of [own, foreign]) {
      await api.db.run`
        insert into unknown_devices (imei, protocol, remote_addr, count, first_seen_at, last_seen_at)
        values (${imei}, 'iw', '192.0.2.1', 3, now(), now())`;
    }
    const path = "/console/api/unknown-devices/";
    expect((await admin.get(`${path}?uid=${own}`)).body.results).toMatchObject([
      { imei: own, protocol: "iw", count: 3 },
    ]);
    expect((await admin.get(`${path}?uid=${foreign}`)).body.results).toEqual([]);
    expect((await admin.get(path)).body.errors).toHaveProperty("uid");
  });

  it("invites members; an ADMIN invites no OWNER, and the feature is needed", async () => {
    const path = "/console/api/invitations/";
    const made = await admin.send("POST", path, { email: "new@example.org", role: "USER" });
    expect([made.status, made.body.email, made.body.role]).toEqual([201, "new@example.org", "USER"]);
    const owner = await admin.send("POST", path, { email: "boss@example.org", role: "OWNER" });
    expect([owner.status, owner.body.code]).toEqual([403, "role_not_allowed"]);
    const plain = await signIn(api, (await makePerson(api, await makeOrganization(api), "OWNER")).email);
    const refused = await plain.send("POST", path, { email: "new@example.org", role: "USER" });
    expect([refused.status, refused.body.code]).toEqual([403, "feature_not_enabled"]);
  });
});
