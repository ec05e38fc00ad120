import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../support/database.ts";

const binary = join(import.meta.dirname, "../../bin/vigil");

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: Client;
let dataDir: string;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "vigil-cli-"));
  // Also builds, so that the line about it is not on the stderr of a test.
  await vigil(["db", "migrate"]);
  sql = new Client({ connectionString: database.url });
  await sql.connect();
}, 120_000);

afterAll(async () => {
  await sql?.end();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

function vigil(args: string[], env: Record<string, string> = {}, stdin = ""): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary, ...args], {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: process.env.HOME ?? "",
        DATABASE_URL: database.url,
        VIGIL_DATA_DIR: dataDir,
        ...env,
      },
    });
    const outcome: Outcome = { code: null, stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      outcome.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      outcome.stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...outcome, code }));
    child.stdin.end(stdin);
  });
}

/** Runs with --json: exit code 0, one line with one document on stdout, nothing on stderr. */
async function vigilJson<T = Record<string, unknown>>(args: string[], env = {}, stdin = ""): Promise<T> {
  const { code, stdout, stderr } = await vigil([...args, "--json"], env, stdin);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return JSON.parse(stdout) as T;
}

async function expectFailure(args: string[], code: 1 | 2, text: string | RegExp, env = {}, stdin = ""): Promise<void> {
  const outcome = await vigil([...args, "--json"], env, stdin);
  expect(outcome).toMatchObject({ code, stdout: "" });
  expect(outcome.stderr).toMatch(text);
  expect(outcome.stderr).not.toMatch(/\n {4}at |Error:/);
  // One line that says what to do, and for usage errors the usage line.
  expect(outcome.stderr.trimEnd().split("\n")).toHaveLength(code);
  if (code === 2) expect(outcome.stderr).toContain("usage: vigil");
}

interface AuditRow {
  action: number;
  actor_type: string;
  content_type: number;
  object_pk: string;
  object_repr: string;
  changes: Record<string, [unknown, unknown]>;
  additional_data: unknown;
}

async function auditOf(objectPk: unknown): Promise<AuditRow[]> {
  const { rows } = await sql.query("select * from audit_log where object_pk = $1 order by id", [objectPk]);
  return rows;
}

interface Credentials {
  id: string;
  client_id: string;
  client_secret: string;
  webhook_secret: string | null;
  [key: string]: unknown;
}

let counter = 0;
async function makeOrganization(): Promise<string> {
  const { slug } = await vigilJson<{ slug: string }>(["org", "create", "--name", `Care ${++counter}`]);
  return slug;
}
const makeIntegration = (org: string, ...options: string[]): Promise<Credentials> =>
  vigilJson<Credentials>(["integration", "create", "--org", org, "--name", "App", ...options]);

test("explains itself", async () => {
  expect(await vigil(["--version"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^vigil \d+\.\d+\.\d+\n$/),
  });
  for (const args of [["--help"], ["org", "--help"], ["org", "create", "--help"], ["help", "start"]]) {
    const { code, stdout, stderr } = await vigil(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Usage: vigil");
  }
  expect(await vigil([])).toMatchObject({ code: 2, stdout: "" });
});

test("answers wrong usage with code 2, the usage line and a suggestion", async () => {
  await Promise.all([
    expectFailure(["orgg", "list"], 2, /did you mean org\?/),
    expectFailure(["org", "lst"], 2, /did you mean list\?/),
    expectFailure(["org", "create", "--nam", "x"], 2, /did you mean --name\?/),
    expectFailure(["org", "create"], 2, /--name is missing/),
    expectFailure(["org", "create", "--name", "x", "--feature", "telepathy"], 2, /telepathy/),
    expectFailure(["org", "create", "--name", "x", "--timezone", "Europe/Rom"], 2, /Europe\/Rom/),
    expectFailure(["org", "create", "--name", "x", "--locale", "tlh"], 2, /tlh/),
    expectFailure(["org", "create", "--name", "x", "--per-minute", "0"], 2, /per-minute/),
    expectFailure(["org", "create", "--name", "東京"], 2, /--slug/),
    expectFailure(["start", "--port", "http"], 2, /--port/),
  ]);
});

test("creates, changes and lists organizations", async () => {
  const created = await vigilJson([
    ...["org", "create", "--name", "Città & Cura", "--timezone", "Europe/Rome", "--locale", "it-IT"],
    ...["--feature", "managed_onboarding", "--per-minute", "5"],
  ]);
  expect(created).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    slug: "citta-and-cura",
    name: "Città & Cura",
    timezone: "Europe/Rome",
    default_locale: "it",
    features: ["managed_onboarding"],
    rate_limits: { per_minute: 5, per_hour: 20000 },
  });
  const features = ["--feature", "geofence_scoping", "--no-feature", "managed_onboarding"];
  const changed = await vigilJson(["org", "set", "citta-and-cura", ...features, "--per-minute", "", "--name", "Cura"]);
  expect(changed).toEqual({
    ...created,
    name: "Cura",
    features: ["geofence_scoping"],
    rate_limits: { per_minute: 600, per_hour: 20000 },
  });
  expect(await vigilJson<unknown[]>(["org", "list"])).toContainEqual(changed);
  expect((await vigil(["org", "list"])).stdout).toMatch(/^SLUG +NAME/);

  const [first, second, ...none] = await auditOf(created.id);
  expect(none).toEqual([]);
  expect(first).toMatchObject({ action: 0, actor_type: "system", content_type: 1, object_repr: "citta-and-cura" });
  expect(first).toMatchObject({ additional_data: { via: "cli" }, changes: { name: [null, "Città & Cura"] } });
  expect(second?.changes).toEqual({
    name: ["Città & Cura", "Cura"],
    features: [["managed_onboarding"], ["geofence_scoping"]],
    per_minute: [5, 600],
  });
});

