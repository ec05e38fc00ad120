import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { errorCode } from "./embedded-error.ts";

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Tells a process from a later one with the same pid. Undefined: there is no such process, or it is a zombie. */
export function processBirth(pid: number): string | undefined {
  if (process.platform !== "linux") return psColumn(pid, "lstart");
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything, so count from its end: state is field 3, the start time field 22.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** True if the pid is a PostgreSQL server on this cluster folder (its real path), and not whoever got the pid since. */
export function servesCluster(pid: number, cluster: string): boolean {
  if (process.platform !== "linux") return psColumn(pid, "command")?.includes(cluster) ?? false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === cluster;
  } catch (error) {
    // Root without CAP_SYS_PTRACE, as in a container, may not look at another user's cwd. The command line is open to all.
    const isHidden = errorCode(error) === "EACCES" || errorCode(error) === "EPERM";
    return isHidden && ownSetting(pid, "vigil.cluster") === cluster;
  }
}

/** The server's command line names its real folders in settings of our own, because it may know them as descriptors only. */
export function ownSetting(pid: number, name: "vigil.cluster" | "vigil.sockets"): string | undefined {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

function psColumn(pid: number, column: string): string | undefined {
  const { stdout } = spawnSync("ps", ["-ww", "-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return stdout?.trim() || undefined;
}
