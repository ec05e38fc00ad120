import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandLine, type Credentials, openCommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await openCommandLine();
}, 120_000);

afterAll(() => cli?.close());

test("the command line creates an integration whose client secret is stored only as a hash", async () => {
  const org = await cli.makeOrganization();
  const created = await cli.makeIntegration(org, "--scopes", "locations:read,devices:read", "--no-messaging");
  expect(created).toMatchObject({
    org,
    client_id: expect.stringMatching(/^vc_[A-Za-z0-9_-]+$/),
    client_secret: expect.stringMatching(/^vs_[A-Za-z0-9_-]{43}$/),
    webhook_secret: null,
    status: "active",
    scopes: ["devices:read", "locations:read"],
    webhook_url: null,
    messaging_enabled: false,
  });
  const { rows } = await cli.sql.query(
    "select secret_hash, valid_until from integration_secrets where integration_id = $1",
    [created.id],
  );
  const hash = createHash("sha256").update(created.client_secret).digest();
  expect(rows).toEqual([{ secret_hash: hash, valid_until: null }]);
  const { rows: everything } = await cli.sql.query(
    "select (select json_agg(i)::text from integrations i) || (select json_agg(a)::text from audit_log a) as dump",
  );
  expect(everything[0].dump).not.toContain(created.client_secret);
  const { client_secret: _, webhook_secret: __, ...listed } = created;
  expect(await cli.vigilJson(["integration", "list", "--org", org])).toEqual([listed]);
});

test("the command line grants all scopes and messaging by default", async () => {
  const created = await cli.makeIntegration(await cli.makeOrganization());
  expect(created.scopes).toHaveLength(26);
  expect(created.messaging_enabled).toBe(true);
});

test("the command line refuses unknown scopes, event types and uids as wrong usage", async () => {
  const org = await cli.makeOrganization();
  const create = ["integration", "create", "--org", org, "--name", "x"];
  await cli.expectFailure([...create, "--scopes", "device:read"], 2, /did you mean devices:read\?/);
  await cli.expectFailure([...create, "--webhook-event-types", "alarm.sos,alarm.son"], 2, /alarm\.son/);
  await cli.expectFailure([...create, "--webhook-device-filter", "123"], 2, /IMEI/);
  await cli.expectFailure([...create, "--link-host", "https://app.example"], 2, /link-host/);
  await cli.expectFailure(["integration", "set", "12", "--name", "x"], 2, /UUID/);
  const { rows } = await cli.sql.query("select 1 from integrations where name = 'x'");
  expect(rows).toEqual([]);
});

