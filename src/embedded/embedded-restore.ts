import { existsSync, lchownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { randomToken } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { type Recovery, requireReadable } from "./embedded-archive.ts";
import { EmbeddedServerError, explainFileError } from "./embedded-error.ts";
import { type Account, type Layout, prepareLayout } from "./embedded-layout.ts";
import { withStartLock } from "./embedded-lock.ts";
import { type EmbeddedConnection, findPostmaster } from "./embedded-postmaster.ts";
import { finishReplacement, replaceCluster } from "./embedded-replacement.ts";
import { openEmbeddedServer } from "./embedded-server.ts";

export interface RestoreOptions<T> {
  dataDir: string;
  log: Logger;
  /** A cluster that is there is moved aside. */
  mayReplace: boolean;
  /** Writes the files of the cluster into an empty folder. */
  unpack(cluster: string): Promise<void>;
  /** Goes on with archived WAL. */
  recovery?: Recovery | undefined;
  /** Works on the new database before it takes its place. */
  settle(connection: EmbeddedConnection): Promise<T>;
}

export interface Restored<T> {
  result: T;
  /** Where the data that was there has been moved to. */
  previous: string | undefined;
}

/** Undefined: the folder has no database yet. Looks, and changes nothing. */
export function findClusterData(dataDir: string): string | undefined {
  const cluster = join(resolve(dataDir), "postgres", "cluster");
  return existsSync(cluster) && readdirSync(cluster).length > 0 ? cluster : undefined;
}

/**
 * Makes a cluster beside its place, starts it there, lets the caller settle it, stops it, and only then puts it into place. Until
 * that last step the data folder works as before, and what a kill leaves is removed by the next start.
 */
export async function restoreEmbedded<T>(options: RestoreOptions<T>): Promise<Restored<T>> {
  const { dataDir, log } = options;
  try {
    const layout = prepareLayout(dataDir);
    return await withStartLock(layout, log, () => restoreLocked(layout, options));
  } catch (error) {
    throw explainFileError(error, resolve(dataDir));
  }
}

async function restoreLocked<T>(layout: Layout, options: RestoreOptions<T>): Promise<Restored<T>> {
  const running = findPostmaster(layout);
  if (running) {
    throw new EmbeddedServerError(
      `the database in ${layout.cluster} is running (pid ${running.pid}); stop the service first`,
    );
  }
  await finishReplacement(layout);
  const hasData = findClusterData(layout.dataDir) !== undefined;
  if (hasData && !options.mayReplace) throw dataInTheWay(layout.dataDir);
  if (options.recovery) requireReadable(layout, options.recovery);
  // The name is one of those that a start clears away.
  const staging = `${layout.cluster}.new-restore-${process.pid}-${randomToken(6)}`;
  const cluster = join(staging, "postgres", "cluster");
  try {
    mkdirSync(cluster, { recursive: true, mode: 0o700 });
    await options.unpack(cluster);
    // Asks PostgreSQL for archived WAL and a new timeline; it goes when that is done.
    if (options.recovery) writeFileSync(join(cluster, "recovery.signal"), "", { mode: 0o600 });
    if (layout.account) giveTo(layout.account, staging);
    const result = await settleIn(staging, options);
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    const previous = `${layout.cluster}.old-${time}`;
    await replaceCluster(layout, { from: cluster, to: layout.cluster, previous });
    return { result, previous: hasData ? previous : undefined };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

export const dataInTheWay = (dataDir: string): EmbeddedServerError =>
  new EmbeddedServerError(
    `${dataDir} already has a database; choose an empty --data-dir, or give --force to move the database aside`,
  );

async function settleIn<T>(staging: string, { log, settle, recovery }: RestoreOptions<T>): Promise<T> {
  const server = await openEmbeddedServer({ dataDir: staging, log, purpose: "command", recovery });
  try {
    return await settle(server.connection);
  } finally {
    await server.release();
  }
}

function giveTo({ uid, gid }: Account, folder: string): void {
  lchownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    lchownSync(join(folder, name), uid, gid);
}
