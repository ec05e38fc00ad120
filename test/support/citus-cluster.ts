import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

export interface ClusterNode {
  name: string;
  port: number;
  dataDir: string;
}

/** A coordinator of Citus and its workers, or one server of the same programs without it, in a temporary folder. */
export interface CitusCluster {
  url: string;
  nodes: readonly ClusterNode[];
  /** Those that hold rows of devices. */
  workers: readonly ClusterNode[];
  /** With all its processes. */
  kill(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  close(): Promise<void>;
}

const script = resolve(import.meta.dirname, "../../scripts/citus-cluster.mjs");

export async function openCitusCluster(bin: string, { isPlain = false, isDurable = true } = {}): Promise<CitusCluster> {
  const flags = [...(isPlain ? ["--plain"] : []), ...(isDurable ? [] : ["--no-fsync"])];
  const args = [script, "--bin", bin, "--workers", "2", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = readLines(child);
  const url = await lines.next((line) => line.startsWith("postgres://"));
  const nodes: ClusterNode[] = [];
  while (nodes.length < (isPlain ? 1 : 3)) {
    const [name = "", port, dataDir = ""] = (await lines.next((line) => /^(coordinator|worker)/.test(line))).split(" ");
    nodes.push({ name, port: Number(port), dataDir });
  }
  const order = async (line: string): Promise<void> => {
    const answered = lines.next((one) => one === line || one.startsWith(`failed ${line}`));
    child.stdin?.write(`${line}\n`);
    const answer = await answered;
    if (answer !== line) throw new Error(answer);
  };
  return {
    url,
    nodes,
    workers: nodes.slice(1),
    kill: (name) => order(`kill ${name}`),
    stop: (name) => order(`stop ${name}`),
    start: (name) => order(`start ${name}`),
    close: async () => {
      const ended = new Promise<void>((done) => child.once("exit", () => done()));
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
