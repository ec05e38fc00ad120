import type { Db } from "../../db/database.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { type AssignmentRow, assignmentColumns, assignmentTables } from "./assignment-record.ts";

export const assignmentList = defineList({
  kind: "page",
  ordering: ["assigned_at", "role"],
  defaultOrdering: "-assigned_at",
  searches: "user email, device uid",
  filters: {},
});

/** People below ADMIN see the rows of devices that are assigned to them, and their own. */
function visibleTo(principal: Principal): Sql[] {
  const organizationId = principal.organization.id;
  const own = sql`a.organization_id = ${organizationId}`;
  if (principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN")) return [own];
  return [
    own,
    sql`(a.user_id = ${principal.id} or a.device_id in (
      select mine.device_id from assignments mine
      where mine.organization_id = ${organizationId} and mine.user_id = ${principal.id} and mine.is_active))`,
  ];
}

/** Every assignment has its device and its membership, so that what needs neither of them is read without the joins. */
export function listAssignments(
  db: Db,
  principal: Principal,
  query: ListQuery<(typeof assignmentList)["filters"]>,
): Promise<ListPage<AssignmentRow>> {
  const narrow = {
    from: sql`assignments a`,
    where: [...visibleTo(principal), sql`a.is_active`],
    ordering: { assigned_at: { column: sql`a.assigned_at` }, role: { column: sql`a.role` } },
    key: sql`a.id`,
  };
  return sqlPage<AssignmentRow>(db, query, {
    ...narrow,
    select: assignmentColumns,
    from: assignmentTables,
    search: sql`a.search`,
    narrow,
  });
}

/** Closed assignments too. */
export const findVisibleAssignment = (db: Db, principal: Principal, id: string): Promise<AssignmentRow | undefined> =>
  db.maybeOne<AssignmentRow>(sql`
    select ${assignmentColumns} from ${assignmentTables}
    where ${allOf(visibleTo(principal))} and a.id = ${id}`);
