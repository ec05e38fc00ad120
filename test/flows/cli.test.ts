import { createServer } from "node:net";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await openCommandLine();
}, 120_000);

afterAll(() => cli?.close());

test("the command line explains itself", async () => {
  expect(await cli.vigil(["--version"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^vigil \d+\.\d+\.\d+\n$/),
  });
  for (const args of [["--help"], ["org", "--help"], ["org", "create", "--help"], ["help", "start"]]) {
    const { code, stdout, stderr } = await cli.vigil(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Usage: vigil");
  }
  expect(await cli.vigil([])).toMatchObject({ code: 2, stdout: "" });
});

test("the command line answers wrong usage with code 2, the usage line and a suggestion", async () => {
  await Promise.all([
    cli.expectFailure(["orgg", "list"], 2, /did you mean org\?/),
    cli.expectFailure(["org", "lst"], 2, /did you mean list\?/),
    cli.expectFailure(["org", "create", "--nam", "x"], 2, /did you mean --name\?/),
    cli.expectFailure(["org", "create"], 2, /--name is missing/),
    cli.expectFailure(["org", "create", "--name", "x", "--feature", "telepathy"], 2, /telepathy/),
    cli.expectFailure(["org", "create", "--name", "x", "--timezone", "Europe/Rom"], 2, /Europe\/Rom/),
    cli.expectFailure(["org", "create", "--name", "x", "--locale", "xx"], 2, /xx/),
    cli.expectFailure(["bench", "nothing"], 2, /no bench "nothing"/),
    cli.expectFailure(["org", "create", "--name", "x", "--per-minute", "0"], 2, /per-minute/),
    cli.expectFailure(["org", "create", "--name", "東京"], 2, /--slug/),
    cli.expectFailure(["start", "--port", "http"], 2, /--port/),
  ]);
});

test("creates, changes and lists organizations", async () => {
  const created = await cli.vigilJson([
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
  const changed = await cli.vigilJson([
    "org",
    "set",
    "citta-and-cura",
    ...features,
    "--per-minute",
    "",
    "--name",
    "Cura",
  ]);
  expect(changed).toEqual({
    ...created,
    name: "Cura",
    features: ["geofence_scoping"],
    rate_limits: { per_minute: 600, per_hour: 20000 },
  });
  expect(await cli.vigilJson<unknown[]>(["org", "list"])).toContainEqual(changed);
  expect((await cli.vigil(["org", "list"])).stdout).toMatch(/^SLUG +NAME/);

  const [first, second, ...none] = await cli.auditOf(created.id);
  expect(none).toEqual([]);
  expect(first).toMatchObject({ action: 0, actor_type: "system", content_type: 1, object_repr: "citta-and-cura" });
  expect(first).toMatchObject({ additional_data: { via: "cli" }, changes: { name: [null, "Città & Cura"] } });
  expect(second?.changes).toEqual({
    name: ["Città & Cura", "Cura"],
    features: [["managed_onboarding"], ["geofence_scoping"]],
    per_minute: [5, 600],
  });
});

test("the command line refuses a taken slug and an unknown organization with code 1", async () => {
  const slug = await cli.makeOrganization();
  const other = await cli.makeOrganization();
  await cli.expectFailure(["org", "create", "--name", "Other", "--slug", slug], 1, /taken.*--slug/);
  await cli.expectFailure(["org", "set", other, "--slug", slug], 1, /taken/);
  await cli.expectFailure(["org", "set", "nobody", "--name", "x"], 1, /vigil org list/);
  await cli.expectFailure(["org", "set", slug], 2, /nothing to change/);
  await cli.expectFailure(["integration", "list", "--org", "nobody"], 1, /vigil org list/);
});

test("the command line makes no audit entry for a change that changes nothing", async () => {
  const slug = await cli.makeOrganization();
  const { id } = await cli.vigilJson(["org", "set", slug, "--timezone", "UTC"]);
  expect(await cli.auditOf(id)).toHaveLength(1);
});

test("the command line creates users with and without a password", async () => {
  const org = await cli.makeOrganization();
  const create = ["user", "create", "--org", org];
  const owner = await cli.vigilJson(
    [...create, "--email", "Ada@Example.org", "--role", "OWNER", "--password-stdin"],
    {},
    "correct horse\n",
  );
  expect(owner).toEqual({ id: expect.any(String), email: "ada@example.org", role: "OWNER", portal_active: true });
  const viewer = await cli.vigilJson([...create, "--email", "bob@example.org", "--role", "VIEWER"]);
  expect(viewer).toMatchObject({ role: "VIEWER", portal_active: false });
  const { rows } = await cli.sql.query("select password_hash from users where id = $1", [owner.id]);
  expect(rows[0].password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const { rows: members } = await cli.sql.query(
    "select role, email, search, closed_at from memberships where user_id = $1",
    [owner.id],
  );
  expect(members).toEqual([
    { role: 40, email: "ada@example.org", search: expect.stringContaining("ada@example.org"), closed_at: null },
  ]);
  const [entry] = await cli.auditOf(owner.id);
  expect(entry).toMatchObject({ action: 0, content_type: 3, object_repr: "ada@example.org", actor_type: "system" });
  expect(entry?.changes).toMatchObject({ role: [null, "OWNER"], password: [null, "***"] });
});

test("the command line adds a known person, keeps the password they have, and reopens a closed membership", async () => {
  const [first, second] = [await cli.makeOrganization(), await cli.makeOrganization()];
  const create = (org: string, role: string, ...rest: string[]) => [
    ...["user", "create", "--org", org, "--email", "eve@example.org", "--role", role],
    ...rest,
  ];
  const { id } = await cli.vigilJson(create(first, "USER", "--password-stdin"), {}, "first password");
  await cli.expectFailure(create(first, "ADMIN"), 1, /already a member/);
  const hash = async () =>
    (await cli.sql.query("select password_hash from users where id = $1", [id])).rows[0].password_hash;
  const before = await hash();
  const joined = await cli.vigil([...create(second, "ADMIN", "--password-stdin"), "--json"], {}, "other password");
  expect(JSON.parse(joined.stdout)).toEqual({ id, email: "eve@example.org", role: "ADMIN", portal_active: true });
  expect(joined.stderr).toMatch(/already has a password/);
  expect(await hash()).toBe(before);
  await cli.sql.query("update memberships set closed_at = now() where user_id = $1", [id]);
  expect(await cli.vigilJson(create(second, "VIEWER"))).toMatchObject({ id, role: "VIEWER" });
  expect((await cli.auditOf(id)).at(-1)).toMatchObject({
    action: 1,
    changes: { is_active: [false, true], role: ["ADMIN", "VIEWER"] },
  });
});

test("the command line takes any password from an operator, refuses none at all, a bad address and an unknown role", async () => {
  const org = await cli.makeOrganization();
  const create = (email: string, role: string, ...rest: string[]) => [
    ...["user", "create", "--org", org, "--email", email, "--role", role],
    ...rest,
  ];
  const short = await cli.vigil(
    [...create("short@example.org", "USER", "--password-stdin"), "--json"],
    {},
    "hunter2\n",
  );
  expect([short.code, JSON.parse(short.stdout).portal_active, short.stderr]).toEqual([
    0,
    true,
    expect.stringContaining("at least 8 characters"),
  ]);
  await cli.expectFailure(create("a@example.org", "USER", "--password-stdin"), 1, /1 to/, {}, "\n");
  await cli.expectFailure(create("nobody", "USER"), 2, /e-mail/);
  await cli.expectFailure(create("a@example.org", "CHIEF"), 2, /CHIEF/);
});

test("the command line shows the state of the database", async () => {
  const status = await cli.vigilJson<{ migrations: unknown[]; current: boolean; schema_version: number }>([
    "db",
    "status",
  ]);
  expect(status).toMatchObject({ embedded: false, current: true, schema_version: status.migrations.length });
  expect(await cli.vigilJson(["db", "migrate"])).toEqual({ applied: 0, schema_version: status.schema_version });
});

test("the command line says in one line that the database cannot be used, without its password", async () => {
  const url = new URL(cli.database.url);
  url.password = "hunter2";
  url.port = "1";
  const outcome = await cli.vigil(["org", "list", "--json"], { DATABASE_URL: url.href });
  expect(outcome).toMatchObject({ code: 1, stdout: "" });
  expect(outcome.stderr).toMatch(/^vigil: cannot use the database at .*DATABASE_URL\n$/);
  expect(outcome.stderr).not.toContain("hunter2");
  await cli.expectFailure(["org", "list"], 1, /DATABASE_URL/, { DATABASE_URL: "mysql://x:hunter2@db/x" });
});

test("the command line notifies running processes that identities have changed", async () => {
  const listener = new Client({ connectionString: cli.database.url });
  await listener.connect();
  try {
    await listener.query("listen vigil_identity");
    const notified = new Promise((resolve) => listener.once("notification", resolve));
    await cli.makeOrganization();
    await expect(notified).resolves.toMatchObject({ channel: "vigil_identity" });
  } finally {
    await listener.end();
  }
});

test("the command line examines the machine and the settings", async () => {
  const free = { VIGIL_PORT: "0", VIGIL_GATEWAY_PORT: "0", VIGIL_OPS_PORT: "0" };
  const good = await cli.vigilJson<{ ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }>(
    ["doctor"],
    free,
  );
  expect(good.ok).toBe(true);
  expect(good.checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "node",
      "data_dir",
      "disk_space",
      "disk_speed",
      "memory",
      "open_files",
      "database",
      "migrations",
      "http_port",
      "gateway_udp_port",
      "clock",
      "mail",
    ]),
  );

  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = taken.address() as { port: number };
    const bad = await cli.vigil(["doctor", "--json"], { ...free, VIGIL_PORT: String(port) });
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
