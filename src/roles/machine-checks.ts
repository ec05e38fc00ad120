import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { newUuid } from "../lib/ids.ts";
import { type Check, existingFolder } from "./doctor-checks.ts";

/** What the machine gives to a process: files, memory, and how soon its disk has what was written. */

/** For the database, calls, webhooks and files, beside the devices. */
const otherFiles = 2000;
const minOpenFiles = 4096;

/** Undefined: not Linux, or not limited. */
export function readOpenFilesLimit(limits = "/proc/self/limits"): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(limits, "utf8")) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

export function checkOpenFiles(
  { gatewayMaxConnections, roles }: Pick<Config, "gatewayMaxConnections" | "roles">,
  limit: number | undefined,
): Check {
  const name = "open_files";
  if (limit === undefined) return { name, ok: true, detail: "no limit is known" };
  const wanted = gatewayMaxConnections + otherFiles;
  const advice = `raise it to ${wanted} (LimitNOFILE in systemd, ulimit -n) or lower VIGIL_GATEWAY_MAX_CONNECTIONS`;
  if (limit < minOpenFiles) return { name, ok: false, detail: `only ${limit} files may be open: ${advice}` };
  if (limit >= wanted || !roles.includes("gateway")) return { name, ok: true, detail: `${limit} files may be open` };
  return {
    name,
    ok: true,
    detail: `${limit} files may be open, which is ${limit - otherFiles} devices; for more, ${advice}`,
  };
}

const minMemoryBytes = 512 * 1024 ** 2;
const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

/** The machine's memory, or what its control group allows if that is less. */
export function memoryLimitBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export function checkMemory(limitBytes: number, availableBytes: number): Check {
  const name = "memory";
  const detail = `${mib(limitBytes)}, of which ${mib(availableBytes)} are available`;
  if (limitBytes < minMemoryBytes) {
    return { name, ok: false, detail: `${detail}: give the machine or the container at least ${mib(minMemoryBytes)}` };
  }
  return { name, ok: true, detail };
}

const slowSyncMs = 20;
const maxSyncMs = 100;
const syncs = 15;
/** As much as PostgreSQL writes for a small transaction. */
const block = Buffer.alloc(8192);

/** The median time of bringing one block to the disk. Undefined: nothing can be written there. */
export function measureSyncMs(folder: string): number | undefined {
  const path = join(existingFolder(folder), `.vigil-doctor-${newUuid()}`);
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch {
    return undefined;
  }
  try {
    const times = Array.from({ length: syncs }, () => {
      const startedMs = performance.now();
      writeSync(fd, block);
      fdatasyncSync(fd);
      return performance.now() - startedMs;
    });
    return times.toSorted((a, b) => a - b)[Math.floor(syncs / 2)];
  } finally {
    closeSync(fd);
    rmSync(path, { force: true });
  }
}

/** A packet is acknowledged, and a call answered, when its transaction is on the disk. */
export function checkDiskSpeed({ databaseUrl }: Pick<Config, "databaseUrl">, medianMs: number | undefined): Check {
  const name = "disk_speed";
  if (databaseUrl !== undefined) return { name, ok: true, detail: "the disk is that of the external database" };
  if (medianMs === undefined) return { name, ok: true, detail: "not measured: the data folder is not writable" };
  const detail = `a write is on the disk after ${medianMs.toFixed(1)} ms`;
  if (medianMs <= slowSyncMs) return { name, ok: true, detail };
  const advice = "put the data folder on an SSD of this machine, not on a network share";
  return { name, ok: medianMs <= maxSyncMs, detail: `${detail}, which is slow: ${advice}` };
}
