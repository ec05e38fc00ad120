import { createHash } from "node:crypto";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";
import { fetchTokenOf, type RunningVigil, startVigil } from "../support/vigil-process.ts";

const uid = "490154203237518";
const person = { email: "boss@example.org", password: "correct horse battery" };
const written = ["users", "memberships", "assignments", "invitations", "mails", "audit_log", "idempotency_keys"];

/** A lock holds the transaction right before its first write to a table; there the process is killed with -9. */
describe("kill -9 between two steps leaves all or nothing", { timeout: 180_000 }, () => {
  let cli: CommandLine;
  let sql: Client;
  let service: RunningVigil;
  let partner: string;
  let owner: string;
  const start = () => startVigil(["--roles", "api"], cli.env);

  beforeAll(async () => {
    cli = await openCommandLine();
    sql = cli.sql;
    service = await start();
    await cli.vigilJson(["org", "create", "--name", "Care Co", "--feature", "managed_onboarding"]);
    const made = await cli.makeIntegration("care-co");
    const create = ["user", "create", "--org", "care-co", "--email", person.email, "--role", "OWNER"];
    await cli.vigilJson([...create, "--password-stdin"], {}, person.password);
    partner = await fetchTokenOf(service.http, made);
    const login = await post("/console/api/login/", undefined, person);
    owner = JSON.parse(login.text).access_token;
    expect((await post("/api/v1/devices/", partner, { uid, device_model_slug: "iw-h10" })).status).toBe(201);
  });
  afterAll(async () => {
    await service?.kill("SIGKILL");
    await cli?.close();
  });

  async function post(path: string, bearer: string | undefined, body: unknown) {
    const answer = await fetch(`${service.http}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }

  async function contents(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {};
    for (const table of written) {
      found[table] = (await sql.query(`select t::text as row from ${table} t order by 1`)).rows;
    }
    return found;
  }

  /** Kills the service while the call waits for the table, then makes the call again. */
  async function killAt(
    table: string,
    request: () => ReturnType<typeof post>,
  ): Promise<{ status: number; text: string }> {
    const before = await contents();
    await sql.query(`begin; lock table ${table} in exclusive mode`);
    const lost = request().catch(() => undefined);
    await vi.waitFor(
      async () => {
        const { rows } = await sql.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        expect(rows.length).toBeGreaterThan(0);
      },
      { timeout: 20_000, interval: 20 },
    );
    await service.kill("SIGKILL");
    expect(await lost).toBeUndefined();
    await sql.query("rollback");
    await vi.waitFor(
      async () => {
        // Citus looks after a distributed database by connections of its own.
        const { rows } = await sql.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and application_name not ilike 'citus%'`,
        );
        expect(rows).toHaveLength(0);
      },
      { timeout: 10_000, interval: 20 },
    );
    expect(await contents()).toEqual(before);
    service = await start();
    return request();
  }

  it.each(["mails", "audit_log"])("of share, before %s", async (table) => {
    const email = `${table}@share.example.org`;
    const answer = await killAt(table, () => post(`/api/v1/devices/${uid}/share/`, partner, { email }));
    expect([answer.status, JSON.parse(answer.text).result]).toEqual([202, "invited"]);
    const { rows } = await sql.query("select from invitations i join mails m on m.id = i.mail_id where email = $1", [
      email,
    ]);
    expect(rows).toHaveLength(1);
  });

  it.each(["memberships", "audit_log"])("of accept, before %s", async (table) => {
    const email = `${table}@accept.example.org`;
    const token = `token-of-${table}`;
    expect((await post(`/api/v1/devices/${uid}/share/`, partner, { email })).status).toBe(202);
    // The token itself is only in the mail; its hash is replaced by that of a known one.
    const hash = createHash("sha256").update(token).digest();
    await sql.query("update invitations set token_hash = $2 where email = $1", [email, hash]);
    const answer = await killAt(table, () =>
      post("/api/v1/organizations/invitations/server-accept/", partner, { token }),
    );
    expect(answer.status).toBe(201);
  });

  it.each(["mails"])("of an invitation, before %s", async (table) => {
    const body = { email: `${table}@invite.example.org`, role: "USER" };
    const answer = await killAt(table, () => post("/api/v1/organizations/invitations/", owner, body));
    expect(answer.status).toBe(201);
  });
});