test("the command line makes the webhook secret with the first URL and shows it once", async () => {
  const created = await cli.makeIntegration(await cli.makeOrganization());
  const set = (...options: string[]) => cli.vigilJson(["integration", "set", created.id, ...options]);
  const allow = { VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };
  const first = await cli.vigilJson(
    ["integration", "set", created.id, "--webhook-url", "https://127.0.0.1:9443/in"],
    allow,
  );
  expect(first).toMatchObject({
    webhook_url: "https://127.0.0.1:9443/in",
    webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  expect(await set("--webhook-url", "")).toMatchObject({ webhook_url: null, webhook_secret: null });
  const options = ["--webhook-event-types", "alarm.sos,geofence.dwell", "--webhook-device-filter", "490154203237518"];
  expect(await set("--link-host", "App.Example", "--link-host", "b.example:8443", ...options)).toMatchObject({
    webhook_event_types: ["alarm.sos", "geofence.dwell"],
    webhook_device_filter: ["490154203237518"],
    link_hosts: ["app.example", "b.example:8443"],
    webhook_secret: null,
  });
  expect(await set("--link-host", "", "--webhook-device-filter", "", "--no-messaging")).toMatchObject({
    webhook_device_filter: [],
    link_hosts: [],
    messaging_enabled: false,
  });
  expect(await set("--messaging")).toMatchObject({ messaging_enabled: true });
  const audit = await cli.auditOf(created.id);
  expect(audit[1]).toMatchObject({ action: 1, content_type: 2, object_repr: "App" });
  expect(audit[1]?.changes).toEqual({
    webhook_url: [null, "https://127.0.0.1:9443/in"],
    webhook_secret: [null, "***"],
  });
});

test("the command line refuses webhook URLs that are not https to a public address", async () => {
  const org = await cli.makeOrganization();
  const refused: [string, RegExp][] = [
    ["http://hooks.example/", /https/],
    ["https://user:pw@hooks.example/", /user name/],
    ["https://hooks.example/#x", /fragment/],
    ["https://127.0.0.1/", /not a public address/],
    ["https://2130706433/", /127\.0\.0\.1/],
    ["https://[::1]/", /not a public address/],
    ["https://localhost/", /not a public address/],
  ];
  const create = ["integration", "create", "--org", org, "--name", "x", "--webhook-url"];
  await Promise.all(refused.map(([url, reason]) => cli.expectFailure([...create, url], 1, reason)));
  expect(await cli.vigilJson(["integration", "list", "--org", org])).toEqual([]);
});

test("the command line rotates the client secret and keeps the old one for 24 hours by the clock", async () => {
  const created = await cli.makeIntegration(await cli.makeOrganization());
  const offset = 86_400 * 30;
  const rotated = await cli.vigilJson<Credentials & { previous_valid_until: string }>(
    ["integration", "rotate-secret", created.id],
    { VIGIL_CLOCK_OFFSET_SECONDS: String(offset) },
  );
  expect(Object.keys(rotated)).toEqual(["id", "client_id", "client_secret", "previous_valid_until"]);
  expect(rotated.client_secret).not.toBe(created.client_secret);
  const expected = Date.now() + (offset + 86_400) * 1000;
  expect(Math.abs(Date.parse(rotated.previous_valid_until) - expected)).toBeLessThan(30_000);
  const { rows } = await cli.sql.query(
    "select valid_until from integration_secrets where integration_id = $1 order by created_at",
    [created.id],
  );
  expect(rows).toEqual([{ valid_until: new Date(rotated.previous_valid_until) }, { valid_until: null }]);
  expect((await cli.auditOf(created.id)).at(-1)?.changes).toEqual({ client_secret: ["***", "***"] });
});

test("the command line rotates the webhook secret", async () => {
  const created = await cli.makeIntegration(await cli.makeOrganization());
  const rotate = ["integration", "rotate-webhook-secret", created.id];
  const first = await cli.vigilJson<Record<string, string | null>>(rotate);
  expect(first).toEqual({
    id: created.id,
    webhook_secret: expect.stringMatching(/^whsec_/),
    previous_valid_until: null,
  });
  const second = await cli.vigilJson<Record<string, string>>(rotate);
  const { rows } = await cli.sql.query(
    `select webhook_secret, webhook_secret_previous, webhook_secret_previous_until from integrations where id = $1`,
    [created.id],
  );
  expect(rows[0]).toEqual({
    webhook_secret: expect.stringMatching(/^sealed1\./),
    webhook_secret_previous: expect.stringMatching(/^sealed1\./),
    webhook_secret_previous_until: new Date(second.previous_valid_until ?? 0),
  });
  expect(second.webhook_secret).not.toBe(first.webhook_secret);
});

test("the command line ends the tokens of a disabled integration and forgets a deleted one", async () => {
  const org = await cli.makeOrganization();
  const { id } = await cli.makeIntegration(org);
  const addToken = () =>
    cli.sql.query(
      `insert into access_tokens select sha256(random()::text::bytea), id, organization_id, scopes, now(), now() + interval '1 h'
       from integrations where id = $1`,
      [id],
    );
  const tokens = async () =>
    (await cli.sql.query("select count(*)::int as count from access_tokens where integration_id = $1", [id])).rows[0]
      .count;
  await addToken();
  expect(await cli.vigilJson(["integration", "pause", id])).toMatchObject({ id, webhook_paused: true });
  expect(await cli.vigilJson(["integration", "resume", id])).toMatchObject({ id, webhook_paused: false });
  expect(await cli.vigilJson(["integration", "disable", id])).toMatchObject({ id, org, status: "disabled" });
  expect(await tokens()).toBe(0);
  expect(await cli.vigilJson(["integration", "enable", id.toUpperCase()])).toMatchObject({ id, status: "active" });
  await addToken();
  expect(await cli.vigilJson(["integration", "delete", id])).toMatchObject({ id, status: "deleted" });
  expect(await tokens()).toBe(0);
  for (const word of ["delete", "disable", "enable", "pause", "resume", "rotate-secret", "rotate-webhook-secret"]) {
    await cli.expectFailure(["integration", word, id], 1, /there is no integration/);
  }
  await cli.expectFailure(["integration", "set", id, "--name", "x"], 1, /there is no integration/);
  expect(await cli.vigilJson(["integration", "list", "--org", org])).toEqual([]);
  expect((await cli.auditOf(id)).map(({ action }) => action)).toEqual([0, 1, 1, 1, 1, 2]);
  expect((await cli.auditOf(id)).at(-1)?.changes).toMatchObject({ name: ["App", null], status: ["active", null] });
});
