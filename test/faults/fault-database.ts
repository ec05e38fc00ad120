import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { ClientConfig } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { tempFolder } from "../support/vigil-process.ts";

/** The database of a fault run: an embedded server, or a cluster of Citus whose nodes can be killed. */
export interface FaultDatabase {
  url: string;
  connection: ClientConfig;
  /** Undefined: the database is not distributed. */
  nodes: DatabaseNodes | undefined;
  close(): Promise<void>;
}

export interface DatabaseNodes {
  /** Those that hold rows of devices, with their ports. */
  workers: readonly { name: string; port: number }[];
  /** With all its processes. */
  kill(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

export async function openFaultDatabase(citusBin: string | undefined): Promise<FaultDatabase> {
  return citusBin === undefined ? openEmbedded() : openCluster(citusBin);
}

async function openEmbedded(): Promise<FaultDatabase> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  return {
    url: embeddedUrl(server.connection),
    connection: server.connection,
    nodes: undefined,
    close: async () => {
      await server.release();
      await folder.remove();
    },
  };
}

const script = resolve(import.meta.dirname, "../../scripts/citus-cluster.mjs");
const workerCount = 2;

async function openCluster(bin: string): Promise<FaultDatabase> {
  const args = [script, "--bin", bin, "--workers", String(workerCount)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = readLines(child);
  const url = await lines.next((line) => line.startsWith("postgres://"));
  const workers: { name: string; port: number }[] = [];
  while (workers.length < workerCount) {
    const [name = "", port] = (await lines.next((line) => line.startsWith("worker-"))).split(" ");
    workers.push({ name, port: Number(port) });
  }
  const order = async (line: string): Promise<void> => {
    const answered = lines.next((one) => one.endsWith(line) || one.startsWith(`failed ${line}`));
    child.stdin?.write(`${line}\n`);
    const answer = await answered;
    if (answer !== line) throw new Error(answer);
  };
  return {
    url,
    connection: { connectionString: url },
    nodes: {
      workers,
      kill: (name) => order(`kill ${name}`),
      stop: (name) => order(`stop ${name}`),
      start: (name) => order(`start ${name}`),
    },
    close: async () => {
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

interface Lines {
  /** The next line that is one of those. */
  next(isOne: (line: string) => boolean): Promise<string>;
}

function readLines(child: ChildProcess): Lines {
  const unread: string[] = [];
  let wake = (): void => undefined;
  let hasEnded = false;
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on("line", (line) => {
    unread.push(line);
    wake();
  });
  reader.on("close", () => {
    hasEnded = true;
    wake();
  });
  return {
    next: async (isOne) => {
      for (;;) {
        for (let line = unread.shift(); line !== undefined; line = unread.shift()) if (isOne(line)) return line;
        if (hasEnded) throw new Error("the cluster has ended");
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
