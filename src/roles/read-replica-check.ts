import type { Config } from "../config.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { readReplicaState } from "../db/read-replica.ts";
import { makeLogger } from "../lib/logger.ts";
import type { Check } from "./doctor-checks.ts";

/** Whether the replica of the settings can be used. Nothing to say without one. */
export async function checkReadReplica(
  { databaseReadUrl: connectionString }: Pick<Config, "databaseReadUrl">,
  main: Database,
): Promise<Check[]> {
  if (connectionString === undefined) return [];
  const name = "read_replica";
  const replica = openDatabase({ connection: { connectionString }, log: makeLogger("silent"), poolSize: 1 });
  const advice = "history is read from the main database: check VIGIL_DATABASE_READ_URL";
  try {
    const { reason, lagBytes } = await readReplicaState(main, replica);
    if (reason !== undefined) return [{ name, ok: false, detail: `${reason}; ${advice}` }];
    return [{ name, ok: true, detail: `follows the main database, ${lagBytes} bytes of WAL away` }];
  } catch (error) {
    return [{ name, ok: false, detail: `${error instanceof Error ? error.message : String(error)}; ${advice}` }];
  } finally {
    await replica.close();
  }
}
