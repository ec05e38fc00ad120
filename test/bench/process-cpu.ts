import { readdirSync, readFileSync } from "node:fs";

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

/** Of all processes of the database server of a data folder. */
export function databaseCpuMs(dataDir: string): number {
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
  const backends = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && fieldsOf(pid)[1] === postmaster);
  return cpuMs(postmaster, true) + backends.reduce((sum, pid) => sum + cpuMs(pid), 0);
}
