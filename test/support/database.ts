import { randomBytes } from "node:crypto";
import pg from "pg";
import { citusNodes, cloneOnCitus, dropOnCitus } from "./citus.ts";

export const templateDatabase = "vigil_test_template";
export const testDatabasePrefix = "vigil_test_";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

function serverUrl(): string {
  const url = process.env.VIGIL_TEST_SERVER;
  if (!url) throw new Error("the test server is not running; start the tests with vitest");
  return url;
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A migrated database of its own, cloned from the template; or an empty one. */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `${testDatabasePrefix}${process.env.VIGIL_TEST_RUN}_${randomBytes(8).toString("hex")}`;
  const template = options.empty ? "template0" : templateDatabase;
  const isDistributed = !options.empty && citusNodes().length > 0;
  // Cloning fails while anyone is connected to the template, which another worker may be for a moment.
  for (let attempt = 1; ; attempt++) {
    try {
      if (isDistributed) await cloneOnCitus(template, name);
      // Without a disk to wait for, copying files takes half the time of writing pages to the log.
      else await asAdmin(`create database ${name} template ${template} strategy file_copy`);
      break;
    } catch (error) {
      if (isDistributed) await dropOnCitus(name);
      if (attempt >= 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  const drop = (): Promise<void> =>
    isDistributed ? dropOnCitus(name) : asAdmin(`drop database if exists ${name} with (force)`);
  return { url: url.href, drop };
}

/** Empties all tables but those that have rows now, in one go and without regard to what refers to what. */
export async function makeWipe(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const isEmpty = async (name: string) => (await client.query(`select from ${name} limit 1`)).rowCount === 0;
  const names: string[] = [];
  for (const { name } of rows) if (await isEmpty(name)) names.push(name);
  const deletes = names.map((name) => `delete from ${name};`).join("\n");
  return async () => {
    await client.query(`begin; set local session_replication_role = replica; ${deletes} commit;`);
  };
}
