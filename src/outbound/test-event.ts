import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import { isVisible } from "../outbox/visible-gate.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import type { Integration } from "../resources/organizations/integration-store.ts";
import { errorText } from "./delivery-policy.ts";
import { type PushSettings, readSettings } from "./lane-store.ts";
import { sampleEvent } from "./sample-event.ts";
import { makeWebhookClient, type WebhookClientOptions } from "./webhook-client.ts";
import { type SigningSecrets, webhookHeaders } from "./webhook-signature.ts";

/** What became of a sample (section 23.1). */
export interface TestDelivery {
  event_id: string;
  type: WebhookEventType;
  delivered: boolean;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
}

/** Whether the integration gets events of this type. The device filter does not apply to a sample. */
export const isSubscribedTo = (type: WebhookEventType, integration: Integration): boolean =>
  type === "webhook.test" ||
  isVisible({ type, deviceUid: "" }, { ...integration, webhookDeviceFilter: [] }, integration.scopes);

export interface TestEventParts {
  db: Database;
  clock: Clock;
  secrets: SecretBox;
  webhooks: Omit<WebhookClientOptions, "connections">;
}

/** Sends one signed sample to the webhook, once. Undefined: there is no webhook. */
export async function sendTestEvent(
  { db, clock, secrets, webhooks }: TestEventParts,
  { id, webhookUrl }: Integration,
  type: WebhookEventType,
): Promise<TestDelivery | undefined> {
  const [settings] = await readSettings(db, [id], secrets);
  if (!settings || webhookUrl === null) return undefined;
  const target = makeWebhookClient({ ...webhooks, connections: 1 })(webhookUrl);
  const now = clock.now();
  const event = sampleEvent(type, id, now);
  const headers = webhookHeaders(event, 1, secretsAt(settings, now), now.getTime());
  const { outcome, durationMs } = await target.send(headers, event.body).finally(() => target.close());
  const error = errorText(outcome);
  return {
    event_id: event.id,
    type,
    delivered: error === null,
    status_code: outcome.kind === "answered" ? outcome.status : null,
    duration_ms: durationMs,
    error,
  };
}

/** What a delivery is signed with at this moment. */
export function secretsAt({ secret, previousSecret, previousUntil }: PushSettings, now: Date): SigningSecrets {
  const isOverlap = previousUntil !== null && previousUntil > now;
  return { current: secret ?? "", previous: isOverlap ? previousSecret : null };
}
