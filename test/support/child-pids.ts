import { readdirSync, readFileSync } from "node:fs";

/** Processes that another one has started and that still run. */
export const childPids = (parent: number | undefined): number[] =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state !== "Z" && Number(ppid) === parent ? [Number(name)] : [];
    } catch {
      // It has just ended.
      return [];
    }
  });

/** Those of a service in several processes, without what else it may have started. */
export const serviceChildren = (parent: number | undefined): number[] =>
  childPids(parent).filter((pid) => commandLine(pid).includes("service-child"));

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}
