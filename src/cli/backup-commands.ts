import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { verifyBackup } from "../backup/archive-reader.ts";
import { type Source, writeArchive } from "../backup/archive-writer.ts";
import { readBaseBackup } from "../backup/base-backup.ts";
import { DamagedBackup, type Manifest, manifestFormat } from "../backup/manifest.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { migrationStatus } from "../db/migrate.ts";
import { findWalArchive } from "../embedded/embedded-archive.ts";
import { prepareLayout } from "../embedded/embedded-layout.ts";
import { fingerprintOf } from "../lib/secret-box.ts";
import { hasEmbeddedDatabase } from "../roles/doctor-checks.ts";
import { noteBackup } from "../roles/last-backup.ts";
import { fingerprintKey, readSecretKey, secretKeyFile } from "../roles/secret-key.ts";
import { noteWalNeeds } from "../roles/wal-archive.ts";
import { type Command, type CommandContext, CommandError } from "./command.ts";
import { withBareDatabase } from "./command-database.ts";
import { record } from "./output.ts";
import { programVersion } from "./program-version.ts";
import { makeProgress, showBytes } from "./progress.ts";

export function requireEmbedded({ config }: CommandContext): void {
  if (config.databaseUrl === undefined) return;
  throw new CommandError(
    "DATABASE_URL names an external server: back it up and restore it with its own tools, see docs/operators/backup.md",
  );
}

/** What a backup holds, without the list of its files. */
export function describeBackup(file: string, { files, ...facts }: Manifest) {
  return { file, bytes: statSync(file).size, ...facts, files: files.length };
}

const shown = ({ bytes, total_bytes, ...fields }: ReturnType<typeof describeBackup>): string =>
  record({ ...fields, bytes: showBytes(bytes), total_bytes: showBytes(total_bytes) });

/** Reads all of it. A file that is missing or damaged is a failure with a sentence. */
export async function checkedBackup(context: CommandContext, file: string): Promise<Manifest> {
  if (!existsSync(file)) throw new CommandError(`there is no file ${file}`);
  const { size } = statSync(file);
  const onProgress = makeProgress(context.note, "checked");
  try {
    return await verifyBackup(file, (done) => onProgress(done, size));
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error;
    throw new CommandError(`${file} is not a complete backup: ${error.message}; use another one`, { cause: error });
  }
}

/** The database names its key once a service has started on it. Before that the key file may be all there is. */
function fingerprintOfFile(config: Config): string | null {
  const { path } = secretKeyFile(config);
  return existsSync(path) ? fingerprintOf(readSecretKey(path)) : null;
}

/** The base backup with what else the manifest says. */
async function* sourcesOf(context: CommandContext, db: Database): AsyncGenerator<Source, Facts> {
  const { config, clock, note } = context;
  const started_at = clock.now().toISOString();
  const facts = await db.one<{ version: string; fingerprint: string | null }>`
    select current_setting('server_version') as version,
      (select value #>> '{}' from settings where key = ${fingerprintKey}) as fingerprint`;
  const migrations = await migrationStatus(db);
  const client = await db.connect();
  try {
    const layout = prepareLayout(config.dataDir);
    const archive = findWalArchive(layout);
    const onProgress = makeProgress(note, "copied");
    const base = yield* readBaseBackup({ client, cluster: layout.cluster, onProgress });
    return {
      format: manifestFormat,
      vigil_version: await programVersion(),
      schema_version: migrations.filter(({ appliedAt }) => appliedAt !== null).length,
      postgresql_version: facts.version,
      started_at,
      finished_at: clock.now().toISOString(),
      start_lsn: base.startLsn,
      stop_lsn: base.stopLsn,
      timeline: base.timeline,
      first_wal: base.firstWal,
      wal_archive: archive?.id ?? null,
      secret_key_fingerprint: facts.fingerprint ?? fingerprintOfFile(config),
    };
  } finally {
    await client.end();
  }
}

type Facts = Omit<Manifest, "files" | "total_bytes">;

async function makeBackup(context: CommandContext, file: string): Promise<number> {
  const { config, clock } = context;
  requireEmbedded(context);
  if (!hasEmbeddedDatabase(config)) {
    throw new CommandError(`${config.dataDir} has no database yet: choose the --data-dir of the service`);
  }
  if (existsSync(file)) throw new CommandError(`${file} exists already: choose another name`);
  const document = await withBareDatabase(context, async (db) => {
    const { schema } = await db.one<{ schema: string | null }>`select to_regclass('settings')::text as schema`;
    if (schema === null)
      throw new CommandError(`the database in ${config.dataDir} is empty: there is nothing to back up`);
    const manifest = await writeArchive(file, sourcesOf(context, db));
    await noteBackup(db, { at: new Date(manifest.started_at), file }, clock.now());
    await noteWalNeeds(db, manifest, clock.now());
    return describeBackup(file, manifest);
  });
  context.print(document, `Wrote the backup ${file}.\n\n${shown(document)}`);
  return 0;
}

const backup: Command = {
  path: ["backup"],
  summary: "Back up the embedded database while it runs, or check a backup",
  positionals: [{ name: "FILE", summary: "the backup; a name that does not exist yet" }],
  options: [{ name: "verify", summary: "make no backup: read FILE and check all of it" }],
  examples: [
    "vigil backup /backups/vigil-2026-11-18.tar.gz --data-dir /var/lib/vigil",
    "vigil backup --verify /backups/vigil-2026-11-18.tar.gz --json",
  ],
  next: [
    "Keep the secret key (secret.key of the data folder) in another place: a backup does not hold it.",
    "vigil restore FILE --data-dir DIR",
  ],
  run: async (context) => {
    const { args, print } = context;
    const file = resolve(args.positionals[0] ?? "");
    if (!args.has("verify")) return makeBackup(context, file);
    const document = { ok: true, ...describeBackup(file, await checkedBackup(context, file)) };
    print(document, `The backup is complete and undamaged.\n\n${shown(document)}`);
    return 0;
  },
};

export const backupCommands: readonly Command[] = [backup];
