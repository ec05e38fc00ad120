import type { Db } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { type ListPage, sqlCursorPage } from "../http/list-results.ts";
import { defineList, type ListQuery } from "../http/lists.ts";
import { choiceParam, dateTimeParam, imeiParam, uuidParam } from "../http/query-params.ts";
import { uuidV7Floor } from "../lib/ids.ts";

/** An attempt to deliver an event, as section 27.5 names its fields. */
export interface Attempt {
  event_id: string;
  type: string | null;
  device_uid: string | null;
  attempt: number;
  status: "delivered" | "failed";
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  at: Date;
}

interface AttemptRow extends Omit<Attempt, "status"> {
  id: string;
}

export const attemptList = defineList({
  kind: "cursor",
  ordering: ["at"],
  defaultOrdering: "-at",
  searches: "nothing",
  filters: {
    event_id: uuidParam("Attempts of this event."),
    device_uid: imeiParam("Attempts of events of this device."),
    status: choiceParam("How they ended.", ["delivered", "failed"]),
    ts_after: dateTimeParam("Ended at or after."),
    ts_before: dateTimeParam("Ended before."),
  },
});

/** Ids of attempts are made when they end, in that order, so an id stands for the time. */
export function listAttempts(
  db: Db,
  organizationId: string,
  integrationId: string,
  query: ListQuery<typeof attemptList.filters>,
): Promise<ListPage<AttemptRow>> {
  const { event_id, device_uid, status, ts_after, ts_before } = query.filters;
  const where = [sql`a.integration_id = ${integrationId} and a.organization_id = ${organizationId}`];
  if (event_id !== undefined) where.push(sql`a.event_id = ${event_id}`);
  if (device_uid !== undefined) where.push(device_uid === null ? sql`false` : sql`a.device_uid = ${device_uid}`);
  if (status !== undefined) where.push(status === "failed" ? sql`a.error is not null` : sql`a.error is null`);
  if (ts_after !== undefined) where.push(sql`a.id >= ${uuidV7Floor(ts_after.getTime())}`);
  if (ts_before !== undefined) where.push(sql`a.id < ${uuidV7Floor(ts_before.getTime())}`);
  return sqlCursorPage<AttemptRow>(
    db,
    { ...query, search: undefined },
    {
      select: sql`a.id, a.event_id, a.type, a.device_uid, a.attempt, a.status_code, a.duration_ms, a.error,
      a.started_at as at`,
      from: sql`delivery_attempts a`,
      where,
      search: sql`''`,
      ordering: { at: { column: sql`a.id` } },
      key: sql`a.id`,
      valueType: "uuid",
      keyType: "uuid",
      position: ({ id }) => ({ value: id, id }),
    },
  );
}

export const toAttempt = ({ id: _, ...row }: AttemptRow): Attempt => ({
  event_id: row.event_id,
  type: row.type,
  device_uid: row.device_uid,
  attempt: row.attempt,
  status: row.error === null ? "delivered" : "failed",
  status_code: row.status_code,
  duration_ms: row.duration_ms,
  error: row.error,
  at: row.at,
});
