/**
 * Runs the tests that use a database on a coordinator of Citus with two workers: `npm run test:citus -- --citus-bin FOLDER` those of
 * `npm test`, with --slow those of `npm run test:slow`, with --rounds those of `npm run test:rounds`. What else is given are parts of
 * file names, to run some of them: `… --slow test/api test/flows/erasure`. Instead of a folder of programs, --url names the
 * coordinator of a cluster that runs; two runs at a time need a cluster each. --list prints what would run and what is left out.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openCitusCluster } from "../test/support/citus-cluster.ts";

const root = dirname(import.meta.dirname);
const { values: options, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    "citus-bin": { type: "string" },
    url: { type: "string" },
    slow: { type: "boolean", default: false },
    rounds: { type: "boolean", default: false },
    "max-workers": { type: "string" },
    list: { type: "boolean", default: false },
  },
});
if (!options["citus-bin"] && !options.url && !options.list) {
  console.error(
    "usage: npm run test:citus -- --citus-bin FOLDER | --url URL [--slow | --rounds] [--max-workers N] [--list] [FILE…]",
  );
  process.exit(2);
}
const suite = options.rounds ? "rounds" : options.slow ? "slow" : "";

/** A clone of the template is a database on three servers, and each partition a table on each of them. */
const quickTimeouts = ["--testTimeout", "60000", "--hookTimeout", "120000"];
const database = "test/support/database.ts";
const ownDatabase = /^(src\/embedded\/|test\/support\/(vigil-process|embedded-\w+|old-postgres)\.ts$)/;

const testFiles = ["src", "test", "web", "client"]
  .flatMap((room) => readdirSync(join(root, room), { recursive: true }).map((name) => `${room}/${name}`))
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
  .filter((file) => (/\.(slow|rounds)\.test\.ts$/.exec(file)?.[1] ?? "") === suite)
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .sort();

const importsOf = (file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
    .map(([, path]) => relative(root, resolve(root, dirname(file), path)))
    .filter((path) => existsSync(join(root, path)));

/** The file with everything that it imports, directly or not. */
function reachedBy(file) {
  const reached = new Set([file]);
  for (const one of reached) for (const next of importsOf(one)) reached.add(next);
  return [...reached];
}

/** Only files of tests start servers: the program reaches its embedded one from nearly everywhere. */
const isOfTests = (file) => !file.startsWith("src/") || file.endsWith(".test.ts");
const files = testFiles.map((file) => {
  const reached = reachedBy(file);
  const runs = reached.includes(database);
  const hasOwn = reached.filter(isOfTests).some((one) => ownDatabase.test(one));
  // Such a database is migrated by the test or by the program that it starts, and distributed by nobody.
  const hasEmpty = reached
    .filter(isOfTests)
    .some((one) => readFileSync(join(root, one), "utf8").includes("empty: true"));
  return { file, runs, hasOwn, hasEmpty };
});
const chosen = files.filter(({ runs }) => runs);
const left = files.filter(({ runs }) => !runs);

function printList(title, list) {
  if (list.length > 0) console.log(`\n${title}:\n${list.map(({ file }) => `  ${file}`).join("\n")}`);
}

function printLeftOut() {
  console.log(`\nLeft out: ${left.filter(({ hasOwn }) => !hasOwn).length} files that use no database.`);
  printList(
    "Left out, because they start a service with its embedded database or are about that one",
    left.filter(({ hasOwn }) => hasOwn),
  );
  printList(
    "With databases among theirs that start empty and are not distributed",
    chosen.filter(({ hasEmpty }) => hasEmpty),
  );
}

/** Counts, and what was skipped: its name says why. */
function printResults(report) {
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: relative(root, name) })),
  );
  const of = (...states) => tests.filter(({ status }) => states.includes(status));
  const name = ({ file, fullName }) => ({ file: `${file}: ${fullName.trim()}` });
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.length,
  );
  const [passed, failed, skipped] = [of("passed"), of("failed"), of("pending", "skipped", "todo", "disabled")];
  console.log(
    `\n${report.testResults.length} files, ${passed.length} tests passed, ${failed.length} failed, ${skipped.length} skipped`,
  );
  printList("Failed", [...failed.map(name), ...broken.map((one) => ({ file: relative(root, one.name) }))]);
  printList("Skipped", skipped.map(name));
}

async function run(url) {
  const folder = mkdtempSync(join(tmpdir(), "vigil-test-citus-"));
  const json = join(folder, "report.json");
  const config = suite ? ["--config", `vitest.${suite}.config.ts`] : quickTimeouts;
  const workers = options["max-workers"] ? ["--maxWorkers", options["max-workers"]] : [];
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const paths = chosen.map(({ file }) => join(root, file));
  const child = spawn(process.execPath, [vitest, "run", ...config, ...workers, ...paths], {
    cwd: root,
    env: { ...process.env, VITEST_JSON: json, VIGIL_TEST_CITUS_URL: url },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const code = await new Promise((done) => child.once("exit", done));
  if (existsSync(json)) printResults(JSON.parse(readFileSync(json, "utf8")));
  rmSync(folder, { recursive: true, force: true });
  return code ?? 1;
}

if (options.list || chosen.length === 0) {
  printList(`${chosen.length} files`, chosen);
  printLeftOut();
  process.exit(chosen.length === 0 ? 1 : 0);
}
const cluster = options.url ? undefined : await openCitusCluster(options["citus-bin"], { isDurable: false });
let code = 1;
try {
  code = await run(cluster?.url ?? options.url);
  printLeftOut();
} finally {
  await cluster?.close();
}
process.exit(code);
