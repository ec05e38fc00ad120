import { createHash } from "node:crypto";

/** What a backup says of itself: the last file of the archive, followed by its checksum. */
export interface Manifest {
  format: number;
  vigil_version: string;
  schema_version: number;
  postgresql_version: string;
  started_at: string;
  finished_at: string;
  start_lsn: string;
  stop_lsn: string;
  /** Absent in backups of before WAL could be archived. */
  timeline?: string;
  /** The WAL file in which recovery begins. */
  first_wal?: string;
  /** The folder of the archive with the WAL after this backup; null: none was archived. */
  wal_archive?: string | null;
  /** Of the key that seals the secrets inside. The key itself is in no backup. */
  secret_key_fingerprint: string | null;
  total_bytes: number;
  files: readonly BackedUpFile[];
}

export interface BackedUpFile {
  path: string;
  size: number;
  sha256: string;
}

export const manifestFormat = 1;
export const manifestPath = "manifest.json";
export const checksumPath = "manifest.sha256";
/** The database is below this folder of the archive. */
export const clusterFolder = "cluster";

/** The file is no backup, is damaged, or is incomplete. The message says which, after the name of the file. */
export class DamagedBackup extends Error {}

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Names of the archive stay below the folder that they are unpacked into. */
export function isPlainPath(path: string): boolean {
  const isPlain = (part: string): boolean => /^[A-Za-z0-9_.-]+$/.test(part) && part !== "." && part !== "..";
  return path.split("/").every(isPlain);
}

export function parseManifest(bytes: Buffer, checksum: Buffer | undefined): Manifest {
  if (checksum?.toString("latin1").trim() !== sha256(bytes)) throw new DamagedBackup("its manifest is damaged");
  const manifest = JSON.parse(bytes.toString("utf8")) as Manifest;
  if (manifest.format !== manifestFormat) {
    throw new DamagedBackup(`it has format ${manifest.format}, which this version of Vigil does not know`);
  }
  return manifest;
}
