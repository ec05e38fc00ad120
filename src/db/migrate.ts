import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import type { Clock } from "../lib/clock.ts";
import type { Database } from "./database.ts";
import { claimSchema } from "./schema-hold.ts";

const migrationsFolder = join(import.meta.dirname, "../../migrations");
const migrationLock = 7_130_001;
const oldestServerVersion = 150_000;

/** The schema cannot be brought to what this program needs; the message says what to do. */
export class MigrationError extends Error {}

export interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

export interface MigrationStatus {
  version: number;
  name: string;
  appliedAt: Date | null;
}

async function readMigrations(folder = migrationsFolder): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const match = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file);
      if (!match || Number(match[1]) !== index + 1) throw new MigrationError(`unexpected migration file ${file}`);
      const text = await readFile(join(folder, file), "utf8");
      return {
        version: Number(match[1]),
        name: match[2] as string,
        text,
        checksum: createHash("sha256").update(text).digest("hex"),
      };
    }),
  );
}

interface AppliedRow {
  version: number;
  name: string;
  checksum: string;
  applied_at: Date;
}

async function applied(client: Client): Promise<AppliedRow[]> {
  const { rows: found } = await client.query("select to_regclass('schema_migrations') as table");
  if (found[0].table === null) return [];
  const { rows } = await client.query<AppliedRow>("select * from schema_migrations order by version");
  return rows;
}

function checkHistory(done: readonly AppliedRow[], migrations: readonly Migration[]): void {
  for (const row of done) {
    const migration = migrations[row.version - 1];
    if (!migration) {
      throw new MigrationError(
        `the database is at schema ${done.length}, newer than this program (${migrations.length}): upgrade vigil`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(`migration ${row.version} (${row.name}) was changed after it had been applied`);
    }
  }
}

/** Applies what is missing, each migration in its own transaction. Processes that start together wait for one another. */
export async function migrate(
  db: Database,
  clock: Clock,
  onApply: (migration: Migration) => void = () => undefined,
  folder = migrationsFolder,
  /** Only up to this version, for a database whose rows come from an older one. */
  through = Number.POSITIVE_INFINITY,
): Promise<number> {
  const migrations = await readMigrations(folder);
  const client = await db.connect();
  try {
    await requireServerVersion(client);
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    await client.query(`create table if not exists schema_migrations (
      version int primary key, name text not null, checksum text not null, applied_at timestamptz not null)`);
    const done = await applied(client);
    checkHistory(done, migrations);
    const missing = migrations.slice(done.length).filter(({ version }) => version <= through);
    // An empty database has no users.
    if (done.length > 0 && missing.length > 0 && !(await claimSchema(client))) {
      throw new MigrationError(
        "a Vigil of an older version is running on this database: stop all its processes first, then start the new ones",
      );
    }
    for (const migration of missing) {
      onApply(migration);
      await client.query("begin");
      try {
        await client.query(migration.text);
        await client.query("insert into schema_migrations values ($1, $2, $3, $4)", [
          migration.version,
          migration.name,
          migration.checksum,
          clock.now(),
        ]);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback").catch(() => undefined);
        const reason = error instanceof Error ? error.message : String(error);
        throw new MigrationError(`migration ${migration.version} (${migration.name}) failed: ${reason}`, {
          cause: error,
        });
      }
    }
    return missing.length;
  } finally {
    await client.end();
  }
}

export async function migrationStatus(db: Database, folder = migrationsFolder): Promise<MigrationStatus[]> {
  const migrations = await readMigrations(folder);
  const client = await db.connect();
  try {
    const done = await applied(client);
    return migrations.map(({ version, name }) => ({
      version,
      name,
      appliedAt: done.find((row) => row.version === version)?.applied_at ?? null,
    }));
  } finally {
    await client.end();
  }
}

/** The version of the schema, which must be one that this program knows. */
export async function readSchemaVersion(client: Client, folder = migrationsFolder): Promise<number> {
  const done = await applied(client);
  checkHistory(done, await readMigrations(folder));
  return done.length;
}

async function requireServerVersion(client: Client): Promise<void> {
  const { rows } = await client.query("show server_version_num");
  const version = Number(rows[0].server_version_num);
  if (version < oldestServerVersion) {
    throw new MigrationError(
      `PostgreSQL ${Math.floor(version / 10_000)} is too old: vigil needs PostgreSQL 15 or newer (DATABASE_URL)`,
    );
  }
}
