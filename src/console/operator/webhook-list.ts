import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { booleanParam } from "../../http/query-params.ts";

const maxCounted = 10_000;

/** How far the events of an integration have come. */
export interface WebhookState {
  id: string;
  name: string;
  organization: string;
  status: "active" | "disabled";
  is_paused: boolean;
  /** Age of the oldest event that is neither delivered nor given up; 0: all are. */
  lag_seconds: number;
  /** Events that wait for another attempt; null: more than can be counted in a moment. */
  retrying: number | null;
  dead_letters: number | null;
  last_error: string | null;
}

interface WebhookRow extends Omit<WebhookState, "lag_seconds"> {
  retrying: number;
  dead_letters: number;
  oldest_ms: number | null;
}

export const webhookList = defineList({
  kind: "page",
  ordering: ["organization", "name"],
  defaultOrdering: "organization",
  searches: "nothing",
  filters: { failing: booleanParam("Only those with events that wait for another attempt or were given up.") },
});

/** The time in the first bits of an id, in milliseconds, and the first id of a time. */
const msOf = (id: ReturnType<typeof sql>) => sql`('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::int8`;
const firstAfter = sql`(lpad(to_hex(d.cursor_ms + 1), 12, '0') || repeat('0', 20))::uuid`;

/** Integrations with a webhook. */
export async function listWebhooks(
  db: Db,
  query: ListQuery<(typeof webhookList)["filters"]>,
  now: Date,
): Promise<ListPage<WebhookState>> {
  const isFailing = sql`(exists (select from dead_letters x where x.integration_id = i.id)
    or exists (select from deliveries x where x.integration_id = i.id and x.attempts > 0))`;
  const { failing } = query.filters;
  const page = await sqlPage<WebhookRow>(
    db,
    { ...query, search: undefined },
    {
      select: sql`i.id, i.name, o.slug as organization, i.status, i.webhook_paused as is_paused,
        (select count(*) from (select from deliveries x where x.integration_id = i.id limit ${maxCounted + 1}) b)
          as retrying,
        (select count(*) from (select from dead_letters x where x.integration_id = i.id limit ${maxCounted + 1}) b)
          as dead_letters,
        (select x.last_error from dead_letters x where x.integration_id = i.id order by x.id desc limit 1) as last_error,
        least(
          (select ${msOf(sql`x.id`)} from deliveries x where x.integration_id = i.id order by x.id limit 1),
          case when l.push_epoch is not null and (l.last_ms, l.last_seq) > (d.cursor_ms, d.cursor_seq) then
            (select ${msOf(sql`x.id`)} from outbound_events x where x.integration_id = i.id and x.id >= ${firstAfter}
             order by x.id limit 1) end
        ) as oldest_ms`,
      from: sql`integrations i join organizations o on o.id = i.organization_id
        join outbound_lanes l on l.integration_id = i.id left join delivery_lanes d on d.integration_id = i.id`,
      where: [
        sql`i.webhook_url is not null and i.status <> 'deleted'`,
        ...(failing === undefined ? [] : [failing ? isFailing : sql`not ${isFailing}`]),
      ],
      search: sql`''`,
      ordering: { organization: { column: sql`o.slug` }, name: { column: sql`i.name` } },
      key: sql`i.id`,
    },
  );
  const counted = (count: number): number | null => (count > maxCounted ? null : count);
  const rows = page.rows.map(({ oldest_ms, retrying, dead_letters, ...row }) => ({
    ...row,
    retrying: counted(retrying),
    dead_letters: counted(dead_letters),
    lag_seconds: oldest_ms === null ? 0 : Math.max(0, Math.round((now.getTime() - oldest_ms) / 1000)),
  }));
  return { ...page, rows };
}
