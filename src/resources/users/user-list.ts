import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { booleanParam } from "../../http/query-params.ts";
import { type UserRow, userColumns, userTables } from "./user-record.ts";

export const userList = defineList({
  kind: "page",
  ordering: ["email", "first_name", "last_name", "role", "created_at"],
  defaultOrdering: "email",
  searches: "email, first_name, last_name, phone_number",
  filters: {
    is_active: booleanParam("True (the default) lists open memberships, false lists closed ones."),
  },
});

/** `onlyUserId` narrows the list to one person, for those who may see no one else. */
export function listUsers(
  db: Db,
  organizationId: string,
  query: ListQuery<(typeof userList)["filters"]>,
  onlyUserId: string | undefined,
): Promise<ListPage<UserRow>> {
  const isActive = query.filters.is_active ?? true;
  return sqlPage<UserRow>(db, query, {
    select: userColumns,
    from: userTables,
    where: [
      sql`m.organization_id = ${organizationId}`,
      // Spelled out instead of a parameter: only then can the planner take the order from the index.
      isActive ? sql`m.is_open` : sql`not m.is_open`,
      ...(onlyUserId === undefined ? [] : [sql`m.user_id = ${onlyUserId}`]),
    ],
    search: sql`m.search`,
    ordering: {
      email: { column: sql`m.email` },
      first_name: { column: sql`m.first_name` },
      last_name: { column: sql`m.last_name` },
      role: { column: sql`m.role` },
      created_at: { column: sql`m.created_at` },
    },
    key: sql`m.user_id`,
  });
}
