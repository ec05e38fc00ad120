import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rowName } from "./accepted.ts";
import { changeOf, intervalOf } from "./interval.ts";

const root = resolve(import.meta.dirname, "../..");
const turns = 3;

type Ratios = Map<string, number[]>;

/**
 * Runs benches of this tree and of an earlier commit in turns, so that a slow minute of the machine counts for both, and prints the
 * ratios of both with the 95 % interval of the change. An earlier commit that these benches no longer fit cannot be compared.
 */
export function compareWith(commit: string, benches: readonly string[], flags: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), "vigil-compare-"));
  const before = join(folder, "before");
  try {
    execFileSync("git", ["worktree", "add", "--detach", before, commit], { cwd: root, stdio: "ignore" });
    installIn(before);
    // Both are measured by the same benches: what has changed is the program.
    for (const part of ["test/bench", "test/support"])
      cpSync(join(root, part), join(before, part), { recursive: true });
    for (const bench of benches) {
      const [now, then]: [Ratios, Ratios] = [new Map(), new Map()];
      for (let turn = 1; turn <= turns; turn++) {
        console.log(`bench ${bench}, turn ${turn} of ${turns}`);
        const runs = [
          () => printTurn("now", measure(root, bench, flags, now)),
          () => printTurn("before", measure(before, bench, flags, then)),
        ];
        // A machine that becomes slower and slower does so for both.
        for (const run of turn % 2 === 1 ? runs : runs.toReversed()) run();
      }
      printChange(bench, commit, now, then);
    }
  } finally {
    execFileSync("git", ["worktree", "remove", "--force", before], { cwd: root, stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The packages of this tree serve when the lock file is the same. */
function installIn(tree: string): void {
  const lock = (folder: string): string => readFileSync(join(folder, "package-lock.json"), "utf8");
  if (lock(tree) === lock(root) && existsSync(join(root, "node_modules"))) {
    symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  } else {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: tree, stdio: "inherit" });
  }
}

function measure(tree: string, bench: string, flags: readonly string[], into: Ratios): string[] {
  const tsx = join(tree, "node_modules", ".bin", "tsx");
  const { stdout, status } = spawnSync(tsx, ["test/bench/bench.ts", bench, ...flags], {
    cwd: tree,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`bench ${bench} ended with ${status} in ${tree}`);
  const measured: string[] = [];
  for (const [, what, ratio] of stdout.matchAll(/^ {2}(.+?): .*ratio ([\d.]+) \(/gm)) {
    const name = rowName(what as string);
    into.set(name, [...(into.get(name) ?? []), Number(ratio)]);
    measured.push(`${name} ${ratio}`);
  }
  return measured;
}

/** Each turn takes minutes: what it measured is not lost when a later one is stopped. */
const printTurn = (tree: string, measured: readonly string[]): void => console.log(`  ${tree}: ${measured.join("; ")}`);

function printChange(bench: string, commit: string, now: Ratios, then: Ratios): void {
  console.log(`\nbench ${bench}, this tree against ${commit}, ${turns} turns each`);
  for (const [name, ratios] of now) {
    const old = then.get(name);
    const ours = `now ${intervalOf(ratios).middle.toFixed(2)} (${ratios.join(", ")})`;
    if (!old) {
      console.log(`  ${name}: ${ours}, not measured before`);
      continue;
    }
    const { middle, low, high } = changeOf(ratios, old);
    console.log(
      `  ${name}: ${ours}, before ${intervalOf(old).middle.toFixed(2)} (${old.join(", ")}), change × ${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
    );
  }
}
