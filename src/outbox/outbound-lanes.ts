import { type Sql, sql } from "../db/sql.ts";
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

/** The lanes of the organizations, which it does not lock. */
export const lanesOf = (organizationIds: readonly string[]): Sql => sql`
  select l.integration_id as "integrationId", l.organization_id as "organizationId", i.scopes,
    i.webhook_event_types as "webhookEventTypes", i.messaging_enabled as "messagingEnabled",
    l.push_epoch is not null as "isPushed"
  from outbound_lanes l join integrations i on i.id = l.integration_id and i.organization_id = l.organization_id
  where l.organization_id = any(${organizationIds}::uuid[]) and i.status <> 'deleted'`;
