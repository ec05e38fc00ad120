import { Type } from "@sinclair/typebox";
import type { Tx } from "../../db/database.ts";
import { arrayPage } from "../../http/list-results.ts";
import { defineList } from "../../http/lists.ts";
import { created, noContent, ok, type Route, route } from "../../http/route.ts";
import { notFound } from "../../lib/errors.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import type { Actor } from "../../oauth/actor.ts";
import { type IntegrationRecord, toIntegrationRecord } from "../../resources/organizations/integration-record.ts";
import {
  createIntegration,
  findIntegration,
  type Integration,
  integrationDefaults,
  listIntegrations,
  setIntegrationStatus,
  setWebhookPaused,
  updateIntegration,
} from "../../resources/organizations/integration-store.ts";
import { rotateClientSecret, rotateWebhookSecret } from "../../resources/organizations/secret-rotation.ts";
import { forPeople } from "../account-routes.ts";
import { ChangedIntegration, NewIntegration, readIntegrationSettings } from "./integration-body.ts";

/** Administration is for those who run the organization. */
export const forAdmins = { ...forPeople, people: "ADMIN" } as const;

export const integrationPath = "/console/api/integrations/:id/";
export const integrationParams = { params: { id: "uuid" } } as const;

const integrationList = defineList({
  kind: "page",
  ordering: ["name", "created_at"],
  defaultOrdering: "created_at",
  searches: "name, client id and webhook",
  filters: {},
});

const fieldOf = (record: IntegrationRecord, name: string): string =>
  name === "name" ? record.name : record.created_at.toISOString();

export function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

type Change = (tx: Tx, organizationId: string, id: string, actor: Actor, now: Date) => Promise<Integration | undefined>;

