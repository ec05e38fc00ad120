import type { Database, Db } from "../db/database.ts";
import { deleteKeyedRows } from "../db/keyed-rows.ts";
import { type Sql, sql } from "../db/sql.ts";

/** Rows of the log that one statement reads: it has no index by device, which every packet would pay for. */
const pageRows = 20_000;
/** Rows that one transaction removes. */
const batchRows = 2000;
const minId = "00000000-0000-0000-0000-000000000000";

/** By columns of outbound_events. */
export interface LogSearch {
  isWanted: Sql;
  /** Only rows of these types, which the log finds by an index. Undefined: of any type. */
  types?: readonly string[];
}

/** Deleted integrations too: their logs are kept until retention ends them. */
export const listIntegrationIds = async (db: Db, organizationId: string): Promise<string[]> => {
  const rows = await db.many<{ id: string }>`
    select id from integrations where organization_id = ${organizationId} order by id`;
  return rows.map(({ id }) => id);
};

/** Ids of the rows of one log that fit, page by page. */
export async function* readLogIds(
  db: Db,
  organizationId: string,
  integrationId: string,
  { isWanted, types }: LogSearch,
): AsyncGenerator<string[]> {
  for (const ofType of types?.map((type) => sql`type = ${type}`) ?? [sql`true`]) {
    for (let after = minId; ; ) {
      const page = await db.one<{ last: string | null; seen: number; ids: string[] | null }>(sql`
        select max(id::text) as last, count(*) as seen, array_agg(id order by id) filter (where is_wanted) as ids
        from (
          select id, ${isWanted} as is_wanted from outbound_events
          where integration_id = ${integrationId} and organization_id = ${organizationId} and ${ofType} and id > ${after}
          order by id limit ${pageRows}) page`);
      if (page.ids) yield page.ids;
      if (page.last === null || page.seen < pageRows) break;
      after = page.last;
    }
  }
}

/** Removes the rows that fit from all logs of an organization, with what was noted of their deliveries. Returns their number. */
export async function eraseFromLogs(
  db: Database,
  organizationId: string,
  search: LogSearch,
  onRows: (count: number) => void,
): Promise<number> {
  let total = 0;
  for (const integrationId of await listIntegrationIds(db, organizationId)) {
    for await (const ids of readLogIds(db, organizationId, integrationId, search)) {
      for (let start = 0; start < ids.length; start += batchRows) {
        const count = await removeEntries(db, organizationId, integrationId, ids.slice(start, start + batchRows));
        total += count;
        onRows(count);
      }
    }
  }
  return total;
}

function removeEntries(
  db: Database,
  organizationId: string,
  integrationId: string,
  ids: readonly string[],
): Promise<number> {
  const own = sql`organization_id = ${organizationId} and integration_id = ${integrationId}`;
  // Ids begin with their time, so the bounds leave out partitions. An attempt is later than its event.
  const [low, high] = [ids[0], ids.at(-1)];
  return db.transaction(async (tx) => {
    await tx.run(sql`delete from deliveries where ${own} and id = any(${ids}::uuid[])`);
    await tx.run(sql`delete from dead_letters where ${own} and id = any(${ids}::uuid[])`);
    await tx.run(sql`delete from delivery_attempts where ${own} and id >= ${low} and event_id = any(${ids}::uuid[])`);
    return tx.run(sql`
      delete from outbound_events
      where ${own} and id >= ${low} and id <= ${high} and id = any(${ids}::uuid[])`);
  });
}

/** By the device they name: those of rows that the log no longer has, and those that are noted after their row was erased. */
export async function eraseAttempts(db: Db, organizationId: string, deviceUid: string): Promise<number> {
  let total = 0;
  for (const integrationId of await listIntegrationIds(db, organizationId)) {
    const where = sql`
      integration_id = ${integrationId} and organization_id = ${organizationId} and device_uid = ${deviceUid}`;
    total += await deleteKeyedRows(db, { table: "delivery_attempts", key: [["id", "uuid"]], where }, batchRows);
  }
  return total;
}
