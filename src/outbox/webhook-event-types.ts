import type { Scope } from "../oauth/scopes.ts";

/**
 * Outbound event types with the scopes each needs. Additive types go only to integrations that name them in
 * `webhook_event_types`; an empty list never includes them.
 */
export const webhookEventTypes = {
  "location.update": { scopes: ["locations:read"], additive: false },
  "alarm.sos": { scopes: ["events:read"], additive: false },
  "alarm.fall": { scopes: ["events:read"], additive: false },
  "alarm.low_battery": { scopes: ["events:read"], additive: false },
  "geofence.enter": { scopes: ["events:read", "geofences:read"], additive: false },
  "geofence.exit": { scopes: ["events:read", "geofences:read"], additive: false },
  "health.snapshot": { scopes: ["telemetry:read"], additive: false },
  "command.ack": { scopes: ["commands:read"], additive: false },
  "command.failed": { scopes: ["commands:read"], additive: false },
  "device.online": { scopes: ["devices:read"], additive: false },
  "device.offline": { scopes: ["devices:read"], additive: false },
  "message.received": { scopes: ["messaging:read"], additive: false },
  "message.sent": { scopes: ["messaging:read"], additive: false },
  "message.delivered": { scopes: ["messaging:read"], additive: false },
  "message.failed": { scopes: ["messaging:read"], additive: false },
  "geofence.dwell": { scopes: ["events:read", "geofences:read"], additive: true },
  "alarm.threshold": { scopes: ["events:read", "telemetry:read"], additive: true },
  "alarm.threshold_cleared": { scopes: ["events:read", "telemetry:read"], additive: true },
  "ecg.recorded": { scopes: ["ecg:read"], additive: true },
  "webhook.test": { scopes: [], additive: true },
} as const satisfies Record<string, { scopes: readonly Scope[]; additive: boolean }>;

export type WebhookEventType = keyof typeof webhookEventTypes;

export const allWebhookEventTypes = Object.keys(webhookEventTypes) as WebhookEventType[];
