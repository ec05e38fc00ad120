import type { Database, Db } from "../db/database.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";

const key = "last_backup";

/** Noted in the database itself, so that every process of it can say how old the last backup is. */
export interface LastBackup {
  /** The state of the database that the backup holds. */
  at: Date;
  file: string;
}

export async function noteBackup(db: Db, { at, file }: LastBackup, now: Date): Promise<void> {
  const value = JSON.stringify({ at: at.toISOString(), file });
  await db.run`
    insert into settings (key, value, updated_at) values (${key}, ${value}, ${now})
    on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`;
}

export async function findLastBackup(db: Db): Promise<LastBackup | undefined> {
  const row = await db.maybeOne<{ value: { at: string; file: string } }>`
    select value from settings where key = ${key}`;
  return row && { at: new Date(row.value.at), file: row.value.file };
}

export function observeLastBackup(db: Database, metrics: Metrics, log: Logger, everyMs: number): () => Promise<void> {
  let seconds: number | undefined;
  metrics.gauge("vigil_last_backup_timestamp_seconds", "When the last backup by `vigil backup` began.", () =>
    seconds === undefined ? [] : [[{}, seconds]],
  );
  return repeat("age of the last backup", everyMs, log, async () => {
    const last = await findLastBackup(db);
    seconds = last && Math.floor(last.at.getTime() / 1000);
  });
}
