import type { Client } from "pg";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Database } from "./database.ts";

/** Shared by all services on a database; a migration of a database in use takes it alone. */
const serviceLock = 7_130_003;
const checkEveryMs = 5000;
const maxWaitMs = 5000;

/**
 * Says that a service works with the schema as it is, for as long as its connection lives. A connection that was lost is
 * opened again.
 */
export async function holdSchema(db: Database, log: Logger): Promise<() => Promise<void>> {
  let isOpen = false;
  let client: Client | undefined;
  const take = async (): Promise<void> => {
    if (isOpen) return;
    const next = await db.connect();
    next.once("end", () => {
      isOpen = false;
    });
    try {
      await next.query("select pg_advisory_lock_shared($1)", [serviceLock]);
    } catch (error) {
      // Every try opens a connection; one that did not get the lock must not stay.
      await next.end().catch(() => undefined);
      throw error;
    }
    client = next;
    isOpen = true;
  };
  await take();
  const stop = repeat("hold on the schema", checkEveryMs, log, take);
  return async () => {
    await stop();
    await client?.end();
  };
}

/** False: a service works with the schema as it is. A process that was killed is given a moment to disappear. */
export async function claimSchema(client: Client): Promise<boolean> {
  for (const giveUpAt = Date.now() + maxWaitMs; ; await new Promise((done) => setTimeout(done, 100))) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [serviceLock]);
    if (rows[0].taken) return true;
    if (Date.now() > giveUpAt) return false;
  }
}
