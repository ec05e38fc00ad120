import { Client } from "pg";
import { EmbeddedServerError } from "./embedded-error.ts";
import type { EmbeddedConnection } from "./embedded-postmaster.ts";
import { pause } from "./embedded-process.ts";

/** Advisory lock of the one service on an embedded database; 0x7669676c is "vigl". */
const lockKey = [0x7669676c, 1] as const;

/** The proof of being the only service, held by an open connection: it ends with the process, however that ends. */
export interface Claim {
  isHeld(): boolean;
  release(): Promise<void>;
}

/** Waits two seconds at most: the server may need a moment to see that the connection of a killed service has ended. */
export async function claimService(connection: EmbeddedConnection, dataDir: string): Promise<Claim> {
  const client = makeClient(connection, `vigil service ${process.pid}`);
  let isOpen = true;
  client.on("error", () => {
    isOpen = false;
  });
  client.on("end", () => {
    isOpen = false;
  });
  await client.connect();
  try {
    for (const giveUpAt = Date.now() + 2000; !(await tryLock(client)); await pause(50)) {
      if (Date.now() > giveUpAt) throw await refusal(client, dataDir);
    }
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    isHeld: () => isOpen,
    release: () => client.end(),
  };
}

/** Proves that the server answers, and makes our database when the server is new. */
export async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  try {
    await runOnce(connection, "select 1");
  } catch (error) {
    // 3D000: there is no such database.
    if (!(error instanceof Error && "code" in error && error.code === "3D000")) throw error;
    await runOnce({ ...connection, database: "postgres" }, `create database ${connection.database}`);
  }
}

async function runOnce(connection: EmbeddedConnection, sql: string): Promise<void> {
  const client = makeClient(connection, "vigil");
  client.on("error", () => {}); // The query or the connect fails as well.
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function makeClient(connection: EmbeddedConnection, name: string): Client {
  return new Client({ ...connection, ssl: false, application_name: name, connectionTimeoutMillis: 10_000 });
}

async function tryLock(client: Client): Promise<boolean> {
  const sql = "select pg_try_advisory_lock($1, $2) as taken";
  const { rows } = await client.query<{ taken: boolean }>(sql, [...lockKey]);
  return rows[0]?.taken === true;
}

async function refusal(client: Client, dataDir: string): Promise<EmbeddedServerError> {
  const { rows } = await client.query<{ name: string }>(
    `select application_name as name from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and classid = $1::int::oid and objid = $2::int::oid`,
    [...lockKey],
  );
  const pid = rows[0]?.name.replace("vigil service ", "") ?? "unknown";
  return new EmbeddedServerError(
    `another vigil service (pid ${pid}) is already running on ${dataDir}; stop it first or choose another --data-dir`,
  );
}
