/** The folder that the WAL of one cluster is archived to: which files are in it, and which are needed. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { nextWalFile, walFileBefore } from "./wal-names.ts";

/** Of clusters that initdb makes unless it is told otherwise, as ours are. */
const walSegmentBytes = 16 * 1024 * 1024;

const ending = ".gz";
const isWalFile = (name: string): boolean => /^[0-9A-F]{24}$/.test(name);

/** What is archived, in order, without the endings: WAL files, and small ones about backups and timelines. */
export const listArchive = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^[0-9A-F]{8}[0-9A-F.a-z]*\.gz$/.test(name))
    .map((name) => name.slice(0, -ending.length))
    .sort();

/** The operator names the archive, or within it the folder of the one database. */
export function findArchiveFolder(given: string, id: string | null | undefined): string | undefined {
  if (id && existsSync(join(given, id))) return join(given, id);
  return existsSync(given) && listArchive(given).some(isWalFile) ? given : undefined;
}

export interface WalSequence {
  /** The last file that can be reached from the backup; undefined: not even the first one is there. */
  last: string | undefined;
  /** The first one that is missing although later ones are there. */
  missing: string | undefined;
}

/** What follows a backup without a gap. The backup itself holds the WAL up to its own end. */
export function followWal(names: readonly string[], timeline: string, stopLsn: string): WalSequence {
  const end = walFileBefore(timeline, stopLsn, walSegmentBytes);
  const later = names.filter((name) => isWalFile(name) && name.startsWith(timeline) && name > end);
  let last: string | undefined;
  let wanted = nextWalFile(end, walSegmentBytes);
  for (const name of later) {
    if (name !== wanted) return { last, missing: wanted };
    last = name;
    wanted = nextWalFile(name, walSegmentBytes);
  }
  return { last, missing: undefined };
}

/** Files that no backup from `firstWal` on needs. Files of timelines are small and stay. */
export const listUnneeded = (names: readonly string[], firstWal: string): string[] =>
  names.filter((name) => /^[0-9A-F]{24}(\.|$)/.test(name) && name.slice(8, 24) < firstWal.slice(8));

export const archivedFile = (folder: string, name: string): string => join(folder, `${name}${ending}`);
