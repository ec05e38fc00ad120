import type { Db } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import type { Scope } from "../oauth/scopes.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";

/**
 * Lanes of webhook push: who serves which integration, and how far it has come. A worker serves all organizations, so most
 * statements name integrations, never organizations.
 */
export interface ClaimedLane {
  integrationId: string;
  organizationId: string;
  cursorMs: number;
  cursorSeq: number;
  retryAt: Date | null;
}

/** What of an integration matters for its pushes, as it is now. */
export interface PushSettings {
  integrationId: string;
  version: string;
  /** The number of the lane, which is part of its ids. */
  lane: number;
  /** The last id that was given. */
  lastMs: number;
  lastSeq: number;
  /** Null: nothing is pushed. */
  epoch: number | null;
  /** Rows wait until the pause ends. */
  isPaused: boolean;
  url: string | null;
  secret: string | null;
  previousSecret: string | null;
  previousUntil: Date | null;
  scopes: readonly Scope[];
  webhookEventTypes: readonly WebhookEventType[];
  webhookDeviceFilter: readonly string[];
  messagingEnabled: boolean;
}

export interface Lease {
  owner: string;
  now: Date;
  until: Date;
}

const claimed = sql`d.integration_id as "integrationId", d.organization_id as "organizationId", d.cursor_ms as "cursorMs",
  d.cursor_seq as "cursorSeq", d.retry_at as "retryAt"`;

/** A lease that ends later was left by a worker whose clock was ahead: those of living workers do not differ so much. */
const maxLeaseMs = 300_000;

const isFree = ({ now }: Lease): Sql =>
  sql`(d.lease_until is null or d.lease_until <= ${now} or d.lease_until > ${new Date(now.getTime() + maxLeaseMs)})`;

/** Takes the named lanes that nobody serves, and makes those that are new. */
export const claimLanes = (db: Db, integrationIds: readonly string[], lease: Lease): Promise<ClaimedLane[]> =>
  db.many<ClaimedLane>`
    insert into delivery_lanes as d (integration_id, organization_id, lease_owner, lease_until)
    select integration_id, organization_id, ${lease.owner}, ${lease.until} from outbound_lanes
    where integration_id = any(${integrationIds}::uuid[]) and push_epoch is not null and not is_paused
    order by integration_id
    on conflict (integration_id) do update set lease_owner = ${lease.owner}, lease_until = ${lease.until}
    where ${isFree(lease)}
    returning ${claimed}`;

/** Takes lanes that nobody serves and that have something to do: new rows, or retries that are due. */
export async function claimWaitingLanes(db: Db, limit: number, lease: Lease): Promise<ClaimedLane[]> {
  await db.run`
    insert into delivery_lanes (integration_id, organization_id)
    select integration_id, organization_id from outbound_lanes l
    where push_epoch is not null and not exists (select from delivery_lanes d where d.integration_id = l.integration_id)
    on conflict do nothing`;
  return db.many<ClaimedLane>`
    with waiting as materialized (
      select d.integration_id from delivery_lanes d join outbound_lanes l on l.integration_id = d.integration_id
      where l.push_epoch is not null and not l.is_paused and ${isFree(lease)}
        and ((l.last_ms, l.last_seq) > (d.cursor_ms, d.cursor_seq) or d.retry_at <= ${lease.now})
      limit ${limit} for update of d skip locked
    )
    update delivery_lanes d set lease_owner = ${lease.owner}, lease_until = ${lease.until}
    from waiting where d.integration_id = waiting.integration_id
    returning ${claimed}`;
}

/** The lanes that are still this worker's; the others were taken by somebody who thought it dead. */
export async function renewLanes(db: Db, integrationIds: readonly string[], lease: Lease): Promise<Set<string>> {
  const rows = await db.many<{ id: string }>`
    update delivery_lanes set lease_until = ${lease.until}
    where integration_id = any(${integrationIds}::uuid[]) and lease_owner = ${lease.owner}
    returning integration_id as id`;
  return new Set(rows.map(({ id }) => id));
}

export const releaseLanes = (db: Db, integrationIds: readonly string[], owner: string): Promise<number> =>
  db.run`
    update delivery_lanes set lease_owner = null, lease_until = null
    where integration_id = any(${integrationIds}::uuid[]) and lease_owner = ${owner}`;

/** Changes with every change of the integration or of its epoch. */
export const settingsVersion = (integrationId: string): Sql =>
  sql`(select i.revision || '-' || coalesce(l.push_epoch, 0) from integrations i
    join outbound_lanes l on l.integration_id = i.id where i.id = ${integrationId})`;

/** With the secrets opened, which deliveries are signed with. */
export async function readSettings(db: Db, integrationIds: readonly string[], box: SecretBox): Promise<PushSettings[]> {
  const rows = await db.many<PushSettings>`
    select i.id as "integrationId", i.revision || '-' || coalesce(l.push_epoch, 0) as version, l.lane, l.last_ms as "lastMs", l.last_seq as "lastSeq", case when i.status = 'active' then l.push_epoch end as epoch, l.is_paused as "isPaused",
      i.webhook_url as url, i.webhook_secret as secret, i.webhook_secret_previous as "previousSecret",
      i.webhook_secret_previous_until as "previousUntil", i.scopes, i.webhook_event_types as "webhookEventTypes",
      i.webhook_device_filter as "webhookDeviceFilter", i.messaging_enabled as "messagingEnabled"
    from integrations i join outbound_lanes l on l.integration_id = i.id
    where i.id = any(${integrationIds}::uuid[])`;
  const open = (sealed: string | null): string | null => sealed && box.open(sealed);
  return rows.map((row) => ({ ...row, secret: open(row.secret), previousSecret: open(row.previousSecret) }));
}
