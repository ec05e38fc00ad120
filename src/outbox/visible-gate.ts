import type { Scope } from "../oauth/scopes.ts";
import { isTypeVisible } from "./outbound-gate.ts";
import { type WebhookEventType, webhookEventTypes } from "./webhook-event-types.ts";

/** What of an integration decides which rows of its log it sees, as it is now and not as it was when the row was made. */
export interface ReceivingIntegration {
  webhookEventTypes: readonly WebhookEventType[];
  webhookDeviceFilter: readonly string[];
  messagingEnabled: boolean;
}

/** Why a row is not shown: a scope or the messaging opt-in is missing, its type is not wanted, or its device is not. */
export type WithheldReason = "scope" | "messaging" | "type" | "filter";

/**
 * Whether the integration sees a row of its log, at push and at replay alike (section 19.1). An empty list of types means all
 * that the scopes allow, an empty device filter all devices. `scopes` are those granted to the integration for push, and those
 * of the token that are still granted for replay.
 */
export const isVisible = (
  row: { type: WebhookEventType; deviceUid: string },
  integration: ReceivingIntegration,
  scopes: readonly Scope[],
): boolean => isTypeVisible(row.type, { ...integration, scopes }) && isWantedDevice(row.deviceUid, integration);

const isWantedDevice = (deviceUid: string, { webhookDeviceFilter }: ReceivingIntegration): boolean =>
  webhookDeviceFilter.length === 0 || webhookDeviceFilter.includes(deviceUid);

/** Null: the row is shown. */
export function withheldReason(
  row: { type: WebhookEventType; deviceUid: string },
  integration: ReceivingIntegration,
  scopes: readonly Scope[],
): WithheldReason | null {
  if (isVisible(row, integration, scopes)) return null;
  const { scopes: needed } = webhookEventTypes[row.type];
  if (!needed.every((scope) => scopes.includes(scope))) return "scope";
  if (row.type.startsWith("message.") && !integration.messagingEnabled) return "messaging";
  return isTypeVisible(row.type, { ...integration, scopes }) ? "filter" : "type";
}
