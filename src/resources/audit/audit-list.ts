import type { Db } from "../../db/database.ts";
import { allOf, type Sql, sql } from "../../db/sql.ts";
import { type ListPage, type PageSource, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { choiceParam, dateTimeParam, integerParam, textParam, uuidParam } from "../../http/query-params.ts";
import { containsPattern } from "../../lib/search-text.ts";
import { auditModels } from "./audit-models.ts";

export interface AuditRow {
  id: number;
  action: number;
  actor_type: "partners" | "users" | "system";
  actor_user: { id: string; email: string; full_name: string } | null;
  integration_id: string | null;
  integration_name: string | null;
  integration_deleted: boolean;
  content_type: number;
  object_pk: string;
  object_repr: string;
  timestamp: Date;
  correlation_id: string | null;
  remote_addr: string | null;
  changes_summary: string;
  changes: Record<string, [unknown, unknown]>;
  additional_data: Record<string, unknown>;
}

export const auditList = defineList({
  kind: "page",
  ordering: ["timestamp", "id", "action"],
  defaultOrdering: "-timestamp",
  searches: "object_repr",
  filters: {
    action: integerParam("0 created, 1 updated, 2 deleted.", { low: 0, high: 2 }),
    actor: uuidParam("The person who wrote."),
    actor_partner_integration: uuidParam("The integration that wrote."),
    actor_type: choiceParam("The kind of writer.", ["partners", "system", "users"]),
    content_type: integerParam("The number of the kind of object."),
    model_name: textParam("The name of the kind of object; an exact, case-insensitive match."),
    timestamp_after: dateTimeParam("At or after this time."),
    timestamp_before: dateTimeParam("Before this time."),
  },
});

type AuditQuery = ListQuery<(typeof auditList)["filters"]>;

const columns = sql`a.id, a.action, a.actor_type, a.actor_user, a.integration_id, a.integration_name,
  coalesce(i.status = 'deleted', a.integration_id is not null) as integration_deleted, a.content_type, a.object_pk,
  a.object_repr, a.timestamp, a.correlation_id, a.remote_addr, a.changes_summary`;
const from = sql`audit_log a left join integrations i on i.id = a.integration_id and i.organization_id = a.organization_id`;

function conditions(organizationId: string, { filters }: AuditQuery): Sql[] {
  const where = [sql`a.organization_id = ${organizationId}`];
  if (filters.action !== undefined) where.push(sql`a.action = ${filters.action}`);
  if (filters.actor !== undefined) where.push(sql`a.actor_user_id = ${filters.actor}`);
  if (filters.actor_partner_integration !== undefined) {
    where.push(sql`a.integration_id = ${filters.actor_partner_integration}`);
  }
  if (filters.actor_type !== undefined) where.push(sql`a.actor_type = ${filters.actor_type}`);
  if (filters.content_type !== undefined) where.push(sql`a.content_type = ${filters.content_type}::int`);
  if (filters.model_name !== undefined) where.push(sql`a.content_type = ${modelNumber(filters.model_name)}`);
  if (filters.timestamp_after !== undefined) where.push(sql`a.timestamp >= ${filters.timestamp_after}`);
  if (filters.timestamp_before !== undefined) where.push(sql`a.timestamp < ${filters.timestamp_before}`);
  return where;
}

/** A name that no kind of object has matches nothing, and no kind has the number 0. */
const modelNumber = (name: string): number =>
  Object.entries(auditModels).find(([model]) => model === name.toLowerCase())?.[1] ?? 0;

export function listAudit(db: Db, organizationId: string, query: AuditQuery): Promise<ListPage<AuditRow>> {
  const source: PageSource = {
    select: columns,
    from,
    where: conditions(organizationId, query),
    search: sql`a.search`,
    ordering: {
      timestamp: { column: sql`a.timestamp` },
      id: { column: sql`a.id` },
      action: { column: sql`a.action` },
    },
    key: sql`a.id`,
  };
  return sqlPage<AuditRow>(db, query, source);
}

const exportRows = 1000;

/**
 * The entries that the query means, the newest first, page by page and at most so many. Nothing of the database is held between
 * two pages, however slowly they are taken.
 */
export async function* readAudit(
  db: Db,
  organizationId: string,
  query: AuditQuery,
  maxRows: number,
): AsyncGenerator<AuditRow[]> {
  const where = conditions(organizationId, query);
  if (query.search !== undefined) where.push(sql`a.search like ${containsPattern(query.search)}`);
  let last: AuditRow | undefined;
  for (let left = maxRows; left > 0; ) {
    const older = last ? [sql`(a.timestamp, a.id) < (${last.timestamp}::timestamptz, ${last.id}::int8)`] : [];
    const rows = await db.many<AuditRow>(sql`
      select ${columns} from ${from} where ${allOf([...where, ...older])}
      order by a.timestamp desc, a.id desc limit ${Math.min(left, exportRows)}`);
    if (rows.length > 0) yield rows;
    if (rows.length < exportRows) return;
    left -= rows.length;
    last = rows.at(-1);
  }
}

export const findAudit = (db: Db, organizationId: string, id: number): Promise<AuditRow | undefined> =>
  db.maybeOne<AuditRow>(sql`
    select ${columns}, a.changes, a.additional_data from ${from}
    where a.organization_id = ${organizationId} and a.id = ${id}`);
