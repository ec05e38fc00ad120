import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/**
 * Lets all threads of this process step back for others: 0 is usual, 19 the lowest priority. On Linux a priority is a thread's own, and
 * those that collect garbage and compile exist before the program begins; threads that are started later inherit it. A system that
 * refuses runs the process as it is.
 */
export function lowerPriority(nice: number): void {
  for (const thread of threadIds()) {
    try {
      if (getPriority(thread) < nice) setPriority(thread, Math.min(nice, constants.priority.PRIORITY_LOW));
    } catch {
      // It has ended meanwhile, or must not be changed.
    }
  }
}

/** 0 is this process, where threads have no priorities of their own. */
function threadIds(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}
