import { closeSync, constants, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readClusterPassword } from "./embedded-cluster.ts";
import { EmbeddedServerError, errorCode } from "./embedded-error.ts";
import { isHandoverPath } from "./embedded-handover.ts";
import type { Layout } from "./embedded-layout.ts";
import { ownSetting, pause, processBirth, servesCluster } from "./embedded-process.ts";

/** Fits the client configuration of pg; the host may be the folder of a Unix socket. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

/** What a running server says of itself in postmaster.pid. */
export interface Postmaster {
  pid: number;
  port: number;
  socketDir: string | undefined;
  status: "starting" | "ready" | "stopping";
}

/** The server that runs on this cluster. The file alone proves nothing: it outlives a kill -9, and pids come again. */
export function findPostmaster(layout: Layout): Postmaster | undefined {
  const lines = readPidFile(layout);
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !servesCluster(pid, layout.cluster)) return undefined;
  const word = lines[7]?.trim();
  const status = word === "ready" || word === "stopping" ? word : "starting";
  const named = lines[4] ?? "";
  const socketDir = isHandoverPath(named) ? ownSetting(pid, "vigil.sockets") : named;
  return { pid, port: Number(lines[3]), socketDir: socketDir || undefined, status };
}

/** How to reach a running server, whoever started it and however it listens. */
export function connectionTo(layout: Layout, { socketDir, port }: Postmaster): EmbeddedConnection {
  // A cluster of before asks for no password on its socket and takes one all the same.
  const login = { user: "vigil", database: "vigil", password: readClusterPassword(layout) };
  return { host: socketDir ?? "127.0.0.1", port, ...login };
}

/** Waits for a server that is going away. False: after `limitMs` it is still there and does not even say it is stopping. */
export async function untilStopped(layout: Layout, { pid }: Postmaster, limitMs: number): Promise<boolean> {
  const startedAt = Date.now();
  for (;;) {
    if (!servesCluster(pid, layout.cluster)) return true;
    // The file goes a little before the process does.
    const status = findPostmaster(layout)?.status ?? "stopping";
    const waitedMs = Date.now() - startedAt;
    if (status !== "stopping" && waitedMs > limitMs) return false;
    if (waitedMs > 300_000) {
      throw new EmbeddedServerError(
        `the database in ${layout.cluster} (pid ${pid}) has been shutting down for five minutes; see ${layout.log}`,
      );
    }
    await pause(5);
  }
}

/**
 * Clears what a killed server left behind and PostgreSQL would stumble over: it refuses to start if the pid in its file
 * belongs to any process of the same user. The rest of the file stays, because its shared memory key is how PostgreSQL
 * notices backends of the old server that still write.
 */
export function clearStaleFiles(layout: Layout, socketDir: string | undefined): void {
  const lines = readPidFile(layout);
  if (processBirth(Number(lines[0])) !== undefined) {
    // Above every pid limit, so it names no process.
    const text = ["2147483647", ...lines.slice(1)].join("\n");
    // Root must not be led elsewhere by a link that the server's user has put in its place.
    const { O_WRONLY, O_TRUNC, O_NOFOLLOW } = constants;
    const fd = openSync(join(layout.cluster, "postmaster.pid"), O_WRONLY | O_TRUNC | O_NOFOLLOW);
    writeSync(fd, text);
    closeSync(fd);
  }
  if (socketDir !== undefined) removeSockets(socketDir);
}

function removeSockets(folder: string): void {
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(".s.PGSQL.")) rmSync(join(folder, name), { force: true });
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

function readPidFile(layout: Layout): string[] {
  try {
    return readFileSync(join(layout.cluster, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
