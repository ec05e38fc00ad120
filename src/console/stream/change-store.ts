import type { Db } from "../../db/database.ts";

/**
 * The log of changes that consoles receive. Numbers are given after the commit and under a lock, so whoever has seen a number has seen
 * all below it, and a number alone says where a reader goes on, in any process and after a restart.
 */
export interface LiveChange {
  seq: number;
  organization_id: string;
  device_id: string;
  object_id: string;
  kind: "event" | "event_acknowledged" | "message" | "command";
}

/** Rows older than this are deleted; a reader who was away longer must read everything again. */
const keptHours = 6;

export const numberChanges = async (db: Db): Promise<void> => {
  await db.run`select number_live_changes()`;
};

/** The highest number that has been given, deleted rows included. */
export async function findTop(db: Db): Promise<number> {
  const { top } = await db.one<{ top: number }>`
    select greatest((select max(seq) from live_changes), (select max(seq) from live_change_floors), 0) as top`;
  return top;
}

/** The first changes after the cursor, of these organizations. */
export const listChanges = (
  db: Db,
  organizationIds: readonly string[],
  { after, untilSeq, limit }: { after: number; untilSeq: number; limit: number },
): Promise<LiveChange[]> =>
  db.many<LiveChange>`
    select seq, organization_id, device_id, object_id, kind from live_changes
    where seq > ${after} and seq <= ${untilSeq} and organization_id = any(${organizationIds}::uuid[])
    order by seq limit ${limit}`;

/** The last changes before a position, oldest first: what readers who come back have missed. */
export async function listMissedChanges(
  db: Db,
  organizationId: string,
  { after, untilSeq, limit }: { after: number; untilSeq: number; limit: number },
): Promise<LiveChange[]> {
  const newestFirst = await db.many<LiveChange>`
    select seq, organization_id, device_id, object_id, kind from live_changes
    where seq > ${after} and seq <= ${untilSeq} and organization_id = ${organizationId}
    order by seq desc limit ${limit}`;
  return newestFirst.reverse();
}

/** All changes of an organization above this number are still there. */
export async function findFloor(db: Db, organizationId: string): Promise<number> {
  const row = await db.maybeOne<{ seq: number }>`
    select seq from live_change_floors where organization_id = ${organizationId}`;
  return row?.seq ?? 0;
}

/** Deletes what nobody will ask for any more, and records how far. Rows without a number get one first: they count too. */
export async function deleteOldChanges(db: Db): Promise<void> {
  await numberChanges(db);
  await db.run`
    with gone as (
      delete from live_changes where seq is not null and created_at < now() - make_interval(hours => ${keptHours})
      returning organization_id, seq
    )
    insert into live_change_floors as f (organization_id, seq)
    select organization_id, max(seq) from gone group by organization_id
    on conflict (organization_id) do update set seq = greatest(f.seq, excluded.seq)`;
}
