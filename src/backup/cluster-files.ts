import { type Dirent, readdirSync } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Folders whose content belongs to the running server; a restored one begins with them empty. WAL is copied apart. */
const emptyFolders = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);
const isLeftOut = (name: string): boolean =>
  /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*|backup_label.*|tablespace_map.*|vigil-archive\.json.*|t\d+_\d+.*|core.*)$/.test(
    name,
  );
/** It says where recovery begins, so it is copied after all else. */
export const controlFile = "global/pg_control";

export interface ClusterEntry {
  path: string;
  isFolder: boolean;
}

/** What a base backup copies of a cluster, folders before what is in them, without the WAL and the control file. */
export function listCluster(cluster: string, below = ""): ClusterEntry[] {
  return entriesOf(join(cluster, below)).flatMap((entry): ClusterEntry[] => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (isLeftOut(entry.name) || path === controlFile) return [];
    if (emptyFolders.has(path)) return [{ path, isFolder: true }];
    if (entry.isDirectory()) return [{ path, isFolder: true }, ...listCluster(cluster, path)];
    return entry.isFile() ? [{ path, isFolder: false }] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // A database or a folder of temporary files that was dropped just now.
    if (isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

const chunkBytes = 1 << 18;

/**
 * A file as it is while the server writes it: the size that it has now, filled up with zeros if it is cut meanwhile. WAL makes
 * good what is torn. Undefined: it was dropped.
 */
export async function openClusterFile(
  path: string,
): Promise<{ size: number; content: AsyncGenerator<Buffer> } | undefined> {
  const handle = await open(path, "r").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!handle) return undefined;
  const { size } = await handle.stat();
  return { size, content: exactBytes(handle, size) };
}

async function* exactBytes(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  try {
    for (let position = 0; position < size; ) {
      const wanted = Math.min(chunkBytes, size - position);
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(wanted), 0, wanted, position);
      const chunk = bytesRead === 0 ? Buffer.alloc(wanted) : buffer.subarray(0, bytesRead);
      position += chunk.length;
      yield chunk;
    }
  } finally {
    await handle.close();
  }
}

/** The control file is written in place, and no WAL makes it good: it is read until two looks agree. */
export async function readControlFile(cluster: string): Promise<Buffer> {
  const read = (): Promise<Buffer> => readFile(join(cluster, controlFile));
  for (let before = await read(); ; ) {
    await setTimeout(20);
    const now = await read();
    if (now.equals(before)) return now;
    before = now;
  }
}
