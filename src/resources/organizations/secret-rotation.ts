import type { Db, Tx } from "../../db/database.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import type { Actor } from "../../oauth/actor.ts";
import { hashSecret, newClientSecret, secretOverlapMs } from "../../oauth/client-secrets.ts";
import { masked } from "../audit/audit-store.ts";
import { type Integration, lockIntegration, recordIntegrationChange } from "./integration-store.ts";
import { newWebhookSecret } from "./webhook-secret.ts";

export interface Rotation {
  integration: Integration;
  secret: string;
  /** Null: there was no earlier secret. */
  previousValidUntil: Date | null;
}

/** A new client secret; every earlier one works until its own overlap ends. Undefined: no such integration. */
export async function rotateClientSecret(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  actor: Actor,
  now: Date,
): Promise<Rotation | undefined> {
  const integration = await lockIntegration(tx, organizationId, integrationId);
  if (!integration) return undefined;
  const secret = newClientSecret();
  const previousValidUntil = new Date(now.getTime() + secretOverlapMs);
  await tx.run`delete from integration_secrets where integration_id = ${integrationId} and valid_until <= ${now}`;
  await tx.run`
    update integration_secrets set valid_until = ${previousValidUntil}
    where integration_id = ${integrationId} and valid_until is null`;
  await tx.run`
    insert into integration_secrets (integration_id, secret_hash, created_at)
    values (${integrationId}, ${hashSecret(secret)}, ${now})`;
  await recordIntegrationChange(tx, integration, "updated", { client_secret: [masked, masked] }, actor, now);
  return { integration, secret, previousValidUntil };
}

/** A new webhook secret; deliveries are signed with both for the overlap. Undefined: no such integration. */
export async function rotateWebhookSecret(
  tx: Tx,
  organizationId: string,
  integrationId: string,
  actor: Actor,
  now: Date,
  box: SecretBox,
): Promise<Rotation | undefined> {
  const integration = await lockIntegration(tx, organizationId, integrationId);
  if (!integration) return undefined;
  const secret = newWebhookSecret();
  const hadSecret = integration.webhookSecret !== null;
  const previousValidUntil = hadSecret ? new Date(now.getTime() + secretOverlapMs) : null;
  await tx.run`
    update integrations set webhook_secret = ${box.seal(secret)}, webhook_secret_previous = ${integration.webhookSecret},
      webhook_secret_previous_until = ${previousValidUntil}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${integrationId}`;
  const changes = { webhook_secret: [hadSecret ? masked : null, masked] as [unknown, unknown] };
  await recordIntegrationChange(tx, integration, "updated", changes, actor, now);
  return { integration, secret, previousValidUntil };
}

/** Which secrets work, and how long the earlier ones still do. The secrets themselves are not in it. */
export interface SecretTimes {
  /** Newest first; null: until it is replaced. */
  client_secrets: { created_at: Date; valid_until: Date | null }[];
  /** Deliveries are signed with both secrets until then; null: there is no earlier one. */
  webhook_secret_previous_until: Date | null;
  has_webhook_secret: boolean;
}

export async function readSecretTimes(
  db: Db,
  organizationId: string,
  integrationId: string,
  now: Date,
): Promise<SecretTimes> {
  const webhook = await db.one<{ until: Date | null; isSet: boolean }>`
    select case when webhook_secret_previous_until > ${now} then webhook_secret_previous_until end as until,
      webhook_secret is not null as "isSet"
    from integrations where organization_id = ${organizationId} and id = ${integrationId}`;
  const clientSecrets = await db.many<SecretTimes["client_secrets"][number]>`
    select s.created_at, s.valid_until from integration_secrets s
    join integrations i on i.id = s.integration_id and i.organization_id = ${organizationId}
    where s.integration_id = ${integrationId} and (s.valid_until is null or s.valid_until > ${now})
    order by s.created_at desc`;
  return {
    client_secrets: clientSecrets,
    webhook_secret_previous_until: webhook.until,
    has_webhook_secret: webhook.isSet,
  };
}
