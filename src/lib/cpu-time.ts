import { readFileSync } from "node:fs";

/** The kernel counts in these steps on every Linux that we run on. */
const tickMs = 10;

/** What the cores have worked for a process, all of its threads together; undefined where the system does not say. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in brackets and may hold spaces.
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    return (Number(user) + Number(system)) * tickMs;
  } catch {
    return undefined;
  }
}