/** The integrations of the session's organization, with the functions and shapes of the command line. */
export function integrationRoutes({
  secrets,
  allowCidrs,
}: {
  secrets: SecretBox;
  allowCidrs: readonly string[];
}): Route[] {
  const changeRoute = (word: string, summary: string, change: Change): Route =>
    route({
      ...forAdmins,
      ...integrationParams,
      method: "POST",
      path: `${integrationPath}${word}/`,
      operationId: `console_integrations_${word}`,
      summary,
      responses: { 200: Type.Any() },
      async handle({ organizationId, principal, params, actor, now, transaction }) {
        const changed = await transaction((tx) => change(tx, organizationId, params.id as string, actor, now));
        return ok(toIntegrationRecord(found(changed), principal.organization.slug));
      },
    });

  return [
    route({
      ...forAdmins,
      method: "GET",
      path: "/console/api/integrations/",
      operationId: "console_integrations_list",
      summary: "Integrations of the organization",
      list: integrationList,
      responses: { 200: Type.Any() },
      async handle({ db, organizationId, principal, list, page }) {
        const records = (await listIntegrations(db, organizationId)).map((one) =>
          toIntegrationRecord(one, principal.organization.slug),
        );
        const read = {
          field: fieldOf,
          searched: (one: IntegrationRecord) => [one.name, one.client_id, one.webhook_url ?? ""],
          key: (one: IntegrationRecord) => one.id,
        };
        return page(arrayPage(records, list(), read), (record) => record);
      },
    }),
    route({
      ...forAdmins,
      method: "POST",
      path: "/console/api/integrations/",
      operationId: "console_integrations_create",
      summary: "Create an integration and show its secrets once",
      body: NewIntegration,
      responses: { 201: Type.Any() },
      async handle({ organizationId, principal, body, actor, now, transaction }) {
        const given = await readIntegrationSettings(body, allowCidrs);
        const settings = { ...integrationDefaults, ...given, name: given.name ?? body.name };
        const { integration, clientSecret, webhookSecret } = await transaction((tx) =>
          createIntegration(tx, organizationId, settings, actor, now, secrets),
        );
        const record = toIntegrationRecord(integration, principal.organization.slug);
        return created({ ...record, client_secret: clientSecret, webhook_secret: webhookSecret });
      },
    }),
    route({
      ...forAdmins,
      ...integrationParams,
      method: "GET",
      path: integrationPath,
      operationId: "console_integrations_retrieve",
      summary: "One integration",
      responses: { 200: Type.Any() },
      load: async ({ db, organizationId, params }) =>
        found(await findIntegration(db, organizationId, params.id as string)),
      handle: async ({ object, principal }) => ok(toIntegrationRecord(object, principal.organization.slug)),
    }),
    route({
      ...forAdmins,
      ...integrationParams,
      method: "PATCH",
      path: integrationPath,
      operationId: "console_integrations_update",
      summary: "Change an integration; a secret that this creates is shown once",
      body: ChangedIntegration,
      responses: { 200: Type.Any() },
      load: async ({ db, organizationId, params }) =>
        found(await findIntegration(db, organizationId, params.id as string)),
      async handle({ organizationId, principal, params, body, actor, now, transaction }) {
        const given = await readIntegrationSettings(body, allowCidrs);
        const { integration, webhookSecret } = found(
          await transaction((tx) =>
            updateIntegration(tx, organizationId, params.id as string, given, actor, now, secrets),
          ),
        );
        return ok({
          ...toIntegrationRecord(integration, principal.organization.slug),
          webhook_secret: webhookSecret,
        });
      },
    }),
    route({
      ...forAdmins,
      ...integrationParams,
      method: "DELETE",
      path: integrationPath,
      operationId: "console_integrations_delete",
      summary: "Delete an integration and end its tokens",
      responses: { 204: null },
      async handle({ organizationId, params, actor, now, transaction }) {
        const id = params.id as string;
        found(await transaction((tx) => setIntegrationStatus(tx, organizationId, id, "deleted", actor, now)));
        return noContent();
      },
    }),
    changeRoute("enable", "Enable a disabled integration", (tx, organizationId, id, actor, now) =>
      setIntegrationStatus(tx, organizationId, id, "active", actor, now),
    ),
    changeRoute("disable", "Disable an integration and revoke its tokens", (tx, organizationId, id, actor, now) =>
      setIntegrationStatus(tx, organizationId, id, "disabled", actor, now),
    ),
    changeRoute("pause", "Let events wait", (tx, organizationId, id, actor, now) =>
      setWebhookPaused(tx, organizationId, id, true, actor, now),
    ),
    changeRoute("resume", "Send what has waited, in order", (tx, organizationId, id, actor, now) =>
      setWebhookPaused(tx, organizationId, id, false, actor, now),
    ),
    route({
      ...forAdmins,
      ...integrationParams,
      method: "POST",
      path: `${integrationPath}rotate-secret/`,
      operationId: "console_integrations_rotate_secret",
      summary: "Make a new client secret and show it once",
      responses: { 200: Type.Any() },
      async handle({ organizationId, params, actor, now, transaction }) {
        const { integration, secret, previousValidUntil } = found(
          await transaction((tx) => rotateClientSecret(tx, organizationId, params.id as string, actor, now)),
        );
        const { id, clientId } = integration;
        return ok({ id, client_id: clientId, client_secret: secret, previous_valid_until: previousValidUntil });
      },
    }),
    route({
      ...forAdmins,
      ...integrationParams,
      method: "POST",
      path: `${integrationPath}rotate-webhook-secret/`,
      operationId: "console_integrations_rotate_webhook_secret",
      summary: "Make a new webhook secret and show it once",
      responses: { 200: Type.Any() },
      async handle({ organizationId, params, actor, now, transaction }) {
        const { integration, secret, previousValidUntil } = found(
          await transaction((tx) => rotateWebhookSecret(tx, organizationId, params.id as string, actor, now, secrets)),
        );
        return ok({ id: integration.id, webhook_secret: secret, previous_valid_until: previousValidUntil });
      },
    }),
  ];
}
