import type { Scope } from "../oauth/scopes.ts";
import { allWebhookEventTypes, type WebhookEventType, webhookEventTypes } from "./webhook-event-types.ts";

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

/**
 * Whether the integration gets rows of the type now, by push or replay: one of its list, or any but the additive ones when the
 * list is empty, as far as scopes and opt-in allow. For replay the scopes are those of the token that are still granted.
 */
export function isTypeVisible(type: WebhookEventType, integration: GatedIntegration): boolean {
  const { webhookEventTypes: named } = integration;
  return (named.length === 0 || named.includes(type)) && isLogged(type, integration);
}

export const visibleTypes = (integration: GatedIntegration): WebhookEventType[] =>
  allWebhookEventTypes.filter((type) => isTypeVisible(type, integration));

/** Types that everybody gets who has the scopes; a log holds little beside them. */
export const defaultTypes = allWebhookEventTypes.filter((type) => !webhookEventTypes[type].additive);
