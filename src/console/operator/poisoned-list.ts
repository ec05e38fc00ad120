import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { imeiParam } from "../../http/query-params.ts";

/** A packet that was set aside, as the command line prints it. */
export interface PoisonedRecord {
  id: string;
  /** Null: the device was deleted for good. */
  uid: string | null;
  organization: string | null;
  protocol: string;
  received_at: Date;
  reason: string;
  frame_hex: string;
}

export const poisonedList = defineList({
  kind: "cursor",
  ordering: ["received_at"],
  defaultOrdering: "-received_at",
  searches: "nothing",
  filters: { uid: imeiParam("The IMEI of the device.") },
});

/** A frame may be an upload of sound: its beginning tells what it is. */
const maxFrameBytes = 4096;

export const listPoisonedPackets = (
  db: Db,
  query: ListQuery<(typeof poisonedList)["filters"]>,
): Promise<ListPage<PoisonedRecord>> => {
  const { uid } = query.filters;
  return sqlCursorPage<PoisonedRecord>(
    db,
    { ...query, search: undefined },
    {
      select: sql`p.id, d.uid, o.slug as organization, p.protocol, p.received_at, p.reason,
        encode(substr(p.frame, 1, ${maxFrameBytes}::int), 'hex') as frame_hex`,
      from: sql`poisoned_packets p
        left join devices d on d.id = p.device_id and d.organization_id = p.organization_id
        left join organizations o on o.id = p.organization_id`,
      where: [uid === undefined ? sql`true` : sql`d.uid = ${uid}`],
      search: sql`''`,
      ordering: { received_at: { column: sql`p.received_at` } },
      key: sql`p.id`,
      valueType: "timestamptz",
      keyType: "uuid",
      position: ({ received_at, id }) => ({ value: received_at.toISOString(), id }),
    },
  );
};
