import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tablesOfOrganizations } from "../../src/roles/organization-removal.ts";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";
import { registerFleet } from "../support/fleet.ts";

let cli: CommandLine;
const ada = "ada@example.org";
const create = (org: string, email: string, role: string): string[] => [
  ...["user", "create", "--org", org, "--email", email, "--role", role, "--password-stdin"],
];

beforeAll(async () => {
  cli = await openCommandLine();
  for (const name of ["Care Co", "Other Co"]) await cli.vigilJson(["org", "create", "--name", name]);
  await cli.vigilJson(create("care-co", ada, "OWNER"), {}, "correct horse battery");
  await cli.vigilJson(["user", "create", "--org", "other-co", "--email", ada, "--role", "USER"]);
  await cli.vigilJson(create("care-co", "bob@example.org", "USER"), {}, "correct horse battery");
}, 120_000);
afterAll(() => cli?.close());

const passwordOf = async (email: string): Promise<string | null> =>
  (await cli.sql.query("select password_hash from users where email = $1", [email])).rows[0].password_hash;

const addSession = (email: string): Promise<unknown> =>
  cli.sql.query(
    `insert into browser_sessions (id, token_hash, user_id, organization_id, joined_at, created_at, last_used_at, ip, user_agent)
     select $2, $3, u.id, m.organization_id, m.joined_at, now(), now(), '127.0.0.1', 'test'
     from users u join memberships m on m.user_id = u.id where u.email = $1 limit 1`,
    [email, randomUUID(), Buffer.from(randomUUID())],
  );
const countSessions = async (): Promise<number> =>
  Number((await cli.sql.query("select count(*) from browser_sessions")).rows[0].count);

test("lists the members of an organization", async () => {
  expect(await cli.vigilJson(["user", "list", "--org", "care-co"])).toMatchObject([
    { email: ada, role: "OWNER", portal_active: true, is_active: true },
    { email: "bob@example.org", role: "USER", portal_active: true },
  ]);
  await cli.expectFailure(["user", "list", "--org", "no-co"], 1, /no organization "no-co"/);
});

test("sets a password, which ends sessions, and takes it away", async () => {
  const before = await passwordOf(ada);
  await addSession(ada);
  const args = ["user", "set-password", "--email", ada, "--password-stdin"];
  expect(await cli.vigilJson(args, {}, "another horse battery\n")).toMatchObject({ email: ada, portal_active: true });
  expect(await passwordOf(ada)).not.toBe(before);
  expect(await countSessions()).toBe(0);
  await addSession(ada);
  expect(await cli.vigilJson(["user", "disable", "--email", ada])).toMatchObject({ portal_active: false });
  expect([await passwordOf(ada), await countSessions()]).toEqual([null, 0]);
  const { rows } = await cli.sql.query(
    "select changes from audit_log where changes ? 'password' order by id desc limit 2",
  );
  expect(JSON.stringify(rows)).not.toContain("horse");
  await cli.expectFailure(["user", "disable", "--email", "nobody@example.org"], 1, /nobody has the address/);
});

test("ends a membership only when that is confirmed", async () => {
  const args = ["user", "delete", "--org", "care-co", "--email", "bob@example.org"];
  expect(await cli.vigil(args, {}, "no\n")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not confirmed"),
  });
  expect(await cli.vigil(args, {}, "bob@example.org\n")).toMatchObject({ code: 0 });
  const members = await cli.vigilJson(["user", "list", "--org", "care-co"]);
  expect(members).toMatchObject([{ email: ada }]);
  expect(await cli.vigilJson(["user", "list", "--org", "care-co", "--closed"])).toHaveLength(2);
  await cli.expectFailure([...args, "--yes"], 1, /is not a member/);
});

