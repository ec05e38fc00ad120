import type { Database, Db } from "../db/database.ts";
import { rawSql, sql } from "../db/sql.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { type RetainedTable, type Retention, retainedTables } from "../resources/organizations/retention.ts";
import type { RetentionGuard } from "./retention-guard.ts";

const dayMs = 86_400_000;
const chunkRows = 5000;

export interface RetentionRow {
  organizationId: string;
  org: string;
  table: RetainedTable;
  /** Null: kept for ever. */
  days: number | null;
}

export async function listRetention(db: Db): Promise<RetentionRow[]> {
  const organizations = await db.many<{ id: string; slug: string; retention: Retention }>`
    select id, slug, retention from organizations order by slug`;
  return organizations.flatMap(({ id, slug, retention }) =>
    retainedTables.map((table) => ({ organizationId: id, org: slug, table, days: retention[table] ?? null })),
  );
}

/** Deletes what each organization no longer keeps, device by device and in pieces, so that nobody waits for a long delete. */
export async function deleteExpiredHistory(
  db: Database,
  clock: Clock,
  log: Logger,
  guard: RetentionGuard,
): Promise<number> {
  const limited = (await listRetention(db)).filter(({ days }) => days !== null);
  if (limited.length === 0 || !(await guard.isClockRight(db))) return 0;
  let total = 0;
  for (const { organizationId, org, table, days } of limited) {
    const before = new Date(clock.nowMs() - (days as number) * dayMs);
    const devices = await db.many<{ id: string }>`select id from devices where organization_id = ${organizationId}`;
    let count = 0;
    for (const { id } of devices) count += await deleteBefore(db, organizationId, id, table, before);
    if (count > 0) log.info({ org, table, days, rows: count }, "history deleted by age");
    total += count;
  }
  return total;
}

/** Their keys after the device. */
const keys: Readonly<Record<RetainedTable, string>> = {
  locations: "ts, id",
  telemetry: "ts, id",
  events: "id",
  messages: "id",
};

async function deleteBefore(
  db: Database,
  organizationId: string,
  deviceId: string,
  table: RetainedTable,
  before: Date,
): Promise<number> {
  const [name, key] = [rawSql(table), rawSql(keys[table])];
  for (let total = 0; ; ) {
    const count = await db.transaction(async (tx) => {
      const rows = await tx.many<{ id: string }>(sql`
        delete from ${name} where device_id = ${deviceId} and organization_id = ${organizationId} and (${key}) in (
          select ${key} from ${name}
          where device_id = ${deviceId} and organization_id = ${organizationId} and ts < ${before}
          order by ts limit ${chunkRows})
        returning id`);
      if (table === "messages" && rows.length > 0) {
        await tx.run`
          delete from message_audio
          where device_id = ${deviceId} and organization_id = ${organizationId} and message_id = any(${rows.map(({ id }) => id)}::uuid[])`;
      }
      return rows.length;
    });
    total += count;
    if (count < chunkRows) return total;
  }
}
