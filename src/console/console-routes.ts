import type { FastifyInstance } from "fastify";
import type { Route } from "../http/route.ts";
import type { TestEventParts } from "../outbound/test-event.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { registerAcceptance } from "./accept-routes.ts";
import { accountRoutes } from "./account-routes.ts";
import { registerActivation } from "./activate-routes.ts";
import { deliveryHealthRoutes } from "./admin/delivery-health-routes.ts";
import { deliveryRoutes } from "./admin/delivery-routes.ts";
import { deviceAdminRoutes } from "./admin/device-admin-routes.ts";
import { integrationRoutes } from "./admin/integration-routes.ts";
import { logEventRoutes } from "./admin/log-event-routes.ts";
import { ownOrganizationRoutes } from "./admin/own-organization-routes.ts";
import type { ConsolePage } from "./console-page.ts";
import { type CredentialOptions, credentialRoutes } from "./credential-routes.ts";
import { managedDeviceRoutes } from "./devices/managed-device-routes.ts";
import type { OperatorServices } from "./operator/operator-services.ts";
import { organizationAdminRoutes } from "./operator/organization-routes.ts";
import { recoveryRoutes } from "./operator/recovery-routes.ts";
import { serviceRoutes } from "./operator/service-routes.ts";
import { registerPasswordReset } from "./reset-routes.ts";
import { registerSignIn, type SignInOptions } from "./sign-in-routes.ts";
import type { LiveHub } from "./stream/live-hub.ts";
import { streamRoutes } from "./stream/stream-routes.ts";

/** Calls of people who are signed in. They stand in the table of routes like the partner surface, with the same gates. */
export const consoleRoutes = (
  options: CredentialOptions &
    TestEventParts & { baseUrl: () => string; hub: LiveHub; catalog: Catalog; operations: OperatorServices },
): Route[] => [
  ...accountRoutes(options.baseUrl),
  ...credentialRoutes(options),
  ...streamRoutes(options.hub),
  ...integrationRoutes({ secrets: options.secrets, allowCidrs: options.webhooks.allowCidrs }),
  ...deliveryRoutes(options),
  ...deliveryHealthRoutes(),
  ...logEventRoutes(options),
  ...deviceAdminRoutes(options.catalog),
  ...managedDeviceRoutes(options.catalog),
  ...ownOrganizationRoutes(),
  ...organizationAdminRoutes(),
  ...serviceRoutes(options.operations),
  ...recoveryRoutes(options.operations),
];

/** What people need before they have a session: signing in, and the pages behind links in mails. */
export function registerConsoleEntry(app: FastifyInstance, options: SignInOptions & { page: ConsolePage }): void {
  registerSignIn(app, options);
  registerPasswordReset(app, options);
  registerActivation(app, options);
  registerAcceptance(app, options);
}
