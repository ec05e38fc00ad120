import { Type } from "@sinclair/typebox";
import { readRateUse } from "../../http/rate-limit-store.ts";
import { ok, type Route, route } from "../../http/route.ts";
import { ratePoliciesOf } from "../../oauth/organization-identity.ts";
import { readHealth } from "../../outbound/delivery-health.ts";
import { listIntegrations } from "../../resources/organizations/integration-store.ts";
import { readSecretTimes } from "../../resources/organizations/secret-rotation.ts";
import { loadIntegration } from "./integration-lookup.ts";
import { forAdmins, integrationParams, integrationPath } from "./integration-routes.ts";

/** Whether events arrive, what is used of the quotas, and which secrets work. */
export const deliveryHealthRoutes = (): Route[] => [
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/integrations/health/",
    operationId: "console_integrations_health_list",
    summary: "Delivery health of every integration",
    responses: { 200: Type.Any() },
    async handle({ db, organizationId, now }) {
      const ids = (await listIntegrations(db, organizationId)).map(({ id }) => id);
      return ok({ results: await readHealth(db, organizationId, ids, now) });
    },
  }),
  route({
    ...forAdmins,
    ...integrationParams,
    method: "GET",
    path: `${integrationPath}health/`,
    operationId: "console_integrations_health",
    summary: "Success, latency and backlog of deliveries over the last day",
    responses: { 200: Type.Any() },
    load: loadIntegration,
    async handle({ db, organizationId, object, now }) {
      const [health] = await readHealth(db, organizationId, [object.id], now);
      return ok(health);
    },
  }),
  route({
    ...forAdmins,
    ...integrationParams,
    method: "GET",
    path: `${integrationPath}access/`,
    operationId: "console_integrations_access",
    summary: "Rate limits with what was used of them, and which secrets work until when",
    responses: { 200: Type.Any() },
    load: loadIntegration,
    async handle({ db, organizationId, principal, object, now }) {
      const policies = ratePoliciesOf(principal.organization);
      return ok({
        rate_limits: await readRateUse(db, object.id, policies, now),
        ...(await readSecretTimes(db, organizationId, object.id, now)),
      });
    },
  }),
];
