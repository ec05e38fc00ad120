import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

/** Of a measurement that is kept: figures without them mean nothing. */
export function conditionsNow(): string {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout.trim();
  const day = new Date().toISOString().slice(0, 10);
  return `${cpus().length} shared cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${day}, commit ${commit}`;
}