test("refuses a taken slug and an unknown organization with code 1", async () => {
  const slug = await makeOrganization();
  const other = await makeOrganization();
  await expectFailure(["org", "create", "--name", "Other", "--slug", slug], 1, /taken.*--slug/);
  await expectFailure(["org", "set", other, "--slug", slug], 1, /taken/);
  await expectFailure(["org", "set", "nobody", "--name", "x"], 1, /vigil org list/);
  await expectFailure(["org", "set", slug], 2, /nothing to change/);
  await expectFailure(["integration", "list", "--org", "nobody"], 1, /vigil org list/);
});

test("makes no audit entry for a change that changes nothing", async () => {
  const slug = await makeOrganization();
  const { id } = await vigilJson(["org", "set", slug, "--timezone", "UTC"]);
  expect(await auditOf(id)).toHaveLength(1);
});

test("creates an integration whose client secret is stored only as a hash", async () => {
  const org = await makeOrganization();
  const created = await makeIntegration(org, "--scopes", "locations:read,devices:read", "--no-messaging");
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
  const { rows } = await sql.query(
    "select secret_hash, valid_until from integration_secrets where integration_id = $1",
    [created.id],
  );
  const hash = createHash("sha256").update(created.client_secret).digest();
  expect(rows).toEqual([{ secret_hash: hash, valid_until: null }]);
  const { rows: everything } = await sql.query(
    "select (select json_agg(i)::text from integrations i) || (select json_agg(a)::text from audit_log a) as dump",
  );
  expect(everything[0].dump).not.toContain(created.client_secret);
  const { client_secret: _, webhook_secret: __, ...listed } = created;
  expect(await vigilJson(["integration", "list", "--org", org])).toEqual([listed]);
});

test("grants all scopes and messaging by default", async () => {
  const created = await makeIntegration(await makeOrganization());
  expect(created.scopes).toHaveLength(26);
  expect(created.messaging_enabled).toBe(true);
});

test("refuses unknown scopes, event types and uids as wrong usage", async () => {
  const org = await makeOrganization();
  const create = ["integration", "create", "--org", org, "--name", "x"];
  await expectFailure([...create, "--scopes", "device:read"], 2, /did you mean devices:read\?/);
  await expectFailure([...create, "--webhook-event-types", "alarm.sos,alarm.son"], 2, /alarm\.son/);
  await expectFailure([...create, "--webhook-device-filter", "123"], 2, /IMEI/);
  await expectFailure([...create, "--link-host", "https://app.example"], 2, /link-host/);
  await expectFailure(["integration", "set", "12", "--name", "x"], 2, /UUID/);
  const { rows } = await sql.query("select 1 from integrations where name = 'x'");
  expect(rows).toEqual([]);
});

