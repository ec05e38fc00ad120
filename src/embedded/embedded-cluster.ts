import { spawn } from "node:child_process";
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { randomToken } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { EmbeddedServerError } from "./embedded-error.ts";
import { handOver } from "./embedded-handover.ts";
import type { Layout } from "./embedded-layout.ts";
import { finishReplacement } from "./embedded-replacement.ts";
import type { PgBinaries } from "./pg-binaries.ts";

/** Kept inside the cluster, so that the two come and go together. */
const passwordFile = "vigil-password";

export const readClusterPassword = (layout: Layout): string =>
  readFileSync(join(layout.cluster, passwordFile), "utf8").trim();

/**
 * glibc gives memory back to the system at the end of nearly every statement, and asks for it again at the next one: a twelfth of the
 * CPU of a small transaction (profile). With these a backend keeps up to 4 MB. Other C libraries ignore them.
 */
const keptMemory = { MALLOC_TOP_PAD_: "1048576", MALLOC_TRIM_THRESHOLD_: "4194304", MALLOC_MMAP_THRESHOLD_: "4194304" };

/** Our own processes get nothing of the caller's environment: PGDATA, PGPORT or a locale would lead them astray. */
export const serverEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  LC_ALL: "C",
  TZ: "UTC",
  ...keptMemory,
});

/** Checks the cluster, or makes it: beside its place first, then renamed, so that a kill leaves no half of one. */
export async function prepareCluster(layout: Layout, binaries: PgBinaries, log: Logger): Promise<void> {
  await finishReplacement(layout);
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
      `${layout.cluster} was made by PostgreSQL ${found} and this Vigil brings ${binaries.major}; run "vigil db upgrade --old-bin DIR" with the programs of PostgreSQL ${found}, or start the Vigil that made it`,
    );
  }
}

async function createCluster(layout: Layout, binaries: PgBinaries): Promise<void> {
  const draft = join(layout.root, `cluster.new-${process.pid}-${randomToken(6)}`);
  const password = `${draft}.password`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(password, randomToken(24), { mode: 0o600, flag: "wx" });
    const { account } = layout;
    if (account) for (const path of [draft, password]) lchownSync(path, account.uid, account.gid);
    await runInitdb(layout, binaries, draft, password);
    await rename(password, join(draft, passwordFile));
    await rename(draft, layout.cluster);
  } finally {
    await rm(password, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

async function runInitdb(layout: Layout, binaries: PgBinaries, draft: string, password: string): Promise<void> {
  const handed = handOver(layout, { draft, password });
  // The folder of the socket lets only the server's own user (and root) in; the password stays the second door.
  const access = ["--username=vigil", "--auth-local=scram-sha-256", "--auth-host=scram-sha-256"];
  const text = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const files = ["-D", handed.paths.draft, `--pwfile=${handed.paths.password}`];
  const child = spawn(binaries.initdb, [...files, ...access, ...text], {
    ...layout.account,
    cwd: layout.root,
    env: serverEnvironment(),
    stdio: ["ignore", "ignore", "pipe", ...handed.descriptors],
  });
  handed.close();
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const failure = await new Promise<Error | undefined>((done) => {
    child.once("error", done);
    child.once("close", (code, signal) =>
      done(code === 0 ? undefined : new Error(`initdb exited with ${signal ?? code}`)),
    );
  });
  if (failure) throw explainInitdb(complaint.trim(), failure, layout, binaries);
}

function explainInitdb(text: string, cause: Error, layout: Layout, binaries: PgBinaries): EmbeddedServerError {
  if (/no space left|disk quota/i.test(text)) {
    return new EmbeddedServerError(`the disk of ${layout.dataDir} is full; free some space and start again`, { cause });
  }
  if (text === "") {
    return new EmbeddedServerError(
      `${binaries.initdb} does not run on this system (musl systems such as Alpine are not supported); use a PostgreSQL server of your own`,
      { cause },
    );
  }
  const reason = text.split("\n").find((line) => line.includes("error:")) ?? text.split("\n")[0];
  return new EmbeddedServerError(`the database could not be created in ${layout.root}: ${reason}`, { cause });
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
