/**
 * Runs the tests on several versions of Node: `npm run test:nodes -- 20 22 24`, all three unless given. What follows `--` goes to
 * vitest: `npm run test:nodes -- 24 -- test/api src`, `… -- --config vitest.slow.config.ts`. The versions come from the npm
 * package `node`, into a folder outside the checkout that is removed afterwards.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const given = process.argv.slice(2);
const end = given.includes("--") ? given.indexOf("--") : given.length;
const versions = end > 0 ? given.slice(0, end) : ["20", "22", "24"];
const wanted = given.slice(end + 1);
const folder = mkdtempSync(join(tmpdir(), "vigil-nodes-"));
const results = [];
// Some tests start Node as another user.
chmodSync(folder, 0o755);

/** The folder with the binary; undefined when it cannot be had. */
function install(version) {
  const prefix = join(folder, version);
  const flags = ["--no-save", "--no-audit", "--no-fund", "--no-package-lock", "--silent"];
  const { status } = spawnSync("npm", ["install", "--prefix", prefix, ...flags, `node@${version}`], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const bin = join(prefix, "node_modules", "node", "bin");
  const { stdout } = spawnSync(join(bin, "node"), ["--version"], { encoding: "utf8" });
  return status === 0 && stdout ? { bin, name: stdout.trim() } : undefined;
}

try {
  for (const version of versions) {
    const node = install(version);
    if (!node) {
      results.push([version, "could not be installed"]);
      continue;
    }
    process.stdout.write(`\n# Node ${node.name}\n`);
    const env = { ...process.env, PATH: `${node.bin}${delimiter}${process.env.PATH}` };
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const { status } = spawnSync(join(node.bin, "node"), [vitest, "run", ...wanted], {
      cwd: root,
      env,
      stdio: "inherit",
    });
    results.push([node.name, status === 0 ? "passed" : "FAILED"]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, outcome] of results) process.stdout.write(`Node ${name}: ${outcome}\n`);
process.exit(results.every(([, outcome]) => outcome === "passed") ? 0 : 1);
