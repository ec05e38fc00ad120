import { newUuid } from "../lib/ids.ts";
import { organizationFeatures } from "../resources/organizations/organization-features.ts";
import { toOrganizationRecord } from "../resources/organizations/organization-record.ts";
import {
  isSlug,
  locales,
  organizationDefaults,
  parseDomains,
  parseLanguage,
  parseNetworks,
  parseTimezone,
  slugFromName,
} from "../resources/organizations/organization-settings.ts";
import {
  createOrganization,
  listOrganizations,
  type Organization,
  type OrganizationSettings,
  SlugTaken,
  updateOrganization,
} from "../resources/organizations/organization-store.ts";
import { parseRetention, type Retention, retainedTables } from "../resources/organizations/retention.ts";
import { type Arguments, type Command, CommandError, type Option, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { getOrganization, operatorIn, organizationMissing } from "./operator.ts";
import { givenOnly, knownWords, nonEmptyText, positiveInteger } from "./option-values.ts";
import { record, table } from "./output.ts";

const features = organizationFeatures.join(", ");

const settingOptions: readonly Option[] = [
  { name: "timezone", value: "TZ", summary: "IANA time zone, like Europe/Rome", default: "UTC" },
  {
    name: "locale",
    value: "L",
    summary: `language of devices and of mails; mails are written in ${locales.join(", ")}`,
    default: "en",
  },
  { name: "feature", value: "F", repeatable: true, summary: `switch on a feature: ${features}` },
  { name: "per-minute", value: "N", summary: "calls of one integration per minute", default: "600" },
  { name: "per-hour", value: "N", summary: "calls of one integration per hour", default: "20000" },
  {
    name: "gateway-networks",
    value: "LIST",
    summary: "networks that devices may log in from, like 10.0.0.0/8,fd00::/8",
    default: "all",
  },
  {
    name: "share-domains",
    value: "LIST",
    summary: "mail domains that devices may be shared with, like care.example,home.example",
    default: "all",
  },
];

const shown = (organization: Organization): string => record(toOrganizationRecord(organization));

function parseOrUsage<T>(args: Arguments, option: string, whenEmpty: T, parse: (text: string) => T | undefined) {
  const text = args.value(option)?.trim();
  if (text === undefined) return undefined;
  const value = text === "" ? whenEmpty : parse(text);
  if (value === undefined) {
    throw new UsageError(`--${option}: "${text}" is not supported, see "vigil org create --help"`);
  }
  return value;
}

function slugOption(args: Arguments): string | undefined {
  const slug = args.value("slug")?.trim();
  if (slug !== undefined && !isSlug(slug)) {
    throw new UsageError(`--slug must be lower case letters, digits and single dashes, at most 50, not "${slug}"`);
  }
  return slug;
}

function networksOption(args: Arguments): readonly string[] | undefined {
  const text = args.value("gateway-networks");
  if (text === undefined) return undefined;
  const networks = parseNetworks(text);
  if (networks) return networks;
  throw new UsageError(`--gateway-networks must be networks like 10.0.0.0/8,fd00::/8, not "${text}"`);
}

function domainsOption(args: Arguments): readonly string[] | undefined {
  const text = args.value("share-domains");
  if (text === undefined) return undefined;
  const domains = parseDomains(text);
  if (domains) return domains;
  throw new UsageError(`--share-domains must be mail domains like care.example,home.example, not "${text}"`);
}

function givenSettings(args: Arguments): Partial<OrganizationSettings> {
  return givenOnly<OrganizationSettings>({
    name: nonEmptyText(args, "name", 200),
    slug: slugOption(args),
    timezone: parseOrUsage<string>(args, "timezone", organizationDefaults.timezone, parseTimezone),
    defaultLocale: parseOrUsage<string>(args, "locale", organizationDefaults.defaultLocale, parseLanguage),
    features: undefined,
    retention: undefined,
    perMinute: positiveInteger(args, "per-minute", organizationDefaults.perMinute),
    perHour: positiveInteger(args, "per-hour", organizationDefaults.perHour),
    gatewayNetworks: networksOption(args),
    shareDomains: domainsOption(args),
  });
}

const featureOption = (args: Arguments, option: "feature" | "no-feature") =>
  knownWords(
    option,
    args.values(option).filter((word) => word !== ""),
    organizationFeatures,
  );

/** The features after an update: an empty `--feature ""` clears them first. */
function changedFeatures(args: Arguments, before: Organization["features"]) {
  const added = featureOption(args, "feature");
  const removed = featureOption(args, "no-feature");
  const both = added.find((feature) => removed.includes(feature));
  if (both !== undefined) throw new UsageError(`--feature and --no-feature both name ${both}`);
  const kept = args.values("feature").includes("") ? [] : before;
  return organizationFeatures.filter(
    (feature) => added.includes(feature) || (kept.includes(feature) && !removed.includes(feature)),
  );
}

function changedRetention(text: string | undefined, before: Retention): Retention {
  if (text === undefined || text === "") return {};
  const after = parseRetention(text, before);
  if (typeof after === "string") throw new UsageError(`--retain: ${after}`);
  return after;
}

function slugTakenError(error: unknown): unknown {
  if (!(error instanceof SlugTaken)) return error;
  return new CommandError(`the slug "${error.slug}" is taken: choose another with --slug`);
}

const create: Command = {
  path: ["org", "create"],
  summary: "Create an organization",
  positionals: [],
  options: [
    { name: "name", value: "N", required: true, summary: "name of the organization" },
    { name: "slug", value: "S", summary: "short name for the command line", default: "made from the name" },
    ...settingOptions,
  ],
  examples: [
    'vigil org create --name "Care Co"',
    'vigil org create --name "Care Co" --slug care --timezone Europe/Rome --locale it --feature managed_onboarding',
    'vigil org create --name "Care Co" --per-minute 1200 --per-hour 40000 --json',
  ],
  next: ['vigil integration create --org SLUG --name "App"', "vigil user create --org SLUG --email E --role OWNER"],
  run: async (context) => {
    const { args, clock } = context;
    const given = givenSettings(args);
    const name = given.name ?? "";
    const slug = given.slug ?? slugFromName(name);
    if (slug === undefined) throw new UsageError(`no slug can be made from "${name}": give one with --slug`);
    const settings = {
      ...organizationDefaults,
      ...given,
      name,
      slug,
      features: [...new Set(featureOption(args, "feature"))],
    };
    const organization = await withDatabase(context, (db) =>
      db.transaction((tx) => createOrganization(tx, settings, operatorIn(newUuid()), clock.now())),
    ).catch((error: unknown) => {
      throw slugTakenError(error);
    });
    context.print(toOrganizationRecord(organization), `Created organization ${slug}.\n\n${shown(organization)}`);
    return 0;
  },
};

const set: Command = {
  path: ["org", "set"],
  summary: "Change settings of an organization",
  positionals: [{ name: "SLUG", summary: "slug of the organization" }],
  options: [
    { name: "name", value: "N", summary: "new name; the slug stays" },
    { name: "slug", value: "S", summary: "new slug" },
    ...settingOptions.map(({ default: _, ...option }) => option),
    { name: "no-feature", value: "F", repeatable: true, summary: `switch off a feature: ${features}` },
    {
      name: "retain",
      value: "LIST",
      summary: `days that history is kept, or keep: ${retainedTables.join(", ")}; an empty list keeps everything`,
    },
  ],
  examples: [
    "vigil org set care-co --feature geofence_scoping --no-feature managed_onboarding",
    "vigil org set care-co --timezone Europe/Berlin --locale de",
    "vigil org set care-co --retain locations=365d,telemetry=365d,events=keep",
    "vigil org set care-co --gateway-networks 10.64.0.0/12 --feature pin_sim",
    'vigil org set care-co --per-minute ""     (an empty value returns to the default)',
  ],
  next: ["vigil org list"],
  run: async (context) => {
    const { args, clock } = context;
    const given = givenSettings(args);
    const namesFeatures = args.has("feature") || args.has("no-feature");
    const retain = args.value("retain")?.trim();
    changedRetention(retain, {});
    if (namesFeatures) changedFeatures(args, []);
    else if (Object.keys(given).length === 0 && retain === undefined)
      throw new UsageError("nothing to change: give at least one option");
    const slug = args.positionals[0] ?? "";
    const organization = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const before = await getOrganization(tx, slug);
        const changed = {
          ...given,
          ...(namesFeatures ? { features: changedFeatures(args, before.features) } : {}),
          ...(retain === undefined ? {} : { retention: changedRetention(retain, before.retention ?? {}) }),
        };
        return updateOrganization(tx, before.id, changed, operatorIn(before.id), clock.now());
      }),
    ).catch((error: unknown) => {
      throw slugTakenError(error);
    });
    if (!organization) throw organizationMissing(slug);
    context.print(toOrganizationRecord(organization), shown(organization));
    return 0;
  },
};

const list: Command = {
  path: ["org", "list"],
  summary: "List the organizations",
  positionals: [],
  options: [],
  examples: ["vigil org list", "vigil org list --json"],
  next: ["vigil integration list --org SLUG"],
  run: async (context) => {
    const organizations = (await withCurrentDatabase(context, listOrganizations)).map(toOrganizationRecord);
    const rows = organizations.map((one) => [
      one.slug,
      one.name,
      one.timezone,
      one.default_locale,
      one.features.join(",") || "-",
      `${one.rate_limits.per_minute}/min ${one.rate_limits.per_hour}/h`,
    ]);
    const empty = 'No organizations yet. "vigil org create --name NAME" creates one.';
    const text = table(["slug", "name", "timezone", "locale", "features", "limits"], rows);
    context.print(organizations, rows.length === 0 ? empty : text);
    return 0;
  },
};

export const orgCommands: readonly Command[] = [create, set, list];
