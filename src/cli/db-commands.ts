import { migrate, migrationStatus } from "../db/migrate.ts";
import { resealSecrets } from "../roles/reseal.ts";
import type { Command } from "./command.ts";
import { describeDatabaseUrl, withBareDatabase, withDatabase } from "./command-database.ts";
import { record, showValue, table } from "./output.ts";

const migrateCommand: Command = {
  path: ["db", "migrate"],
  summary: "Bring the schema of the database up to date",
  positionals: [],
  options: [],
  examples: ["vigil db migrate", "DATABASE_URL=postgres://vigil@db.example/vigil vigil db migrate --json"],
  next: ["vigil db status"],
  run: async (context) => {
    const document = await withBareDatabase(context, async (db) => {
      const applied = await migrate(db, context.clock);
      return { applied, schema_version: (await migrationStatus(db)).length };
    });
    const what = document.applied === 0 ? "Nothing to do" : `Applied ${document.applied} migration(s)`;
    context.print(document, `${what}: the schema is at version ${document.schema_version}.`);
    return 0;
  },
};

const status: Command = {
  path: ["db", "status"],
  summary: "Show the database and its migrations",
  positionals: [],
  options: [],
  examples: ["vigil db status", "vigil db status --json"],
  next: ["vigil db migrate"],
  run: async (context) => {
    const { config } = context;
    const document = await withBareDatabase(context, async (db) => {
      const { version } = await db.one<{ version: string }>`select current_setting('server_version') as version`;
      const migrations = await migrationStatus(db);
      const done = migrations.filter(({ appliedAt }) => appliedAt !== null);
      return {
        embedded: config.databaseUrl === undefined,
        location: config.databaseUrl === undefined ? config.dataDir : describeDatabaseUrl(config.databaseUrl),
        server_version: version,
        schema_version: done.length,
        current: done.length === migrations.length,
        migrations: migrations.map(({ version: number, name, appliedAt }) => ({
          version: number,
          name,
          applied_at: appliedAt,
        })),
      };
    });
    const { migrations, ...fields } = document;
    const rows = migrations.map((one) => [String(one.version), one.name, showValue(one.applied_at)]);
    context.print(document, `${record(fields)}\n\n${table(["version", "name", "applied_at"], rows)}`);
    return 0;
  },
};

const reseal: Command = {
  path: ["db", "reseal"],
  summary: "Seal the secrets in the database with another key",
  positionals: [],
  options: [
    { name: "key-file", value: "FILE", summary: "the new key; without it a new one replaces that of the data folder" },
  ],
  examples: ["vigil db reseal", "vigil db reseal --key-file /etc/vigil/new-secret.key --json"],
  next: ["Restart every process: a running one still holds the old key.", "vigil doctor"],
  run: async (context) => {
    const { args, config, clock } = context;
    const document = await withDatabase(context, (db) =>
      resealSecrets(db, config, args.value("key-file"), clock.now()),
    );
    const { resealed, key_file, fingerprint } = document;
    context.print(document, `Sealed ${resealed} secret(s) with the key ${fingerprint} in ${key_file}.`);
    return 0;
  },
};

export const dbCommands: readonly Command[] = [migrateCommand, status, reseal];
