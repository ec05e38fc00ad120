import type { Client } from "pg";
import type { Database, Db, Tx } from "../../db/database.ts";

/**
 * A process that holds devices has a lock of the database as long as it lives: when it dies, however it dies, the lock is
 * free at once. Commands that it wrote are then sent with an outcome that nobody knows, and get a full new wait.
 */
const lockSpace = 7130008;

export async function holdWriterLock(db: Database, nodeId: string): Promise<Client> {
  const client = await db.connect();
  await client.query("select pg_advisory_lock(hashtextextended($1, $2))", [nodeId, lockSpace]);
  return client;
}

/** Of these processes those that have died: nobody holds their lock. It is taken until the end of the transaction. */
export async function findDeadNodes(tx: Tx, nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (nodeIds.length === 0) return new Set();
  const dead = await tx.many<{ id: string }>`
    select id from unnest(${nodeIds}::text[]) as id where pg_try_advisory_xact_lock(hashtextextended(id, ${lockSpace}))`;
  return new Set(dead.map(({ id }) => id));
}

/** Looks at every writer of a command in progress. Returns how many commands got a new wait. */
export async function adoptOrphans(db: Database, now: Date): Promise<number> {
  const writers = await db.many<{ node_id: string }>`
    select distinct node_id from commands where status in ('sending', 'sent') and node_id is not null`;
  let adopted = 0;
  for (const { node_id } of writers) adopted += await adoptFrom(db, node_id, now);
  return adopted;
}

const adoptFrom = (db: Database, nodeId: string, now: Date): Promise<number> =>
  db.transaction(async (tx) => {
    if (!(await findDeadNodes(tx, [nodeId])).has(nodeId)) return 0;
    return tx.run`
      update commands set status = 'sent', is_write_broken = is_write_broken or status = 'sending',
        sent_at = coalesce(sent_at, ${now}), node_id = null, due_at = ${now}::timestamptz + ack_wait_seconds * interval '1 second'
      where status in ('sending', 'sent') and node_id = ${nodeId}`;
  });

/** At the start of a worker: what an earlier life of it had adopted waits again as well. */
export const renewAdopted = (db: Db, now: Date): Promise<number> =>
  db.run`
    update commands set due_at = ${now}::timestamptz + ack_wait_seconds * interval '1 second'
    where status in ('sending', 'sent') and node_id is null`;