test("lists and shows devices of all organizations", async () => {
  const [uid = ""] = await registerFleet(cli.sql, 3);
  const devices = await cli.vigilJson(["device", "list"]);
  expect(devices).toHaveLength(3);
  expect(devices).toMatchObject([{ uid, device_model_slug: "iw-h10", is_online: false }, {}, {}]);
  expect(await cli.vigilJson(["device", "list", "--org", "care-co"])).toEqual([]);
  const shown = await cli.vigilJson(["device", "show", uid]);
  expect(shown).toMatchObject({ uid, org: expect.stringMatching(/^fleet-/), holders: [], session: null });
  expect((await cli.vigil(["device", "show", uid])).stdout).toContain("iw-h10");
  await cli.expectFailure(["device", "show", "490154203237518"], 1, /no live device/);
  await cli.expectFailure(["device", "show", "12"], 2, /IMEI/);
});

test("deletes an organization with all that it holds, and leaves the others alone", async () => {
  const { rows: columns } = await cli.sql.query<{ table_name: string }>(
    `select c.relname as table_name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname = 'organization_id' and not a.attisdropped order by 1`,
  );
  expect([...tablesOfOrganizations].sort()).toEqual(columns.map(({ table_name }) => table_name));
  await cli.makeIntegration("care-co");
  const { rows } = await cli.sql.query("select id from organizations where slug = 'care-co'");
  await cli.sql.query("update devices set organization_id = $1 where uid = (select min(uid) from devices)", [
    rows[0].id,
  ]);
  await cli.sql.query(
    "insert into rate_windows select id, 'per_minute', now(), 1 from users union all select id, 'per_minute', now(), 1 from integrations",
  );
  expect(await cli.vigil(["org", "delete", "care-co"], {}, "yes\n")).toMatchObject({ code: 1 });
  const removed = await cli.vigilJson(["org", "delete", "care-co", "--yes"]);
  expect(removed).toMatchObject({ slug: "care-co", devices: 1, integrations: 1, people: 1 });
  for (const table of tablesOfOrganizations) {
    const left = await cli.sql.query(`select from ${table} where organization_id = $1`, [rows[0].id]);
    expect([table, left.rowCount]).toEqual([table, 0]);
  }
  // Bob was a member of nothing else; Ada still is.
  const { rows: people } = await cli.sql.query("select email from users order by email");
  expect(people).toEqual([{ email: ada }]);
  const { rows: counted } = await cli.sql.query(
    "select email from rate_windows w left join users u on u.id = w.principal_id",
  );
  expect(counted).toEqual([{ email: ada }]);
  expect(await cli.vigilJson(["user", "list", "--org", "other-co"])).toHaveLength(1);
  await cli.expectFailure(["org", "delete", "care-co", "--yes"], 1, /no organization/);
});

test("makes operators, who belong to no organization, lists them and ends their rights", async () => {
  const ops = "ops@example.org";
  const args = ["user", "create", "--operator", "--email", ops];
  const made = await cli.vigilJson([...args, "--password-stdin"], {}, "correct horse battery");
  expect(made).toEqual({ id: expect.any(String), email: ops, role: null, operator: true, portal_active: true });
  await cli.expectFailure(args, 1, /already an operator/);
  await cli.expectFailure(["user", "create", "--operator", "--email", ada], 1, /member of other-co/);
  await cli.expectFailure([...args, "--org", "other-co"], 2, /leave out --org/);
  await cli.expectFailure(["user", "create", "--email", "new@example.org"], 2, /--org is missing/);
  await cli.expectFailure(["user", "list"], 2, /--org is missing/);
  expect(await cli.vigilJson(["user", "list", "--operators"])).toMatchObject([{ email: ops, portal_active: true }]);
  expect(await cli.vigil(["user", "delete", "--operator", "--email", ops], {}, "no\n")).toMatchObject({ code: 1 });
  await cli.vigilJson(["user", "delete", "--operator", "--email", ops, "--yes"]);
  expect(await cli.vigilJson(["user", "list", "--operators"])).toEqual([]);
  await cli.expectFailure(["user", "delete", "--operator", "--email", ops, "--yes"], 1, /is no operator/);
  const { rows } = await cli.sql.query("select action, operator_email, detail from operator_log order by id");
  expect(rows).toEqual(
    ["operator_added", "operator_removed"].map((action) => ({ action, operator_email: ops, detail: { via: "cli" } })),
  );
});
