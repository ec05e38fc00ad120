import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { choiceParam, dateTimeParam } from "../../http/query-params.ts";
import type { DeviceRow } from "../devices/device-store.ts";
import { type MessageRow, messageColumns, messageDirections, messageTables, messageTypes } from "./message-record.ts";

const filters = {
  direction: choiceParam("To the device (outbound) or from it (inbound).", messageDirections),
  message_type: choiceParam("Text or voice; a spoken text is voice.", messageTypes),
  ts_after: dateTimeParam("Messages of this time or later."),
  ts_before: dateTimeParam("Messages before this time."),
};

export const messageList = defineList({
  kind: "page",
  ordering: ["ts", "created_at"],
  defaultOrdering: "-ts",
  filters,
  searches: "text, sender_name",
});

export function listMessages(
  db: Db,
  device: DeviceRow,
  query: ListQuery<typeof filters>,
): Promise<ListPage<MessageRow>> {
  const { direction, message_type, ts_after, ts_before } = query.filters;
  const where: Sql[] = [
    sql`m.organization_id = ${device.organization_id} and m.device_id = ${device.id} and m.deleted_at is null`,
  ];
  if (direction) where.push(sql`m.direction = ${direction}`);
  if (message_type) where.push(sql`m.message_type = ${message_type}`);
  if (ts_after) where.push(sql`m.ts >= ${ts_after}`);
  if (ts_before) where.push(sql`m.ts < ${ts_before}`);
  return sqlPage<MessageRow>(db, query, {
    select: messageColumns,
    from: messageTables,
    where,
    search: sql`m.search`,
    ordering: { ts: { column: sql`m.ts` }, created_at: { column: sql`m.created_at` } },
    key: sql`m.id`,
  });
}
