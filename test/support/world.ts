import { newUuid } from "../../src/lib/ids.ts";
import type { MemberRole } from "../../src/oauth/roles.ts";
import { allScopes, type Scope } from "../../src/oauth/scopes.ts";
import { createIntegration } from "../../src/resources/organizations/integration-store.ts";
import type { OrganizationFeature } from "../../src/resources/organizations/organization-features.ts";
import { createOrganization } from "../../src/resources/organizations/organization-store.ts";
import { addMember } from "../../src/resources/users/member-store.ts";
import { cliActor, openTestApi, type TestApi, type TestApiOptions } from "./api.ts";
import { integrationSettings } from "./integration-settings.ts";
import { cheapPasswordHash, password } from "./password-hash.ts";
import { testSecrets } from "./secrets.ts";

export interface TestOrganization {
  id: string;
  slug: string;
}

export interface TestIntegration {
  id: string;
  clientId: string;
  clientSecret: string;
  /** A token with all scopes of the integration. */
  token: string;
}

interface OrganizationOptions {
  slug?: string;
  features?: OrganizationFeature[];
  perMinute?: number;
  perHour?: number;
}

interface IntegrationOptions {
  scopes?: readonly Scope[];
  messaging?: boolean;
  linkHosts?: string[];
}

export interface PartnerApi {
  api: TestApi;
  organization: TestOrganization;
  integration: TestIntegration;
  /** That of the integration. */
  token: string;
}

/** The API with an organization and one partner of it. */
export async function openPartnerApi(
  options: TestApiOptions & OrganizationOptions & IntegrationOptions = {},
): Promise<PartnerApi> {
  const api = await openTestApi(options);
  const organization = await makeOrganization(api, options);
  const integration = await makeIntegration(api, organization, options);
  return { api, organization, integration, token: integration.token };
}

export async function makeOrganization(
  { db, clock }: TestApi,
  options: OrganizationOptions = {},
): Promise<TestOrganization> {
  const id = newUuid();
  const slug = options.slug ?? `org-${id.slice(0, 8)}`;
  const settings = {
    name: `Organization ${slug}`,
    slug,
    timezone: "Europe/Rome",
    defaultLocale: "it",
    features: options.features ?? [],
    perMinute: options.perMinute ?? 100_000,
    perHour: options.perHour ?? 1_000_000,
  } as const;
  await db.transaction((tx) => createOrganization(tx, settings, cliActor(id), clock.now()));
  return { id, slug };
}

export async function makeIntegration(
  api: TestApi,
  organization: TestOrganization,
  options: IntegrationOptions = {},
): Promise<TestIntegration> {
  const { scopes = allScopes, linkHosts = [], messaging = true } = options;
  const settings = integrationSettings({ scopes, linkHosts, messagingEnabled: messaging });
  const { integration, clientSecret } = await api.db.transaction((tx) =>
    createIntegration(tx, organization.id, settings, cliActor(organization.id), api.clock.now(), testSecrets),
  );
  const { clientId, id } = integration;
  return { id, clientId, clientSecret, token: await fetchToken(api, { clientId, clientSecret }) };
}

export async function fetchToken(
  { app }: TestApi,
  client: { clientId: string; clientSecret: string },
  scope?: string,
): Promise<string> {
  const answer = await app.inject({
    method: "POST",
    url: "/o/token/",
    headers: {
      authorization: basic(client.clientId, client.clientSecret),
      "content-type": "application/x-www-form-urlencoded",
    },
    payload: new URLSearchParams({
      grant_type: "client_credentials",
      ...(scope === undefined ? {} : { scope }),
    }).toString(),
  });
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.body}`);
  return answer.json().access_token;
}

export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

export { password };

/** A person with a password and a session in the organization. */
export async function makePerson(
  api: TestApi,
  organization: TestOrganization,
  role: MemberRole,
  email = `${role.toLowerCase()}-${newUuid().slice(0, 8)}@example.org`,
): Promise<{ id: string; email: string; token: string }> {
  const passwordHash = await cheapPasswordHash();
  const added = await api.db.transaction((tx) =>
    addMember(tx, organization.id, { email, role, passwordHash }, cliActor(organization.id), api.clock.now()),
  );
  if (added.kind === "already_member") throw new Error(`${email} is already a member`);
  return { id: added.member.userId, email, token: await logIn(api, email, organization.slug) };
}

export async function logIn({ app }: TestApi, email: string, organization: string): Promise<string> {
  const answer = await app.inject({
    method: "POST",
    url: "/console/api/login/",
    headers: { "content-type": "application/json" },
    payload: JSON.stringify({ email, password, organization }),
  });
  if (answer.statusCode !== 200) throw new Error(`no session: ${answer.body}`);
  return answer.json().access_token;
}
