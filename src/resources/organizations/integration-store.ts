import type { Db, Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { newUuid } from "../../lib/ids.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import type { Actor } from "../../oauth/actor.ts";
import { hashSecret, newClientId, newClientSecret } from "../../oauth/client-secrets.ts";
import { announceIdentityChange } from "../../oauth/identity-changes.ts";
import { allScopes, type Scope } from "../../oauth/scopes.ts";
import type { WebhookEventType } from "../../outbox/webhook-event-types.ts";
import { type Changes, changesBetween, masked, recordAudit } from "../audit/audit-store.ts";
import { newWebhookSecret } from "./webhook-secret.ts";

export interface IntegrationSettings {
  name: string;
  scopes: readonly Scope[];
  webhookUrl: string | null;
  webhookEventTypes: readonly WebhookEventType[];
  webhookDeviceFilter: readonly string[];
  linkHosts: readonly string[];
  messagingEnabled: boolean;
}

/** What a new integration has where nothing is said. */
export const integrationDefaults: Omit<IntegrationSettings, "name"> = {
  scopes: allScopes,
  webhookUrl: null,
  webhookEventTypes: [],
  webhookDeviceFilter: [],
  linkHosts: [],
  messagingEnabled: true,
};

export interface Integration extends IntegrationSettings {
  id: string;
  organizationId: string;
  clientId: string;
  status: "active" | "disabled" | "deleted";
  webhookPaused: boolean;
  createdAt: Date;
  updatedAt: Date;
}

const integrationColumns: Sql = sql`id, organization_id as "organizationId", name, client_id as "clientId", status,
  scopes, webhook_url as "webhookUrl", webhook_event_types as "webhookEventTypes",
  webhook_device_filter as "webhookDeviceFilter", link_hosts as "linkHosts", messaging_enabled as "messagingEnabled",
  webhook_paused as "webhookPaused", created_at as "createdAt", updated_at as "updatedAt"`;

const auditView = (integration: Integration): Record<string, unknown> => ({
  name: integration.name,
  client_id: integration.clientId,
  status: integration.status,
  scopes: integration.scopes,
  webhook_url: integration.webhookUrl,
  webhook_event_types: integration.webhookEventTypes,
  webhook_device_filter: integration.webhookDeviceFilter,
  link_hosts: integration.linkHosts,
  messaging_enabled: integration.messagingEnabled,
  webhook_paused: integration.webhookPaused,
});

/**
 * Rows of the outbound log are pushed only if they were made while the webhook was set and the integration enabled; those that
 * were open when it ended are not taken up again. So each such time has a number, and rows carry it.
 */
async function setPushEpoch(
  tx: Tx,
  { id, organizationId, status, webhookUrl, webhookPaused }: Integration,
): Promise<void> {
  const isPushing = status === "active" && webhookUrl !== null;
  await tx.run`
    insert into outbound_lanes as l (integration_id, organization_id, push_epoch, push_epochs, is_paused)
    values (${id}, ${organizationId}, ${isPushing ? 1 : null}, 1, ${webhookPaused})
    on conflict (integration_id) do update set
      push_epoch = case when ${isPushing} then coalesce(l.push_epoch, l.push_epochs + 1) end,
      push_epochs = l.push_epochs + (${isPushing} and l.push_epoch is null)::int,
      is_paused = ${webhookPaused}
    where (l.push_epoch is not null) <> ${isPushing} or l.is_paused <> ${webhookPaused}`;
}

/**
 * A webhook whose address changed or that is paused is not yet known to fail, and one that is switched off fails no more. Where
 * a mail went out the row stays, so that the mail about the recovery follows.
 */
async function forgetTrouble(tx: Tx, { id, status, webhookUrl }: Integration, changes: Changes): Promise<void> {
  if (status !== "active" || webhookUrl === null) {
    await tx.run`delete from webhook_troubles where integration_id = ${id}`;
  } else if (changes.webhook_url || changes.webhook_paused) {
    await tx.run`delete from webhook_troubles where integration_id = ${id} and mailed_at is null`;
  }
}

/** Every change of an integration ends here, so that none is unaudited or unknown to the running processes. */
export async function recordIntegrationChange(
  tx: Tx,
  integration: Integration,
  action: "created" | "updated" | "deleted",
  changes: Changes,
  actor: Actor,
  now: Date,
): Promise<void> {
  await setPushEpoch(tx, integration);
  await recordAudit(tx, actor, now, {
    action,
    model: "integration",
    objectPk: integration.id,
    objectRepr: integration.name,
    changes,
  });
  await forgetTrouble(tx, integration, changes);
  await announceIdentityChange(tx);
}

export const listIntegrations = (db: Db, organizationId: string): Promise<Integration[]> =>
  db.many<Integration>`
    select ${integrationColumns} from integrations
    where organization_id = ${organizationId} and status <> 'deleted' order by created_at, id`;

/** The one door without an organization, for the operator, who names an integration by its id alone. */
export const findIntegrationForOperator = (
  db: Db,
  integrationId: string,
): Promise<(Integration & { organizationSlug: string }) | undefined> =>
  db.maybeOne`
    select ${integrationColumns},
      (select slug from organizations where organizations.id = integrations.organization_id) as "organizationSlug"
    from integrations where id = ${integrationId} and status <> 'deleted'`;

/** Hosts that links in mails of the integration may lead to. */
export async function findLinkHosts(db: Db, organizationId: string, integrationId: string): Promise<string[]> {
  const row = await db.maybeOne<{ link_hosts: string[] }>`
    select link_hosts from integrations where organization_id = ${organizationId} and id = ${integrationId}`;
  return row?.link_hosts ?? [];
}

export const lockIntegration = (
  tx: Tx,
  organizationId: string,
  integrationId: string,
): Promise<(Integration & { webhookSecret: string | null }) | undefined> =>
  tx.maybeOne`
    select ${integrationColumns}, webhook_secret as "webhookSecret" from integrations
    where organization_id = ${organizationId} and id = ${integrationId} and status <> 'deleted' for update`;

export interface CreatedIntegration {
  integration: Integration;
  /** Known only now: the database keeps its hash. */
  clientSecret: string;
  webhookSecret: string | null;
}

interface IntegrationTable extends ReturnType<typeof columnsFor> {
  id: string;
  organization_id: string;
  client_id: string;
  status: Integration["status"];
  webhook_secret: string | null;
  created_at: Date;
  updated_at: Date;
}
const integrations = table<IntegrationTable>("integrations");

/** The columns that every write of the settings sets. */
const columnsFor = (settings: IntegrationSettings) => ({
  name: settings.name,
  scopes: settings.scopes,
  webhook_url: settings.webhookUrl,
  webhook_event_types: settings.webhookEventTypes,
  webhook_device_filter: settings.webhookDeviceFilter,
  link_hosts: settings.linkHosts,
  messaging_enabled: settings.messagingEnabled,
});

export async function createIntegration(
  tx: Tx,
  organizationId: string,
  settings: IntegrationSettings,
  actor: Actor,
  now: Date,
  box: SecretBox,
): Promise<CreatedIntegration> {
  const clientSecret = newClientSecret();
  const webhookSecret = settings.webhookUrl === null ? null : newWebhookSecret();
  const row = integrations.insert({
    ...columnsFor(settings),
    id: newUuid(),
    organization_id: organizationId,
    client_id: newClientId(),
    status: "active",
    webhook_secret: webhookSecret && box.seal(webhookSecret),
    created_at: now,
    updated_at: now,
  });
  const integration = await tx.one<Integration>(sql`${row} returning ${integrationColumns}`);
  await tx.run`
    insert into integration_secrets (integration_id, secret_hash, created_at)
    values (${integration.id}, ${hashSecret(clientSecret)}, ${now})`;
  const secrets = { client_secret: masked, ...(webhookSecret === null ? {} : { webhook_secret: masked }) };
  const changes = changesBetween(null, { ...auditView(integration), ...secrets });
  await recordIntegrationChange(tx, integration, "created", changes, actor, now);
  return { integration, clientSecret, webhookSecret };
}

/** Changes what is given. The webhook secret is in the answer only if this call made it. Undefined: no such integration. */
export async function updateIntegration(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  changed: Partial<IntegrationSettings>,
  actor: Actor,
  now: Date,
  box: SecretBox,
): Promise<{ integration: Integration; webhookSecret: string | null } | undefined> {
  const before = await lockIntegration(tx, organizationId, integrationId);
  if (!before) return undefined;
  const wanted = { ...before, ...changed };
  const needsSecret = wanted.webhookUrl !== null && before.webhookSecret === null;
  const webhookSecret = needsSecret ? newWebhookSecret() : null;
  const changes = changesBetween(auditView(before), auditView(wanted));
  if (webhookSecret !== null) changes.webhook_secret = [null, masked];
  if (Object.keys(changes).length === 0) return { integration: before, webhookSecret };
  const sealed = webhookSecret === null ? before.webhookSecret : box.seal(webhookSecret);
  const columns = { ...columnsFor(wanted), webhook_secret: sealed, updated_at: now };
  const integration = await tx.one<Integration>(sql`
    update integrations set ${integrations.assign(columns)}
    where organization_id = ${organizationId} and id = ${integrationId}
    returning ${integrationColumns}`);
  await recordIntegrationChange(tx, integration, "updated", changes, actor, now);
  return { integration, webhookSecret };
}

/**
 * Disables, enables or deletes. Tokens end with the first two for good: enabling does not bring them back
 * (decisions 26, 18.1). Undefined: no such integration.
 */
export async function setIntegrationStatus(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  status: Integration["status"],
  actor: Actor,
  now: Date,
): Promise<Integration | undefined> {
  const before = await lockIntegration(tx, organizationId, integrationId);
  if (!before) return undefined;
  if (status !== "active") {
    await tx.run`
      delete from access_tokens where organization_id = ${organizationId} and integration_id = ${integrationId}`;
  }
  if (before.status === status) return before;
  const integration = await tx.one<Integration>`
    update integrations set status = ${status}, deleted_at = ${status === "deleted" ? now : null}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${integrationId}
    returning ${integrationColumns}`;
  const isDeleted = status === "deleted";
  const changes = changesBetween(auditView(before), isDeleted ? null : auditView(integration));
  await recordIntegrationChange(tx, integration, isDeleted ? "deleted" : "updated", changes, actor, now);
  return integration;
}

/** While a webhook is paused its rows wait, in their order, also those that are made meanwhile. Undefined: no such integration. */
export async function setWebhookPaused(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  webhookPaused: boolean,
  actor: Actor,
  now: Date,
): Promise<Integration | undefined> {
  const before = await lockIntegration(tx, organizationId, integrationId);
  if (!before || before.webhookPaused === webhookPaused) return before;
  const integration = await tx.one<Integration>`
    update integrations set webhook_paused = ${webhookPaused}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${integrationId}
    returning ${integrationColumns}`;
  const changes = changesBetween(auditView(before), auditView(integration));
  await recordIntegrationChange(tx, integration, "updated", changes, actor, now);
  return integration;
}

/** Undefined: the organization has no such integration. */
export const findIntegration = (
  db: Db,
  organizationId: string,
  integrationId: string,
): Promise<Integration | undefined> =>
  db.maybeOne<Integration>`
    select ${integrationColumns} from integrations
    where organization_id = ${organizationId} and id = ${integrationId} and status <> 'deleted'`;
