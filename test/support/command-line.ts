import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import { loadCommandsFor } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { createTestDatabase } from "./database.ts";

export const binary = join(import.meta.dirname, "../../bin/vigil");

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface AuditRow {
  action: number;
  actor_type: string;
  content_type: number;
  object_pk: string;
  object_repr: string;
  changes: Record<string, [unknown, unknown]>;
  additional_data: unknown;
}

export interface Credentials {
  id: string;
  client_id: string;
  client_secret: string;
  webhook_secret: string | null;
  [key: string]: unknown;
}

type Environment = Record<string, string>;

export type CommandLine = Awaited<ReturnType<typeof openCommandLine>>;

/** The `vigil` command of this checkout on a database and a data folder of its own. */
export async function openCommandLine() {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-cli-"));
  const env: Environment = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    DATABASE_URL: database.url,
    VIGIL_DATA_DIR: dataDir,
  };
  const sql = new Client({ connectionString: database.url });
  let organizations = 0;

  /** In this process, as the program itself does it. */
  async function vigil(args: string[], extraEnv: Environment = {}, stdin = ""): Promise<Outcome> {
    const outcome: Outcome = { code: null, stdout: "", stderr: "" };
    const code = await runCommandLine(args, await loadCommandsFor(args), {
      stdout: (text) => {
        outcome.stdout += text;
      },
      stderr: (text) => {
        outcome.stderr += text;
      },
      readStdin: async () => stdin,
      env: { ...env, ...extraEnv },
    });
    return { ...outcome, code };
  }

  /** In a process of its own. */
  function spawned(args: string[], extraEnv: Environment = {}, stdin = ""): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [binary, ...args], { env: { ...env, ...extraEnv } });
      const outcome: Outcome = { code: null, stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => {
        outcome.stdout += chunk;
      });
      child.stderr.on("data", (chunk) => {
        outcome.stderr += chunk;
      });
      child.on("error", reject);
      // A command that fails early does not read its stdin.
      child.stdin.on("error", () => undefined);
      child.on("close", (code) => resolve({ ...outcome, code }));
      child.stdin.end(stdin);
    });
  }

  /** Runs with --json: exit code 0, one line with one document on stdout, nothing on stderr. */
  async function vigilJson<T = Record<string, unknown>>(args: string[], extraEnv = {}, stdin = ""): Promise<T> {
    const { code, stdout, stderr } = await vigil([...args, "--json"], extraEnv, stdin);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^[^\n]+\n$/);
    return JSON.parse(stdout) as T;
  }

  /** Nothing on stdout; on stderr one line that says what to do, and for usage errors the usage line. */
  async function expectFailure(args: string[], code: 1 | 2, text: RegExp, extraEnv = {}, stdin = ""): Promise<void> {
    const outcome = await vigil([...args, "--json"], extraEnv, stdin);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toMatch(text);
    expect(outcome.stderr).not.toMatch(/\n {4}at |Error:/);
    expect(outcome.stderr.trimEnd().split("\n")).toHaveLength(code);
    if (code === 2) expect(outcome.stderr).toContain("usage: vigil");
  }

  await sql.connect();
  return {
    database,
    dataDir,
    env,
    sql,
    vigil,
    spawned,
    /** Builds, so that the line about it is not on the stderr of a test. */
    build: () => spawned(["db", "migrate"]),
    vigilJson,
    expectFailure,
    auditOf: async (objectPk: unknown): Promise<AuditRow[]> =>
      (await sql.query("select * from audit_log where object_pk = $1 order by id", [objectPk])).rows,
    makeOrganization: async (): Promise<string> =>
      (await vigilJson<{ slug: string }>(["org", "create", "--name", `Care ${++organizations}`])).slug,
    makeIntegration: (org: string, ...options: string[]): Promise<Credentials> =>
      vigilJson<Credentials>(["integration", "create", "--org", org, "--name", "App", ...options]),
    close: async (): Promise<void> => {
      await sql.end();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
