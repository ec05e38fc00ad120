/**
 * Checks what Vigil brings along at run time: every production package has a licence that we accept, and none has a known
 * vulnerability of high severity, as far as the registry answers. Without a network the second part is only said to be skipped.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const auditLimitMs = 60_000;

/** Licences that ask for no more than their text being kept. */
const accepted = new Set([
  ...["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "CC0-1.0"],
  ...["Unlicense", "Python-2.0", "Zlib"],
]);

/** Licences that ask for more. Each package is described in NOTICE; an optional one must be missing without harm. */
const exceptions = {
  "@libav.js/variant-mediarecorder-transcoder": { licence: "LGPL-2.1" },
  "codec-parser": { licence: "LGPL-3.0-or-later" },
  "@echogarden/espeak-ng-emscripten": { licence: "GPL-3.0", isOptional: true },
};

const read = (path) => readFileSync(join(root, path), "utf8");

/** What the package itself says where it is installed, and what the lock says about it elsewhere. */
function licenceOf(path, locked) {
  const manifest = join(path, "package.json");
  const said = existsSync(join(root, manifest)) ? JSON.parse(read(manifest)).license : undefined;
  return (typeof said === "object" ? said?.type : said) ?? locked.license ?? "none";
}

const isAccepted = (licence) => {
  const choices = licence.replace(/^\(|\)$/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((part) => accepted.has(part)));
};

function licenceProblems() {
  const notice = read("NOTICE");
  const packages = Object.entries(JSON.parse(read("package-lock.json")).packages);
  const shipped = packages.filter(([path, locked]) => path !== "" && !locked.dev && !locked.devOptional);
  const problems = shipped.flatMap(([path, locked]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const licence = licenceOf(path, locked);
    if (isAccepted(licence)) return [];
    const exception = exceptions[name];
    if (exception?.licence !== licence) return [`${name}: the licence ${licence} is not accepted`];
    if (!notice.includes(name)) return [`${name}: ${licence} is accepted, but NOTICE does not name the package`];
    return exception.isOptional && !locked.optional
      ? [`${name}: ${licence} is accepted in an optional package only`]
      : [];
  });
  console.log(`licences of ${shipped.length} production packages: ${problems.length === 0 ? "accepted" : "refused"}`);
  return problems;
}

/** Undefined: the registry did not answer. */
function fetchAudit() {
  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json", "--fetch-retries=0"], {
    cwd: root,
    encoding: "utf8",
    timeout: auditLimitMs,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    return JSON.parse(stdout).vulnerabilities;
  } catch {
    return undefined;
  }
}

function vulnerabilityProblems() {
  const found = fetchAudit();
  if (!found) {
    console.log("known vulnerabilities: the registry did not answer, nothing was checked");
    return [];
  }
  const all = Object.values(found);
  const grave = all.filter(({ severity }) => severity === "high" || severity === "critical");
  for (const { name, severity, range } of all) console.log(`known vulnerability: ${name} ${range} (${severity})`);
  console.log(`known vulnerabilities of high severity: ${grave.length}`);
  return grave.map(({ name, range }) => `${name} ${range}: a known vulnerability, see "npm audit --omit=dev"`);
}

/** Addresses in the lock tie every installation to one registry. */
const lockProblems = () =>
  /"resolved": "https?:/.test(read("package-lock.json"))
    ? ['package-lock.json has "resolved" addresses: remove them']
    : [];

const problems = [...lockProblems(), ...licenceProblems(), ...vulnerabilityProblems()];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
