import type { Scope } from "../../oauth/scopes.ts";
import { type WebhookEventType, webhookEventTypes } from "../organizations/webhook-event-types.ts";

export interface GatedIntegration {
  scopes: readonly Scope[];
  webhookEventTypes: readonly WebhookEventType[];
  messagingEnabled: boolean;
}

/** Whether a row is written for the integration at all (section 19.1): scopes, opt-in, and additive types only when named. */
export function isLogged(type: WebhookEventType, integration: GatedIntegration): boolean {
  const { scopes, additive } = webhookEventTypes[type];
  if (additive && !integration.webhookEventTypes.includes(type)) return false;
  if (type.startsWith("message.") && !integration.messagingEnabled) return false;
  return scopes.every((scope) => integration.scopes.includes(scope));
}
