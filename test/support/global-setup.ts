import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { templateDatabase } from "./database.ts";

/**
 * One real PostgreSQL for the whole run, with a migrated template that every test file clones in milliseconds.
 * VIGIL_TEST_DATABASE_URL names a server to use instead (its user must be allowed to create databases).
 */
export async function setup(): Promise<() => Promise<void>> {
  const log = makeLogger("silent");
  let url = process.env.VIGIL_TEST_DATABASE_URL;
  let close = async (): Promise<void> => undefined;
  if (!url) {
    const dataDir = await mkdtemp(join(tmpdir(), "vigil-test-"));
    const server = await openEmbeddedServer({ dataDir, log, purpose: "command" });
    const { host, port, user, database } = server.connection;
    url = `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
    close = async () => {
      await server.release();
      await rm(dataDir, { recursive: true, force: true });
    };
  }
  process.env.VIGIL_TEST_SERVER = url;
  await makeTemplate(url);
  return close;
}

async function makeTemplate(url: string): Promise<void> {
  const log = makeLogger("silent");
  const admin = openDatabase({ connection: { connectionString: url }, log });
  const client = await admin.connect();
  await client.query(`drop database if exists ${templateDatabase}`);
  await client.query(`create database ${templateDatabase} template template0`);
  await client.end();
  await admin.close();
  const template = openDatabase({ connection: { connectionString: withDatabase(url, templateDatabase) }, log });
  await migrate(template, makeClock());
  await template.close();
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
