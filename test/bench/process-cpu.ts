import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { childPids, serviceChildren } from "../support/child-pids.ts";

/** What the kernel has counted for a process, in milliseconds: a tick is 10 of them on every Linux that we run on. */
const tickMs = 10;

function fieldsOf(pid: number | string): string[] {
  try {
    // The name stands in brackets and may hold spaces.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
}

/** User and system time of a process; with `children` also of those that have ended. */
export function cpuMs(pid: number | string, children = false): number {
  const fields = fieldsOf(pid);
  const ticks = (children ? [11, 12, 13, 14] : [11, 12]).map((at) => Number(fields[at] ?? 0));
  return ticks.reduce((sum, value) => sum + value, 0) * tickMs;
}

/** Resident memory. */
export function memoryBytes(pid: number | string): number {
  const [, kilobytes = 0] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Of all cores since the machine was started: what was not idle, and all time. */
export function machineMs(): { busy: number; all: number } {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, ...others] = line.split(/ +/).slice(1, 9).map(Number);
  const busy = [user, nice, system, ...others].reduce((sum, ticks) => sum + ticks, 0);
  return { busy: busy * tickMs, all: (busy + idle + wait) * tickMs };
}

function postmasterOf(dataDir: string): string {
  const postmaster = readdirSync("/proc").find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return command.includes(dataDir) && /postgres/.test(command.split("\0")[0] ?? "");
    } catch {
      return false;
    }
  });
  if (postmaster === undefined) throw new Error(`no database server runs on ${dataDir}`);
  return postmaster;
}

/** Of all processes of the database server of a data folder. */
export function databaseCpuMs(dataDir: string): number {
  const postmaster = postmasterOf(dataDir);
  return cpuMs(postmaster, true) + childPids(Number(postmaster)).reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/** How long the processes of the database server ran, and how long they could have run and no core was free. */
export function databaseCoreMs(dataDir: string): { ran: number; waited: number } {
  const sums = { ran: 0, waited: 0 };
  for (const pid of childPids(Number(postmasterOf(dataDir)))) {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
    sums.ran += ran / 1e6;
    sums.waited += waited / 1e6;
  }
  return sums;
}

const withDescendants = (pid: number): number[] => [pid, ...childPids(pid).flatMap(withDescendants)];

/** The CPU time of a service and the processes it has started, without the embedded database. */
export const serviceCpuMs = (pid: number): number =>
  [pid, ...serviceChildren(pid)].reduce((sum, one) => sum + cpuMs(one), 0);

/** Keeps processes with all that they have started and will start on these cores, in the notation of taskset. */
export function pinTo(cores: string, pid: number, dataDir?: string): void {
  const pids = [...withDescendants(pid), ...(dataDir ? withDescendants(Number(postmasterOf(dataDir))) : [])];
  // One that has ended meanwhile is none to keep.
  for (const one of pids) spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(one)]);
}
