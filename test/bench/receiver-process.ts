import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeAuthority } from "../support/certificates.ts";
import type { ReceiverStats } from "./webhook-receiver.ts";

const script = (name: string): string[] => ["--import", "tsx", join(import.meta.dirname, name)];

export interface ReceiverProcess {
  url(path: string): string;
  stats(path: string): Promise<ReceiverStats>;
  reset(): void;
  child: ChildProcess;
}

export async function makeCertificates(folder: string): Promise<void> {
  const authority = makeAuthority();
  const { key, cert } = authority.issue(["127.0.0.1"]);
  for (const [name, text] of Object.entries({ "key.pem": key, "cert.pem": cert, "ca.pem": authority.ca })) {
    await writeFile(join(folder, name), text);
  }
}

/** It runs on a machine of its own in real life: here it takes what time of the processors is left over. */
const stepBack = ({ pid }: ChildProcess): void => {
  if (pid !== undefined) setPriority(pid, 19);
};

export async function openReceiverProcess(folder: string, { isElsewhere = false } = {}): Promise<ReceiverProcess> {
  const args = [...script("webhook-receiver.ts"), join(folder, "key.pem"), join(folder, "cert.pem")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  // Before it has threads, which inherit it.
  if (isElsewhere) stepBack(child);
  const port = await new Promise<string>((done) =>
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once("line", done),
  );
  const none: ReceiverStats = { count: 0, firstMs: 0, lastMs: 0, p50: 0, p99: 0 };
  return {
    url: (path) => `https://127.0.0.1:${port}${path}`,
    child,
    reset: () => void child.send("reset"),
    stats: (path) =>
      new Promise((done) => {
        child.once("message", (all: Record<string, ReceiverStats>) => done(all[path] ?? none));
        child.send("stats");
      }),
  };
}

/** A client that posts ready bytes to the receiver as fast as it can; requests per second. */
export function runBare(
  url: string,
  caFile: string,
  requests: number,
  inFlight: number,
  { isElsewhere = false } = {},
): Promise<number> {
  const args = [...script("bare-webhooks.ts"), url, caFile, String(requests), String(inFlight)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  if (isElsewhere) stepBack(child);
  return new Promise((done) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once("line", (line) =>
      done((JSON.parse(line) as { perSecond: number }).perSecond),
    );
  });
}
