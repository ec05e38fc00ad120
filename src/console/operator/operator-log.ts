import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Origin } from "../../oauth/actor.ts";

export const operatorActions = [
  "operator_added",
  "operator_removed",
  "sign_in",
  "sign_in_failed",
  "password_changed",
  "second_factor_enabled",
  "second_factor_disabled",
  "organization_created",
  "organization_changed",
  "redriven",
  "packets_retried",
] as const;
export type OperatorAction = (typeof operatorActions)[number];

export interface NewLogEntry {
  operator: { id: string; email: string };
  action: OperatorAction;
  /** The slug of the organization it is about. */
  organization?: string;
  object?: string;
  detail?: Record<string, unknown>;
}

export interface LogEntry {
  id: number;
  operator_email: string;
  action: OperatorAction;
  organization: string | null;
  object: string | null;
  detail: Record<string, unknown>;
  at: Date;
  remote_addr: string | null;
}

/** Written in the transaction of the change itself, so that neither exists without the other. */
export async function recordOperatorAction(
  db: Db,
  { operator, action, organization, object, detail = {} }: NewLogEntry,
  { correlationId, remoteAddr }: Origin,
  now: Date,
): Promise<void> {
  await db.run`
    insert into operator_log (operator_id, operator_email, action, organization, object, detail, at, correlation_id, remote_addr)
    values (${operator.id}, ${operator.email}, ${action}, ${organization ?? null}, ${object ?? null}, ${detail}, ${now},
      ${correlationId}, ${remoteAddr})`;
}

export const operatorLogList = defineList({
  kind: "page",
  ordering: ["id"],
  defaultOrdering: "-id",
  searches: "nothing",
  filters: {},
});

export const listOperatorLog = (db: Db, query: ListQuery): Promise<ListPage<LogEntry>> =>
  sqlPage<LogEntry>(
    db,
    { ...query, search: undefined },
    {
      select: sql`l.id, l.operator_email, l.action, l.organization, l.object, l.detail, l.at, l.remote_addr`,
      from: sql`operator_log l`,
      where: [sql`true`],
      search: sql`''`,
      ordering: { id: { column: sql`l.id` } },
      key: sql`l.id`,
    },
  );
