import type { Scope } from "../oauth/scopes.ts";
import { isTypeVisible } from "./outbound-gate.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/** What of an integration decides which rows of its log it sees, as it is now and not as it was when the row was made. */
export interface ReceivingIntegration {
  webhookEventTypes: readonly WebhookEventType[];
  webhookDeviceFilter: readonly string[];
  messagingEnabled: boolean;
}

/**
 * Whether the integration sees a row of its log, at push and at replay alike (section 19.1). An empty list of types means all
 * that the scopes allow, an empty device filter all devices. `scopes` are those granted to the integration for push, and those
 * of the token that are still granted for replay.
 */
export function isVisible(
  row: { type: WebhookEventType; deviceUid: string },
  integration: ReceivingIntegration,
  scopes: readonly Scope[],
): boolean {
  const { webhookDeviceFilter } = integration;
  if (webhookDeviceFilter.length > 0 && !webhookDeviceFilter.includes(row.deviceUid)) return false;
  return isTypeVisible(row.type, { ...integration, scopes });
}
