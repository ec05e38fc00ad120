import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { readDistribution } from "../db/distribution.ts";
import { migrate, migrationStatus } from "../db/migrate.ts";
import { maintainPartitions } from "../db/partitions.ts";
import type { Clock } from "../lib/clock.ts";
import { listRetention } from "../roles/history-retention.ts";
import { tablesOf } from "../roles/partitioned-tables.ts";
import { checkReadReplica } from "../roles/read-replica-check.ts";
import { resealSecrets } from "../roles/reseal.ts";
import { clockDifferenceMs, maxClockDifferenceMs } from "../roles/retention-guard.ts";
import { type Command, CommandError } from "./command.ts";
import { describeDatabaseUrl, withBareDatabase, withCurrentDatabase, withDatabase } from "./command-database.ts";
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
      const [replica] = await checkReadReplica(config, db);
      const { citus, workers, distributed } = await readDistribution(db);
      return {
        embedded: config.databaseUrl === undefined,
        location: config.databaseUrl === undefined ? config.dataDir : describeDatabaseUrl(config.databaseUrl),
        server_version: version,
        schema_version: done.length,
        current: done.length === migrations.length,
        ...(replica === undefined ? {} : { read_replica: replica.detail }),
        ...(citus === undefined ? {} : { citus_version: citus, citus_workers: workers, distributed }),
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

const retention: Command = {
  path: ["db", "retention"],
  summary: "Show how long each organization keeps its history",
  positionals: [],
  options: [
    { name: "apply", summary: "drop what has expired of the outbound log, also where it is more than two partitions" },
  ],
  examples: ["vigil db retention", "vigil db retention --json", "vigil db retention --apply"],
  next: ["vigil org set SLUG --retain locations=365d,telemetry=365d"],
  run: async (context) => {
    const { args, clock, config } = context;
    const open = args.has("apply") ? withDatabase : withCurrentDatabase;
    const { rows, dropped } = await open(context, async (db) => ({
      rows: await listRetention(db),
      dropped: args.has("apply") ? await dropExpired(db, config, clock) : [],
    }));
    for (const name of dropped) context.note(`vigil: dropped ${name}`);
    const document = rows.map(({ org, table: name, days }) => ({ org, table: name, days }));
    const lines = document.map((row) => [row.org, row.table, row.days === null ? "kept" : `${row.days} days`]);
    const empty = 'No organizations yet. "vigil org create --name NAME" creates one.';
    context.print(document, lines.length === 0 ? empty : table(["org", "table", "kept for"], lines));
    return 0;
  },
};

async function dropExpired(db: Database, config: Config, clock: Clock): Promise<string[]> {
  if (Math.abs(await clockDifferenceMs(db, clock)) > maxClockDifferenceMs) {
    throw new CommandError(
      "the clock differs from that of the database by more than an hour: set both clocks (NTP) first",
    );
  }
  return (await maintainPartitions(db, tablesOf(config), clock.nowMs())).dropped;
}

export const dbCommands: readonly Command[] = [migrateCommand, status, retention, reseal];
