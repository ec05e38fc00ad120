import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

/**
 * Starts and drives the program as an operator would. Imports nothing of the program, so that VIGIL_TEST_PROGRAM can name the
 * `bin/vigil` of an earlier tree and show that a test fails there.
 */
const bin = process.env.VIGIL_TEST_PROGRAM ?? resolve(import.meta.dirname, "../../bin/vigil");

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Environment = Record<string, string | undefined>;

const environment = (extra: Environment): NodeJS.ProcessEnv => ({ ...process.env, DATABASE_URL: undefined, ...extra });

export function runVigil(args: readonly string[], env: Environment = {}, input?: string): Promise<Finished> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { env: environment(env), maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        done({ code: error ? ((error.code as number | undefined) ?? null) : 0, stdout, stderr });
      },
    );
    if (input !== undefined) child.stdin?.end(input);
  });
}

/** Runs a command and kills it with -9 if it has not ended by then. */
export function killVigil(args: readonly string[], afterMs: number, env: Environment = {}): Promise<void> {
  const child = spawn(process.execPath, [bin, ...args], { env: environment(env), stdio: "ignore" });
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  return new Promise((done) => {
    child.on("exit", () => {
      clearTimeout(timer);
      done();
    });
  });
}

export async function vigilJson<T>(args: readonly string[], env: Environment = {}): Promise<T> {
  const { code, stdout, stderr } = await runVigil([...args, "--json"], env);
  if (code !== 0) throw new Error(`vigil ${args.join(" ")}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface RunningVigil {
  http: string;
  /** host:port of the device gateway, or off. */
  gateway: string;
  ops: string;
  /** The whole ready line. */
  document: Record<string, unknown>;
  process: ChildProcess;
  stderr: () => string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Resolves with the ready line; rejects with what the program said when it ends instead. VIGIL_TEST_PROGRAM of `env` names another
 * program for this one.
 */
export function startVigil(
  args: readonly string[],
  env: Environment = {},
  command: "start" | "demo" = "start",
  nodeFlags: readonly string[] = [],
): Promise<RunningVigil> {
  const ports = ["--port", "--ops-port", "--gateway-port"].flatMap((flag) => (args.includes(flag) ? [] : [flag, "0"]));
  const child = spawn(
    process.execPath,
    [...nodeFlags, env.VIGIL_TEST_PROGRAM ?? bin, command, "--json", ...ports, ...args],
    {
      env: environment(env),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<number | null>((done) => child.on("exit", (code) => done(code)));
  return new Promise((done, fail) => {
    ended.then((code) => fail(new Error(`vigil ended with ${code}: ${stderr}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once("line", (line) => {
      const document = JSON.parse(line) as { http: string; gateway: string; ops: string };
      const { http, gateway, ops } = document;
      done({
        http,
        gateway,
        ops,
        document,
        process: child,
        stderr: () => stderr,
        kill: (signal) => {
          child.kill(signal);
          return ended;
        },
      });
    });
  });
}

export interface Credentials {
  id: string;
  client_id: string;
  client_secret: string;
}

/** An organization and an integration made on the command line. */
export async function makeCredentials(
  where: readonly string[],
  env: Environment = {},
  scopes = "all",
): Promise<Credentials> {
  const slug = `org-${Math.random().toString(36).slice(2, 10)}`;
  await vigilJson(["org", "create", "--name", "Care Co", "--slug", slug, ...where], env);
  return vigilJson<Credentials>(
    ["integration", "create", "--org", slug, "--name", "App", "--scopes", scopes, ...where],
    env,
  );
}

export async function fetchTokenOf(http: string, { client_id, client_secret }: Credentials): Promise<string> {
  const answer = await fetch(`${http}/o/token/`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }),
  });
  const body = (await answer.json()) as { access_token: string };
  if (answer.status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.access_token;
}

export async function tempFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "vigil-acceptance-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
