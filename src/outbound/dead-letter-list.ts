import type { Db } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../http/list-results.ts";
import { defineList, type ListQuery } from "../http/lists.ts";
import type { DeadLetter } from "./dead-letter-store.ts";

export const deadLetterList = defineList({
  kind: "cursor",
  ordering: ["occurred_at"],
  defaultOrdering: "-occurred_at",
  searches: "nothing",
  filters: {},
});

/** The newest first: ids follow the time in which the rows were made. Those that the log has dropped are not shown. */
export const listDeadLetters = (
  db: Db,
  organizationId: string,
  integrationId: string,
  query: ListQuery,
): Promise<ListPage<DeadLetter>> =>
  sqlCursorPage<DeadLetter>(
    db,
    { ...query, search: undefined },
    {
      select: sql`d.id, e.type, e.device_uid, e.occurred_at, d.attempts, d.last_error, d.parked_at`,
      // One look into the log for each: a join could be planned as a read of the whole log.
      from: sql`dead_letters d cross join lateral (
        select type, device_uid, occurred_at from outbound_events e
        where e.integration_id = d.integration_id and e.id = d.id limit 1) e`,
      where: [sql`d.organization_id = ${organizationId} and d.integration_id = ${integrationId}`],
      search: sql`''`,
      ordering: { occurred_at: { column: sql`d.id` } },
      key: sql`d.id`,
      valueType: "uuid",
      keyType: "uuid",
      position: ({ id }) => ({ value: id, id }),
    },
  );
