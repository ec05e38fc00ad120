import { spawnSync } from "node:child_process";
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Logger } from "../lib/logger.ts";
import { bootServer, chooseTransport } from "./embedded-boot.ts";
import { EmbeddedServerError, explainFileError } from "./embedded-error.ts";
import { leaveLauncher } from "./embedded-launcher.ts";
import { type Layout, prepareLayout } from "./embedded-layout.ts";
import { withStartLock } from "./embedded-lock.ts";
import { connectionTo, type EmbeddedConnection, findPostmaster, untilStopped } from "./embedded-postmaster.ts";
import { finishReplacement, replaceCluster } from "./embedded-replacement.ts";
import { openEmbeddedServer } from "./embedded-server.ts";
import { findBinariesPackage, type PgBinaries, prepareBinaries } from "./pg-binaries.ts";

const maxStopMs = 15_000;

export interface UpgradeOptions<T> {
  dataDir: string;
  log: Logger;
  /** The folder with the programs of the PostgreSQL that made the cluster. */
  oldBin: string | undefined;
  /** Moves everything. It may be called again after a kill, and then finds what it had stored in the target (`hasTarget`). */
  move(servers: { source: EmbeddedConnection; hasTarget: boolean; openTarget: OpenTarget }): Promise<T>;
}

/** The new cluster, as an earlier attempt left it, or empty. The server stops when the work has ended. */
export type OpenTarget = <R>(isFresh: boolean, work: (target: EmbeddedConnection) => Promise<R>) => Promise<R>;

export interface Upgraded<T> {
  from: string;
  to: string;
  /** Undefined: there was nothing to upgrade. */
  result: T | undefined;
  /** Where the old cluster is kept. */
  previous: string | undefined;
}

/** The major version that made the cluster. Undefined: there is none. */
export function findClusterMajor({ cluster }: Pick<Layout, "cluster">): string | undefined {
  const file = join(cluster, "PG_VERSION");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

/**
 * Moves the rows of a cluster of another major version into a new one beside it, and puts that into place at the end. The old
 * cluster is only read; until the last step the data folder is as before.
 */
export async function upgradeEmbedded<T>(options: UpgradeOptions<T>): Promise<Upgraded<T>> {
  const { dataDir, log } = options;
  try {
    const layout = prepareLayout(dataDir);
    return await withStartLock(layout, log, () => upgradeLocked(layout, options));
  } catch (error) {
    throw explainFileError(error, resolve(dataDir));
  }
}

async function upgradeLocked<T>(layout: Layout, options: UpgradeOptions<T>): Promise<Upgraded<T>> {
  const running = findPostmaster(layout);
  // An attempt that was killed leaves a server that is being stopped.
  if (running && !(await untilStopped(layout, running, maxStopMs))) {
    throw new EmbeddedServerError(
      `the database in ${layout.cluster} is running (pid ${running.pid}); stop the service first`,
    );
  }
  await finishReplacement(layout);
  const { major: to } = await prepareBinaries(findBinariesPackage(), layout.root, layout.account);
  const from = findClusterMajor(layout);
  if (from === undefined)
    throw new EmbeddedServerError(`${layout.dataDir} has no database yet; there is nothing to do`);
  if (from === to) return { from, to, result: undefined, previous: undefined };
  const old = findOldBinaries(options.oldBin, from, layout);
  // Beside the cluster, which may be on a disk of its own. No start clears it away: the next attempt goes on with it.
  const staging = `${layout.cluster}.upgrade`;
  const hasTarget = await isCompleteTarget(staging);
  const result = await withOldServer(layout, old, options.log, (source) =>
    options.move({
      source,
      hasTarget,
      openTarget: (isFresh, work) => withTarget(layout, staging, isFresh, options.log, work),
    }),
  );
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const previous = `${layout.cluster}.old-pg${from}-${time}`;
  await replaceCluster(layout, { from: join(staging, "postgres", "cluster"), to: layout.cluster, previous });
  await rm(staging, { recursive: true, force: true });
  return { from, to, result, previous };
}

function findOldBinaries(bin: string | undefined, major: string, { dataDir, account }: Layout): PgBinaries {
  if (bin === undefined) {
    throw new EmbeddedServerError(
      `${dataDir} was made by PostgreSQL ${major}: give the folder of its programs with --old-bin (Debian: "apt-get install postgresql-${major}", then /usr/lib/postgresql/${major}/bin)`,
    );
  }
  const postgres = join(resolve(bin), "postgres");
  const { stdout, error } = spawnSync(postgres, ["--version"], { ...account, cwd: "/", encoding: "utf8" });
  const [, version = "", found = ""] = /\(PostgreSQL\) ((\d+)\S*)/.exec(stdout ?? "") ?? [];
  if (error || found === "") {
    throw new EmbeddedServerError(`${postgres} does not run; give the folder of PostgreSQL ${major} with --old-bin`);
  }
  if (found !== major) {
    throw new EmbeddedServerError(`${postgres} is PostgreSQL ${found}, but the database was made by ${major}`);
  }
  return { postgres, initdb: join(resolve(bin), "initdb"), version, major };
}

/** Nothing but the move uses it, and nothing may change in it: neither rows nor the ids of transactions. */
async function withOldServer<T>(
  layout: Layout,
  binaries: PgBinaries,
  log: Logger,
  work: (source: EmbeddedConnection) => Promise<T>,
): Promise<T> {
  const settings = { default_transaction_read_only: "on", autovacuum: "off" };
  const transport = chooseTransport(layout, "auto");
  const { hold, postmaster } = await bootServer(layout, binaries, transport, log, { settings, walFolder: undefined });
  try {
    return await work(connectionTo(layout, postmaster));
  } finally {
    leaveLauncher(hold);
    await untilStopped(layout, postmaster, 30_000);
  }
}

/** Whether an earlier attempt left a cluster. Its server, which may still be stopping, has ended afterwards. */
async function isCompleteTarget(staging: string): Promise<boolean> {
  if (!existsSync(staging)) return false;
  const layout = prepareLayout(staging);
  const running = findPostmaster(layout);
  if (running && !(await untilStopped(layout, running, maxStopMs))) {
    throw new EmbeddedServerError(`the database in ${layout.cluster} is running (pid ${running.pid}); stop it first`);
  }
  return existsSync(join(layout.cluster, "global", "pg_control"));
}

/** Renamed before it is removed: a kill in between must not leave half a cluster that the next attempt takes for a whole one. */
async function discardTarget(staging: string): Promise<void> {
  const discarded = `${staging}.discarded`;
  const options = { recursive: true, force: true, maxRetries: 10 };
  await rm(discarded, options);
  if (!existsSync(staging)) return;
  await rename(staging, discarded);
  await rm(discarded, options);
}

async function withTarget<R>(
  layout: Layout,
  staging: string,
  isFresh: boolean,
  log: Logger,
  work: (target: EmbeddedConnection) => Promise<R>,
): Promise<R> {
  if (isFresh) await discardTarget(staging);
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  if (layout.account) lchownSync(staging, layout.account.uid, layout.account.gid);
  const server = await openEmbeddedServer({ dataDir: staging, log, purpose: "command" });
  try {
    return await work(server.connection);
  } finally {
    await server.release();
  }
}

/** Removes the clusters that upgrades have left, once the new one is in use. Answers their folders. */
export async function discardOldClusters(dataDir: string): Promise<string[]> {
  const { cluster } = prepareLayout(dataDir);
  const kept = readdirSync(dirname(cluster)).filter((name) => name.startsWith(`${basename(cluster)}.old-pg`));
  const folders = kept.map((name) => join(dirname(cluster), name));
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  return folders;
}