test("makes the webhook secret with the first URL and shows it once", async () => {
  const created = await makeIntegration(await makeOrganization());
  const set = (...options: string[]) => vigilJson(["integration", "set", created.id, ...options]);
  const allow = { VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };
  const first = await vigilJson(
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
  const audit = await auditOf(created.id);
  expect(audit[1]).toMatchObject({ action: 1, content_type: 2, object_repr: "App" });
  expect(audit[1]?.changes).toEqual({
    webhook_url: [null, "https://127.0.0.1:9443/in"],
    webhook_secret: [null, "***"],
  });
});

test("refuses webhook URLs that are not https to a public address", async () => {
  const org = await makeOrganization();
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
  await Promise.all(refused.map(([url, reason]) => expectFailure([...create, url], 1, reason)));
  expect(await vigilJson(["integration", "list", "--org", org])).toEqual([]);
});

test("rotates the client secret and keeps the old one for 24 hours by the clock", async () => {
  const created = await makeIntegration(await makeOrganization());
  const offset = 86_400 * 30;
  const rotated = await vigilJson<Credentials & { previous_valid_until: string }>(
    ["integration", "rotate-secret", created.id],
    { VIGIL_CLOCK_OFFSET_SECONDS: String(offset) },
  );
  expect(Object.keys(rotated)).toEqual(["id", "client_id", "client_secret", "previous_valid_until"]);
  expect(rotated.client_secret).not.toBe(created.client_secret);
  const expected = Date.now() + (offset + 86_400) * 1000;
  expect(Math.abs(Date.parse(rotated.previous_valid_until) - expected)).toBeLessThan(30_000);
  const { rows } = await sql.query(
    "select valid_until from integration_secrets where integration_id = $1 order by created_at",
    [created.id],
  );
  expect(rows).toEqual([{ valid_until: new Date(rotated.previous_valid_until) }, { valid_until: null }]);
  expect((await auditOf(created.id)).at(-1)?.changes).toEqual({ client_secret: ["***", "***"] });
});

test("rotates the webhook secret", async () => {
  const created = await makeIntegration(await makeOrganization());
  const rotate = ["integration", "rotate-webhook-secret", created.id];
  const first = await vigilJson<Record<string, string | null>>(rotate);
  expect(first).toEqual({
    id: created.id,
    webhook_secret: expect.stringMatching(/^whsec_/),
    previous_valid_until: null,
  });
  const second = await vigilJson<Record<string, string>>(rotate);
  const { rows } = await sql.query(
    `select webhook_secret, webhook_secret_previous, webhook_secret_previous_until from integrations where id = $1`,
    [created.id],
  );
  expect(rows[0]).toEqual({
    webhook_secret: second.webhook_secret,
    webhook_secret_previous: first.webhook_secret,
    webhook_secret_previous_until: new Date(second.previous_valid_until ?? 0),
  });
});

test("ends the tokens of a disabled integration and forgets a deleted one", async () => {
  const org = await makeOrganization();
  const { id } = await makeIntegration(org);
  const addToken = () =>
    sql.query(
      `insert into access_tokens select sha256(random()::text::bytea), id, organization_id, scopes, now(), now() + interval '1 h'
       from integrations where id = $1`,
      [id],
    );
  const tokens = async () =>
    (await sql.query("select count(*)::int as count from access_tokens where integration_id = $1", [id])).rows[0].count;
  await addToken();
  expect(await vigilJson(["integration", "disable", id])).toMatchObject({ id, org, status: "disabled" });
  expect(await tokens()).toBe(0);
  expect(await vigilJson(["integration", "enable", id.toUpperCase()])).toMatchObject({ id, status: "active" });
  await addToken();
  expect(await vigilJson(["integration", "delete", id])).toMatchObject({ id, status: "deleted" });
  expect(await tokens()).toBe(0);
  for (const word of ["delete", "disable", "enable", "rotate-secret", "rotate-webhook-secret"]) {
    await expectFailure(["integration", word, id], 1, /not found/);
  }
  await expectFailure(["integration", "set", id, "--name", "x"], 1, /not found/);
  expect(await vigilJson(["integration", "list", "--org", org])).toEqual([]);
  expect((await auditOf(id)).map(({ action }) => action)).toEqual([0, 1, 1, 2]);
  expect((await auditOf(id)).at(-1)?.changes).toMatchObject({ name: ["App", null], status: ["active", null] });
});

test("creates users with and without a password", async () => {
  const org = await makeOrganization();
  const create = ["user", "create", "--org", org];
  const owner = await vigilJson(
    [...create, "--email", "Ada@Example.org", "--role", "OWNER", "--password-stdin"],
    {},
    "correct horse\n",
  );
  expect(owner).toEqual({ id: expect.any(String), email: "ada@example.org", role: "OWNER", portal_active: true });
  const viewer = await vigilJson([...create, "--email", "bob@example.org", "--role", "VIEWER"]);
  expect(viewer).toMatchObject({ role: "VIEWER", portal_active: false });
  const { rows } = await sql.query("select password_hash from users where id = $1", [owner.id]);
  expect(rows[0].password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const { rows: members } = await sql.query(
    "select role, email, search, closed_at from memberships where user_id = $1",
    [owner.id],
  );
  expect(members).toEqual([
    { role: 40, email: "ada@example.org", search: expect.stringContaining("ada@example.org"), closed_at: null },
  ]);
  const [entry] = await auditOf(owner.id);
  expect(entry).toMatchObject({ action: 0, content_type: 3, object_repr: "ada@example.org", actor_type: "system" });
  expect(entry?.changes).toMatchObject({ role: [null, "OWNER"], password: [null, "***"] });
});

test("adds a known person, keeps the password they have, and reopens a closed membership", async () => {
  const [first, second] = [await makeOrganization(), await makeOrganization()];
  const create = (org: string, role: string, ...rest: string[]) => [
    ...["user", "create", "--org", org, "--email", "eve@example.org", "--role", role],
    ...rest,
  ];
  const { id } = await vigilJson(create(first, "USER", "--password-stdin"), {}, "first password");
  await expectFailure(create(first, "ADMIN"), 1, /already a member/);
  const hash = async () =>
    (await sql.query("select password_hash from users where id = $1", [id])).rows[0].password_hash;
  const before = await hash();
  const joined = await vigil([...create(second, "ADMIN", "--password-stdin"), "--json"], {}, "other password");
  expect(JSON.parse(joined.stdout)).toEqual({ id, email: "eve@example.org", role: "ADMIN", portal_active: true });
  expect(joined.stderr).toMatch(/already has a password/);
  expect(await hash()).toBe(before);
  await sql.query("update memberships set closed_at = now() where user_id = $1", [id]);
  expect(await vigilJson(create(second, "VIEWER"))).toMatchObject({ id, role: "VIEWER" });
  expect((await auditOf(id)).at(-1)).toMatchObject({
    action: 1,
    changes: { is_active: [false, true], role: ["ADMIN", "VIEWER"] },
  });
});

test("refuses a short password, a bad address and an unknown role", async () => {
  const org = await makeOrganization();
  const create = (email: string, role: string, ...rest: string[]) => [
    ...["user", "create", "--org", org, "--email", email, "--role", role],
    ...rest,
  ];
  await expectFailure(create("a@example.org", "USER", "--password-stdin"), 1, /10 to/, {}, "123456789\n");
  await expectFailure(create("nobody", "USER"), 2, /e-mail/);
  await expectFailure(create("a@example.org", "CHIEF"), 2, /CHIEF/);
});

test("shows the state of the database", async () => {
  const status = await vigilJson<{ migrations: unknown[]; current: boolean; schema_version: number }>(["db", "status"]);
  expect(status).toMatchObject({ embedded: false, current: true, schema_version: status.migrations.length });
  expect(await vigilJson(["db", "migrate"])).toEqual({ applied: 0, schema_version: status.schema_version });
});

test("says in one line that the database cannot be used, without its password", async () => {
  const url = new URL(database.url);
  url.password = "hunter2";
  url.port = "1";
  const outcome = await vigil(["org", "list", "--json"], { DATABASE_URL: url.href });
  expect(outcome).toMatchObject({ code: 1, stdout: "" });
  expect(outcome.stderr).toMatch(/^vigil: cannot use the database at .*DATABASE_URL\n$/);
  expect(outcome.stderr).not.toContain("hunter2");
  await expectFailure(["org", "list"], 1, /DATABASE_URL/, { DATABASE_URL: "mysql://x:hunter2@db/x" });
});

test("tells running processes that identities have changed", async () => {
  const listener = new Client({ connectionString: database.url });
  await listener.connect();
  try {
    await listener.query("listen vigil_identity");
    const heard = new Promise((resolve) => listener.once("notification", resolve));
    await makeOrganization();
    await expect(heard).resolves.toMatchObject({ channel: "vigil_identity" });
  } finally {
    await listener.end();
  }
});

test("examines the machine and the settings", async () => {
  const free = { VIGIL_PORT: "0", VIGIL_GATEWAY_PORT: "0", VIGIL_OPS_PORT: "0" };
  const good = await vigilJson<{ ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }>(
    ["doctor"],
    free,
  );
  expect(good.ok).toBe(true);
  expect(good.checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["node", "data_dir", "disk_space", "database", "migrations", "http_port", "clock", "mail"]),
  );

  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = taken.address() as { port: number };
    const bad = await vigil(["doctor", "--json"], { ...free, VIGIL_PORT: String(port) });
    expect(bad.code).toBe(1);
    const report = JSON.parse(bad.stdout) as typeof good;
    expect(report.ok).toBe(false);
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "http_port", ok: false, detail: expect.stringContaining("VIGIL_PORT") },
    ]);
  } finally {
    taken.close();
  }
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "prints the ready line when the service runs, and stops at %s",
  async (signal) => {
    const ports = ["--port", "0", "--gateway-port", "0", "--ops-port", "0"];
    const child = spawn(process.execPath, [binary, "start", ...ports, "--json"], {
      env: { ...process.env, DATABASE_URL: database.url, VIGIL_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    let stdout = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
        if (stdout.includes("\n")) resolve();
      });
      exited.then((code) => reject(new Error(`stopped with code ${code} before it was ready`)));
    });
    try {
      await ready;
      expect(JSON.parse(stdout)).toMatchObject({
        ready: true,
        http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      });
      child.kill(signal);
      expect(await exited).toBe(0);
    } finally {
      child.kill("SIGKILL");
    }
  },
);
