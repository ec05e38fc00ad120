import { type Static, Type } from "@sinclair/typebox";
import type { PartnerPrincipal } from "../../http/principal.ts";
import { ok, type Route, route } from "../../http/route.ts";
import { refTo, StringEnum } from "../../http/schemas.ts";

const IntegrationStatus = StringEnum("IntegrationStatusEnum", ["Active"]);

const RateLimits = Type.Object(
  {
    per_minute: Type.Integer({ description: "Calls per minute and integration." }),
    per_hour: Type.Integer({ description: "Calls per hour and integration." }),
  },
  { $id: "RateLimits" },
);

const OrganizationSelf = Type.Object(
  {
    name: Type.String(),
    slug: Type.String(),
    timezone: Type.String({ description: "IANA time zone name." }),
    default_locale: Type.String(),
    enabled_features: Type.Unsafe<Record<string, true>>({
      type: "object",
      additionalProperties: { type: "boolean" },
      description: "Enabled features only. `messaging` is that of the calling integration.",
    }),
    integration_status: refTo(IntegrationStatus),
    rate_limits: refTo(RateLimits),
  },
  { $id: "OrganizationSelf" },
);
type OrganizationSelf = Static<typeof OrganizationSelf>;

function toRecord({ organization, partner }: PartnerPrincipal): OrganizationSelf {
  const features = [...organization.features, ...(partner.messagingEnabled ? ["messaging"] : [])].sort();
  return {
    name: organization.name,
    slug: organization.slug,
    timezone: organization.timezone,
    default_locale: organization.defaultLocale,
    enabled_features: Object.fromEntries(features.map((feature) => [feature, true as const])),
    integration_status: "Active",
    rate_limits: { per_minute: organization.perMinute, per_hour: organization.perHour },
  };
}

export const organizationRoutes = (): Route[] => [
  route({
    method: "GET",
    path: "/api/v1/organizations/self/",
    operationId: "organizations_self_retrieve",
    tag: "Organization",
    summary: "The organization of the token",
    description: "Partner tokens only; the session of a person is refused with `partner_token_required`.",
    partners: ["org:read"],
    people: "never",
    dependsOn: "partner",
    responses: { 200: refTo(OrganizationSelf) },
    handle: async ({ principal }) => ok(toRecord(principal as PartnerPrincipal)),
  }),
];
