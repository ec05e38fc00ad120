import { allScopes } from "../../src/oauth/scopes.ts";
import type { IntegrationSettings } from "../../src/resources/organizations/integration-store.ts";

/** An integration that may do everything and has no webhook, but for what is given. */
export const integrationSettings = (given: Partial<IntegrationSettings> = {}): IntegrationSettings => ({
  name: "Care Co",
  scopes: allScopes,
  webhookUrl: null,
  webhookEventTypes: [],
  webhookDeviceFilter: [],
  linkHosts: [],
  messagingEnabled: true,
  ...given,
});
