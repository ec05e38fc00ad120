import { rawSql, type Sql, sql } from "../db/sql.ts";
import type { Scope } from "../oauth/scopes.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/** One integration's part of the log, with what decides which events are written to it. */
export interface Lane {
  integrationId: string;
  organizationId: string;
  scopes: readonly Scope[];
  webhookEventTypes: readonly WebhookEventType[];
  messagingEnabled: boolean;
  /** Its rows are pushed to a webhook, as far as is known before the lane is locked. */
  isPushed: boolean;
}

/** A lane as it was read. */
export interface ReadLane extends Lane {
  /** Of all that decides which rows it gets, as a number of 64 bits. */
  hash: string;
}

const hashOfLane = `hashtextextended(concat_ws(' ', l.integration_id, i.scopes, i.webhook_event_types, i.messaging_enabled,
    l.push_epoch is not null), 0)`;

const lanesOfOrganizations = `outbound_lanes l
    join integrations i on i.id = l.integration_id and i.organization_id = l.organization_id and i.status <> 'deleted'`;

/** The lanes of the organizations, which it does not lock. */
export const lanesOf = (organizationIds: readonly string[]): Sql => sql`
  select l.integration_id as "integrationId", l.organization_id as "organizationId", i.scopes,
    i.webhook_event_types as "webhookEventTypes", i.messaging_enabled as "messagingEnabled",
    l.push_epoch is not null as "isPushed", ${rawSql(hashOfLane)}::text as hash
  from ${rawSql(lanesOfOrganizations)}
  where l.organization_id = any(${organizationIds}::uuid[])`;

/** One number for all lanes of the organizations in this parameter of a statement: it changes when what decides about their rows does. */
export const sumOfLanes = (parameter: string): string =>
  `(select coalesce(sum(${hashOfLane}), 0) from ${lanesOfOrganizations} where l.organization_id = any(${parameter}))`;

/** The same number, of lanes that were read. */
export const sumOf = (lanes: readonly ReadLane[]): bigint => lanes.reduce((sum, { hash }) => sum + BigInt(hash), 0n);
