import { rm } from "node:fs/promises";
import { archivedFile, listArchive, listUnneeded } from "../backup/wal-archive.ts";
import type { Database, Db } from "../db/database.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";

const key = "wal_needs";
/** A backup an hour for a month. */
const maxNotes = 750;
const dayMs = 86_400_000;

/** Which archived WAL a backup needs. Noted when the backup is complete: one that was killed keeps nothing and frees nothing. */
interface WalNeed {
  at: string;
  archive: string;
  first_wal: string;
}

export async function noteWalNeeds(
  db: Database,
  manifest: { started_at: string; first_wal?: string; wal_archive?: string | null },
  now: Date,
): Promise<void> {
  const { started_at: at, first_wal, wal_archive: archive } = manifest;
  if (!archive || first_wal === undefined) return;
  await db.transaction(async (tx) => {
    const notes = [...(await listWalNeeds(tx)), { at, archive, first_wal }].slice(-maxNotes);
    await tx.run`
      insert into settings (key, value, updated_at) values (${key}, ${JSON.stringify(notes)}, ${now})
      on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`;
  });
}

async function listWalNeeds(db: Db): Promise<WalNeed[]> {
  const row = await db.maybeOne<{ value: WalNeed[] }>`select value from settings where key = ${key} for update`;
  return row?.value ?? [];
}

/** How the server's archiving goes. */
export interface ArchiveState {
  /** Undefined: this server archives nothing. */
  folder: string | undefined;
  lastArchivedAt: Date | null;
  /** The file that could not be archived and is tried again; null: the last attempt succeeded. */
  failing: string | null;
}

export async function readArchiveState(db: Db): Promise<ArchiveState> {
  const row = await db.one<{ folder: string | null; archived: Date | null; failed: Date | null; name: string | null }>`
    select nullif(current_setting('vigil.archive', true), '') as folder, last_archived_time as archived,
      last_failed_time as failed, last_failed_wal as name
    from pg_stat_archiver`;
  const isFailing = row.failed !== null && (row.archived === null || row.failed > row.archived);
  return {
    folder: row.folder ?? undefined,
    lastArchivedAt: row.archived,
    failing: isFailing ? row.name : null,
  };
}

/**
 * Removes WAL that no point within the last days needs: all before the newest backup that is older than that. Without such a
 * backup everything stays.
 */
export async function pruneArchive(db: Database, folder: string, days: number, nowMs: number): Promise<string[]> {
  const id = folder.slice(folder.lastIndexOf("/") + 1);
  const needs = await db.transaction(listWalNeeds);
  const old = needs.filter(({ archive, at }) => archive === id && Date.parse(at) <= nowMs - days * dayMs);
  const kept = old.reduce<WalNeed | undefined>((best, one) => (best && best.at >= one.at ? best : one), undefined);
  if (!kept) return [];
  const unneeded = listUnneeded(listArchive(folder), kept.first_wal);
  for (const name of unneeded) await rm(archivedFile(folder, name), { force: true });
  return unneeded;
}

export interface ArchiveWatch {
  db: Database;
  metrics: Metrics;
  log: Logger;
  /** Where the settings want the WAL to go; undefined: nowhere. */
  wanted: string | undefined;
  /** 0: nothing is removed. */
  keepDays: number;
  nowMs(): number;
}

/** Says when archiving fails, because WAL then fills the disk of the database, and removes what nobody needs. */
export function watchWalArchive({ db, metrics, log, wanted, keepDays, nowMs }: ArchiveWatch, everyMs: number) {
  let state: ArchiveState | undefined;
  let nextPruneMs = 0;
  const whileOn = (value: (state: ArchiveState) => number | undefined) => (): [Record<string, never>, number][] => {
    const found = state?.folder === undefined ? undefined : value(state);
    return found === undefined ? [] : [[{}, found]];
  };
  metrics.gauge(
    "vigil_wal_archive_last_timestamp_seconds",
    "When the newest WAL file was archived.",
    whileOn(({ lastArchivedAt }) => lastArchivedAt?.getTime() && Math.floor(lastArchivedAt.getTime() / 1000)),
  );
  metrics.gauge(
    "vigil_wal_archive_failing",
    "1 while WAL cannot be archived and is kept on the disk of the database.",
    () => {
      if (!state || (state.folder === undefined && wanted === undefined)) return [];
      return [[{}, Number(state.folder === undefined || state.failing !== null)]];
    },
  );
  return repeat("WAL archive", everyMs, log, async () => {
    const before = state;
    state = await readArchiveState(db);
    const { folder, failing } = state;
    if (folder === undefined) {
      if (wanted === undefined || before) return;
      log.error(
        { folder: wanted },
        "the database was started before the setting: no WAL is archived until it restarts",
      );
      return;
    }
    if (failing !== null && !before?.failing) {
      log.error({ folder, file: failing }, "WAL cannot be archived and waits on the disk of the database: see its log");
    }
    if (failing === null && before?.failing) log.info({ folder }, "WAL is archived again");
    if (keepDays === 0 || nowMs() < nextPruneMs) return;
    nextPruneMs = nowMs() + 3_600_000;
    const removed = await pruneArchive(db, folder, keepDays, nowMs());
    if (removed.length > 0) log.info({ folder, files: removed.length }, "removed WAL that no backup needs");
  });
}
