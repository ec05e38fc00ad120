import type { Integration } from "./integration-store.ts";

/** An integration as operators and administrators see it (section 23.1). Secrets are never in it. */
export const toIntegrationRecord = (integration: Integration, organizationSlug: string) => ({
  id: integration.id,
  name: integration.name,
  org: organizationSlug,
  client_id: integration.clientId,
  status: integration.status,
  scopes: integration.scopes,
  webhook_url: integration.webhookUrl,
  webhook_event_types: integration.webhookEventTypes,
  webhook_device_filter: integration.webhookDeviceFilter,
  webhook_paused: integration.webhookPaused,
  link_hosts: integration.linkHosts,
  messaging_enabled: integration.messagingEnabled,
  created_at: integration.createdAt,
});
export type IntegrationRecord = ReturnType<typeof toIntegrationRecord>;
