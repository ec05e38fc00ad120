import { type Database, openDatabase } from "../db/database.ts";
import { migrate, migrationStatus } from "../db/migrate.ts";
import { openEmbeddedServer } from "../embedded/embedded-server.ts";
import { type CommandContext, CommandError } from "./command.ts";
import { reasonOf } from "./failures.ts";

/** Where the external database is, without user and password. */
export function describeDatabaseUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const host = url.searchParams.get("host") ?? (url.host || "localhost");
  return `${host}${url.pathname}`;
}

/**
 * Opens the database of the settings for one command: the external one, or the embedded one, which is joined while the service
 * runs and started for the moment otherwise. Whatever happens, it is closed and released.
 */
export async function withBareDatabase<T>(context: CommandContext, work: (db: Database) => Promise<T>): Promise<T> {
  const { config, log } = context;
  if (config.databaseUrl !== undefined) return withExternal(config.databaseUrl, context, work);
  const server = await openEmbeddedServer({ dataDir: config.dataDir, log, purpose: "command" });
  try {
    return await closing(openDatabase({ connection: server.connection, log, poolSize: 2, laneSize: 1 }), work);
  } finally {
    await server.release();
  }
}

/** The same, with the schema brought up to date first. */
export const withDatabase = <T>(context: CommandContext, work: (db: Database) => Promise<T>): Promise<T> =>
  withBareDatabase(context, async (db) => {
    await migrate(db, context.clock);
    return work(db);
  });

/**
 * For commands that only read: the schema stays as it is, because a look must not change the database of a service that runs
 * an older version. A database that has no schema at all is new, and gets one.
 */
export const withCurrentDatabase = <T>(context: CommandContext, work: (db: Database) => Promise<T>): Promise<T> =>
  withBareDatabase(context, async (db) => {
    const migrations = await migrationStatus(db);
    const missing = migrations.filter(({ appliedAt }) => appliedAt === null).length;
    if (missing === migrations.length) await migrate(db, context.clock);
    else if (missing > 0) {
      throw new CommandError(`the schema is ${missing} migration(s) behind this version: run "vigil db migrate" first`);
    }
    return work(db);
  });

async function withExternal<T>(
  databaseUrl: string,
  { log }: CommandContext,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const connection = { connectionString: databaseUrl };
  return closing(openDatabase({ connection, log, poolSize: 2, laneSize: 1 }), async (db) => {
    try {
      await db.one`select 1 as reachable`;
    } catch (error) {
      throw new CommandError(
        `cannot use the database at ${describeDatabaseUrl(databaseUrl)} (${reasonOf(error)}): check DATABASE_URL`,
        { cause: error },
      );
    }
    return work(db);
  });
}

async function closing<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
