import { type Static, Type } from "@sinclair/typebox";
import { validationError } from "../../lib/errors.ts";
import { organizationFeatures } from "../../resources/organizations/organization-features.ts";
import {
  isSlug,
  organizationDefaults,
  parseDomains,
  parseLanguage,
  parseNetworks,
  parseTimezone,
  slugFromName,
} from "../../resources/organizations/organization-settings.ts";
import type { OrganizationSettings } from "../../resources/organizations/organization-store.ts";
import { maxRetentionDays, retainedTables } from "../../resources/organizations/retention.ts";

const Feature = Type.Unsafe<(typeof organizationFeatures)[number]>({ type: "string", enum: [...organizationFeatures] });
const maxLimit = 1_000_000_000;
const Limit = Type.Integer({ minimum: 1, maximum: maxLimit });
const Days = Type.Optional(Type.Integer({ minimum: 1, maximum: maxRetentionDays }));

/** What a field of the body says, as the options of `vigil org create` and `vigil org set` do. */
const settings = {
  slug: Type.Optional(Type.String({ maxLength: 50 })),
  timezone: Type.Optional(Type.String({ maxLength: 64 })),
  default_locale: Type.Optional(Type.String({ maxLength: 35 })),
  features: Type.Optional(Type.Array(Feature, { maxItems: 20 })),
  rate_limits: Type.Optional(Type.Object({ per_minute: Type.Optional(Limit), per_hour: Type.Optional(Limit) })),
  /** Days by kind of history; what is not named is kept for ever. */
  retention: Type.Optional(
    Type.Object(Object.fromEntries(retainedTables.map((table) => [table, Days])), { additionalProperties: false }),
  ),
  gateway_networks: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 100 })),
  share_domains: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100 })),
};

const Name = Type.String({ minLength: 1, maxLength: 200 });
export const NewOrganization = Type.Object({ name: Name, ...settings });
export const PatchedOrganization = Type.Object({ name: Type.Optional(Name), ...settings });

type Body = Static<typeof PatchedOrganization>;

/** The settings that the body names; throws with all that is wrong with them. */
export function readSettings(body: Body): Partial<OrganizationSettings> {
  const errors: Record<string, string[]> = {};
  const parsed = <T>(field: keyof Body, parse: () => T | undefined, problem: string): T | undefined => {
    if (body[field] === undefined) return undefined;
    const value = parse();
    if (value === undefined) errors[field] = [problem];
    return value;
  };
  const name = parsed("name", () => body.name?.trim() || undefined, "This field may not be blank.");
  const slug = parsed(
    "slug",
    () => (isSlug(body.slug ?? "") ? body.slug : undefined),
    "Use lower case letters, digits and single dashes.",
  );
  const timezone = parsed("timezone", () => parseTimezone(body.timezone ?? ""), "This is not an IANA time zone.");
  const defaultLocale = parsed(
    "default_locale",
    () => parseLanguage(body.default_locale ?? ""),
    "This is no language.",
  );
  const gatewayNetworks = parsed(
    "gateway_networks",
    () => parseNetworks((body.gateway_networks ?? []).join(",")),
    "Give networks like 10.0.0.0/8 or fd00::/8.",
  );
  const shareDomains = parsed(
    "share_domains",
    () => parseDomains((body.share_domains ?? []).join(",")),
    "Give mail domains like care.example.",
  );
  if (Object.keys(errors).length > 0) throw validationError(errors);
  const given = {
    name,
    slug,
    timezone,
    defaultLocale,
    features: body.features && organizationFeatures.filter((feature) => body.features?.includes(feature)),
    perMinute: body.rate_limits?.per_minute,
    perHour: body.rate_limits?.per_hour,
    retention: body.retention,
    gatewayNetworks,
    shareDomains,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** All settings of a new organization; its slug is made from its name unless it is given. */
export function readNewSettings(body: Static<typeof NewOrganization>): OrganizationSettings {
  const given = readSettings(body);
  const name = given.name ?? body.name;
  const slug = given.slug ?? slugFromName(name);
  if (slug === undefined) throw validationError({ slug: ["No slug can be made from the name. Give one."] });
  return { features: [], ...organizationDefaults, ...given, name, slug };
}
