import { execFileSync } from "node:child_process";
import { getPriority } from "node:os";
import { expect, it } from "vitest";

/** In a process of its own: the priority of this one could not be raised again. */
function prioritiesAfter(...steps: readonly number[]): number[] {
  const program = `
    import { existsSync, readdirSync } from "node:fs";
    import { getPriority } from "node:os";
    import { lowerPriority } from ${JSON.stringify(import.meta.resolve("./low-priority.ts"))};
    for (const nice of ${JSON.stringify(steps)}) lowerPriority(nice);
    const threads = existsSync("/proc/self/task") ? readdirSync("/proc/self/task").map(Number) : [0];
    console.log(JSON.stringify(threads.map((thread) => getPriority(thread))));`;
  const args = ["--import", import.meta.resolve("tsx/esm"), "--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as number[];
}

it("lowers the priority of every thread of the process, and raises none", () => {
  const [first, second] = [7, 3].map((nice) => Math.max(nice, getPriority()));
  expect(first).toBeGreaterThanOrEqual(second as number);
  expect(new Set(prioritiesAfter(7, 3))).toEqual(new Set([first]));
});
