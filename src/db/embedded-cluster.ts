import { execFile } from "node:child_process";
import { existsSync, lchownSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { randomToken } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { EmbeddedServerError } from "./embedded-error.ts";
import type { Layout } from "./embedded-layout.ts";
import type { PgBinaries } from "./pg-binaries.ts";

const execFileAsync = promisify(execFile);

/** Kept inside the cluster, so that the two come and go together. */
const passwordFile = "vigil-password";

export const readClusterPassword = (layout: Layout): string =>
  readFileSync(join(layout.cluster, passwordFile), "utf8").trim();

/** Our own processes get nothing of the caller's environment: PGDATA, PGPORT or a locale would lead them astray. */
export const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" });

/** Checks the cluster, or makes it: beside its place first, then renamed, so that a kill leaves no half of one. */
export async function prepareCluster(layout: Layout, binaries: PgBinaries, log: Logger): Promise<void> {
  await removeDrafts(layout, log);
  const isNew = !existsSync(layout.cluster) || readdirSync(layout.cluster).length === 0;
  if (isNew) await createCluster(layout, binaries);
  const versionFile = join(layout.cluster, "PG_VERSION");
  if (!existsSync(versionFile) || !existsSync(join(layout.cluster, "global", "pg_control"))) {
    throw new EmbeddedServerError(
      `${layout.cluster} is not a complete PostgreSQL cluster; restore it from a backup, or move it away to start empty`,
    );
  }
  const found = readFileSync(versionFile, "utf8").trim();
  if (found !== binaries.major) {
    throw new EmbeddedServerError(
      `${layout.cluster} was made by PostgreSQL ${found} and this Vigil brings ${binaries.major}; use the Vigil that made it, or dump and restore`,
    );
  }
}

async function createCluster(layout: Layout, binaries: PgBinaries): Promise<void> {
  const draft = join(layout.root, `cluster.new-${process.pid}-${randomToken(6)}`);
  const password = `${draft}.password`;
  writeFileSync(password, randomToken(24), { mode: 0o600, flag: "wx" });
  if (layout.account) lchownSync(password, layout.account.uid, layout.account.gid);
  try {
    await runInitdb(layout, binaries, draft, password);
    await rename(password, join(draft, passwordFile));
    await rename(draft, layout.cluster);
  } finally {
    await rm(password, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

async function runInitdb(layout: Layout, binaries: PgBinaries, draft: string, password: string): Promise<void> {
  // The socket needs no password, its folder lets only the server's own user (and root) in.
  const access = ["--username=vigil", "--auth-local=trust", "--auth-host=scram-sha-256", `--pwfile=${password}`];
  const text = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  try {
    await execFileAsync(binaries.initdb, ["-D", draft, ...access, ...text], {
      ...layout.account,
      cwd: "/",
      env: serverEnvironment(),
    });
  } catch (error) {
    throw explainInitdb(error, layout, binaries);
  }
}

function explainInitdb(error: unknown, layout: Layout, binaries: PgBinaries): EmbeddedServerError {
  const text = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  if (/no space left|disk quota/i.test(text)) {
    return new EmbeddedServerError(`the disk of ${layout.dataDir} is full; free some space and start again`, {
      cause: error,
    });
  }
  if (text === "") {
    return new EmbeddedServerError(
      `${binaries.initdb} does not run on this system (musl systems such as Alpine are not supported); use a PostgreSQL server of your own`,
      { cause: error },
    );
  }
  const reason = text.split("\n").find((line) => line.includes("error:")) ?? text.split("\n")[0];
  return new EmbeddedServerError(`the database could not be created in ${layout.root}: ${reason}`, { cause: error });
}

async function removeDrafts(layout: Layout, log: Logger): Promise<void> {
  for (const name of readdirSync(layout.root)) {
    if (!name.startsWith(`${basename(layout.cluster)}.new-`)) continue;
    try {
      await rm(join(layout.root, name), { recursive: true, force: true });
    } catch (error) {
      // The initdb of a killed process may still be writing. The next start tries again.
      log.warn({ err: error }, `could not remove the leftover ${name}`);
    }
  }
}
