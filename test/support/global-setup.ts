import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { dropOnCitus, prepareCitusTemplate } from "./citus.ts";
import { templateDatabase, testDatabasePrefix } from "./database.ts";
import { embeddedUrl } from "./embedded-client.ts";

/** What a test writes need not survive a power cut; not waiting for the disk is much of the speed of the suite. */
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  // It would visit each of the databases, which live for seconds.
  autovacuum: "off",
  max_connections: 100 + 40 * availableParallelism(),
};

/**
 * One real PostgreSQL for the whole run, with a migrated template that every test file clones in milliseconds.
 * VIGIL_TEST_DATABASE_URL names a server to use instead (its user must be a superuser), VIGIL_TEST_CITUS_URL the coordinator of a
 * Citus cluster, on which every database of a test is distributed.
 */
export async function setup(): Promise<() => Promise<void>> {
  process.env.VIGIL_TEST_RUN = `${process.pid}_${Date.now()}`;
  const citus = process.env.VIGIL_TEST_CITUS_URL;
  if (citus) {
    process.env.VIGIL_TEST_SERVER = citus;
    await prepareCitusTemplate(citus, templateDatabase);
    return () => withAdmin(citus, (admin) => eachLeftover(admin, dropOnCitus));
  }
  const given = process.env.VIGIL_TEST_DATABASE_URL;
  if (given) {
    await prepare(given);
    const drop = (admin: Database, name: string) => statement(admin, `drop database if exists ${name} with (force)`);
    return () => withAdmin(given, (admin) => eachLeftover(admin, (name) => drop(admin, name)));
  }
  const dataDir = await mkdtemp(join(tmpdir(), "vigil-test-"));
  const server = await openEmbeddedServer({ dataDir, log: makeLogger("silent"), purpose: "command", settings });
  await prepare(embeddedUrl(server.connection));
  return async () => {
    await server.release();
    await rm(dataDir, { recursive: true, force: true });
  };
}

async function prepare(url: string): Promise<void> {
  process.env.VIGIL_TEST_SERVER = url;
  await withAdmin(url, async (admin) => {
    await statement(admin, `drop database if exists ${templateDatabase}`);
    await statement(admin, `create database ${templateDatabase} template template0`);
  });
  await withAdmin(withDatabase(url, templateDatabase), (template) => migrate(template, makeClock()));
}

/** The databases that workers share are dropped by nobody else. */
async function eachLeftover(admin: Database, drop: (name: string) => Promise<void>): Promise<void> {
  const prefix = `${testDatabasePrefix}${process.env.VIGIL_TEST_RUN}_`;
  const left = await admin.many<{ name: string }>`
    select datname as name from pg_database where starts_with(datname, ${prefix})`;
  for (const { name } of left) await drop(name);
}

/** Outside of a transaction, as statements about databases want it. */
async function statement(db: Database, text: string): Promise<void> {
  const client = await db.connect();
  await client.query(text);
  await client.end();
}

async function withAdmin(url: string, work: (db: Database) => Promise<unknown>): Promise<void> {
  const db = openDatabase({ connection: { connectionString: url }, log: makeLogger("silent") });
  try {
    await work(db);
  } finally {
    await db.close();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
