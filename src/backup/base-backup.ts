/**
 * A base backup over PostgreSQL's low-level API: between pg_backup_start and pg_backup_stop the files are copied while the server
 * writes them, then the WAL of that time, which makes one consistent state of them. A temporary replication slot keeps
 * that WAL; it goes with the connection, however that ends.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { randomToken } from "../lib/ids.ts";
import type { Source } from "./archive-writer.ts";
import { controlFile, listCluster, openClusterFile, readControlFile, sizeOf } from "./cluster-files.ts";
import { clusterFolder } from "./manifest.ts";
import { walFileNames } from "./wal-names.ts";

export interface BaseBackup {
  startLsn: string;
  stopLsn: string;
  timeline: string;
  /** Recovery begins in this WAL file; earlier ones are of no use to the backup. */
  firstWal: string;
}

export interface BaseBackupOptions {
  /** A connection of its own, without a statement timeout. */
  client: Client;
  cluster: string;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Yields what belongs into the archive. Throws when the connection is lost: half a backup is none. */
export async function* readBaseBackup(options: BaseBackupOptions): AsyncGenerator<Source, BaseBackup> {
  const { client, cluster, onProgress } = options;
  if (readdirSync(join(cluster, "pg_tblspc")).length > 0) {
    throw new Error("the database uses tablespaces, which a backup does not hold");
  }
  const slot = `vigil_backup_${randomToken(9)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "_")}`;
  await client.query("select pg_create_physical_replication_slot($1, true, true)", [slot]);
  const { rows: started } = await client.query<{ lsn: string }>(
    "select pg_backup_start('vigil backup', fast => true)::text as lsn",
  );
  const startLsn = (started[0] as { lsn: string }).lsn;
  const entries = listCluster(cluster);
  const totalBytes = await totalOf(cluster, entries);
  let doneBytes = 0;
  const copy = async function* (path: string): AsyncGenerator<Source, boolean> {
    const file = await openClusterFile(join(cluster, path));
    if (!file) return false;
    yield { kind: "file", path: `${clusterFolder}/${path}`, ...file };
    doneBytes += file.size;
    onProgress(Math.min(doneBytes, totalBytes), totalBytes);
    return true;
  };
  yield { kind: "folder", path: clusterFolder };
  for (const { path, isFolder } of entries) {
    if (isFolder) yield { kind: "folder", path: `${clusterFolder}/${path}` };
    else yield* copy(path);
  }
  yield memoryFile(controlFile, await readControlFile(cluster));
  const { rows: stopped } = await client.query<{ lsn: string; labelfile: string; segment: string }>(
    `select lsn::text, labelfile, pg_size_bytes(current_setting('wal_segment_size'))::text as segment
     from pg_backup_stop(wait_for_archive => false)`,
  );
  const { lsn: stopLsn, labelfile, segment } = stopped[0] as (typeof stopped)[number];
  yield memoryFile("backup_label", Buffer.from(labelfile));
  const timeline = /\(file ([0-9A-F]{8})[0-9A-F]{16}\)/.exec(labelfile)?.[1] ?? "00000001";
  const names = walFileNames(timeline, startLsn, stopLsn, Number(segment));
  for (const name of names) {
    if (!(yield* copy(`pg_wal/${name}`))) throw new Error(`the WAL file ${name} is gone; run the backup again`);
  }
  // The slot is still there: none of these files can have been used again meanwhile.
  await client.query("select pg_drop_replication_slot($1)", [slot]);
  return { startLsn, stopLsn, timeline, firstWal: names[0] as string };
}

async function totalOf(cluster: string, entries: ReturnType<typeof listCluster>): Promise<number> {
  let total = 0;
  for (const { path, isFolder } of entries) if (!isFolder) total += await sizeOf(join(cluster, path));
  return total;
}

function memoryFile(path: string, bytes: Buffer): Source {
  const content = (async function* () {
    yield bytes;
  })();
  return { kind: "file", path: `${clusterFolder}/${path}`, size: bytes.length, content };
}
