import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { choicesParam, dateTimeParam, textsParam } from "../../http/query-params.ts";
import { commandStatuses, commandTables, type VisibleCommandRow, visibleColumns } from "./command-record.ts";

export const commandList = defineList({
  kind: "cursor",
  ordering: ["created_at"],
  defaultOrdering: "-created_at",
  searches: "command_type",
  filters: {
    command_type: textsParam("The type."),
    created_after: dateTimeParam("Created at or after this time."),
    created_before: dateTimeParam("Created before this time."),
    status: choicesParam("The status; `pending,sending,sent` is the active queue.", commandStatuses),
  },
});

type CommandQuery = ListQuery<(typeof commandList)["filters"]>;

/** One value is compared plainly: only then can the planner take the order from the index. */
const isOneOf = (column: Sql, values: readonly string[]): Sql =>
  values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} = any(${values}::text[])`;

function conditions(organizationId: string, deviceId: string, { filters }: CommandQuery): Sql[] {
  const where = [
    sql`c.organization_id = ${organizationId} and c.device_id = ${deviceId} and d.id = ${deviceId} and c.deleted_at is null`,
  ];
  const { command_type, created_after, created_before, status } = filters;
  if (command_type !== undefined) where.push(isOneOf(sql`c.command_type`, command_type));
  if (created_after !== undefined) where.push(sql`c.created_at >= ${created_after}`);
  if (created_before !== undefined) where.push(sql`c.created_at < ${created_before}`);
  if (status !== undefined) where.push(isOneOf(sql`c.status`, status));
  return where;
}

export const listCommands = (
  db: Db,
  organizationId: string,
  deviceId: string,
  query: CommandQuery,
): Promise<ListPage<VisibleCommandRow>> =>
  sqlCursorPage<VisibleCommandRow>(db, query, {
    select: visibleColumns,
    from: commandTables,
    where: conditions(organizationId, deviceId, query),
    search: sql`c.command_type`,
    ordering: { created_at: { column: sql`c.created_at` } },
    key: sql`c.id`,
    valueType: "timestamptz",
    keyType: "uuid",
    position: (row) => ({ value: row.created_at.toISOString(), id: row.id }),
  });
