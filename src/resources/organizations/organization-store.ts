import type { Db, Tx } from "../../db/database.ts";
import { violatedConstraint } from "../../db/failures.ts";
import { table } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import type { Actor } from "../../oauth/actor.ts";
import { announceIdentityChange } from "../../oauth/identity-changes.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import type { OrganizationFeature } from "./organization-features.ts";
import type { Retention } from "./retention.ts";

export interface OrganizationSettings {
  name: string;
  slug: string;
  timezone: string;
  defaultLocale: string;
  features: readonly OrganizationFeature[];
  perMinute: number;
  perHour: number;
  /** Absent: everything is kept. */
  retention?: Retention;
  /** Networks in CIDR form that devices may log in from; none: all. */
  gatewayNetworks?: readonly string[];
  /** Mail domains that devices may be shared with; none: all. */
  shareDomains?: readonly string[];
}

export interface Organization extends OrganizationSettings {
  id: string;
  gatewayNetworks: readonly string[];
  shareDomains: readonly string[];
  createdAt: Date;
  updatedAt: Date;
}

/** Another organization has this slug. */
export class SlugTaken extends Error {
  readonly slug: string;

  constructor(slug: string) {
    super(`the slug ${slug} is taken`);
    this.slug = slug;
  }
}

/** Of the table organizations. */
export const organizationColumns = sql`id, slug, name, timezone, default_locale as "defaultLocale", features, per_minute as "perMinute",
  per_hour as "perHour", retention, gateway_networks as "gatewayNetworks", share_domains as "shareDomains",
  created_at as "createdAt", updated_at as "updatedAt"`;

const auditView = (organization: Organization): Record<string, unknown> => ({
  name: organization.name,
  slug: organization.slug,
  timezone: organization.timezone,
  default_locale: organization.defaultLocale,
  features: organization.features,
  per_minute: organization.perMinute,
  per_hour: organization.perHour,
  retention: organization.retention ?? {},
  gateway_networks: organization.gatewayNetworks,
  share_domains: organization.shareDomains,
});

export const listOrganizations = (db: Db): Promise<Organization[]> =>
  db.many<Organization>`select ${organizationColumns} from organizations order by slug`;

export const findOrganization = (db: Db, organizationId: string): Promise<Organization | undefined> =>
  db.maybeOne<Organization>`select ${organizationColumns} from organizations where id = ${organizationId}`;

export const findOrganizationBySlug = (db: Db, slug: string): Promise<Organization | undefined> =>
  db.maybeOne<Organization>`select ${organizationColumns} from organizations where slug = ${slug}`;

/** Whether devices of the organization may be shared with this address. */
export async function mayShareWith(db: Db, organizationId: string, email: string): Promise<boolean> {
  const { domains } = await db.one<{ domains: string[] }>`
    select share_domains as domains from organizations where id = ${organizationId}`;
  return domains.length === 0 || domains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase());
}

async function unlessSlugTaken<T>(slug: string, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (violatedConstraint(error) === "organizations_slug_key") throw new SlugTaken(slug);
    throw error;
  }
}

interface OrganizationTable extends ReturnType<typeof columnsFor> {
  id: string;
  created_at: Date;
  updated_at: Date;
}
const organizations = table<OrganizationTable>("organizations");

/** The columns that every write of the settings sets. */
const columnsFor = (settings: OrganizationSettings) => ({
  slug: settings.slug,
  name: settings.name,
  timezone: settings.timezone,
  default_locale: settings.defaultLocale,
  features: settings.features,
  per_minute: settings.perMinute,
  per_hour: settings.perHour,
  retention: settings.retention ?? {},
  gateway_networks: settings.gatewayNetworks ?? [],
  share_domains: settings.shareDomains ?? [],
});

/** The new organization gets the id that the actor acts in: its first audit entry is its own. */
export async function createOrganization(
  tx: Tx,
  settings: OrganizationSettings,
  actor: Actor,
  now: Date,
): Promise<Organization> {
  const row = organizations.insert({
    ...columnsFor(settings),
    id: actor.organizationId,
    created_at: now,
    updated_at: now,
  });
  const organization = await unlessSlugTaken(
    settings.slug,
    tx.one<Organization>(sql`${row} returning ${organizationColumns}`),
  );
  await recordAudit(tx, actor, now, {
    action: "created",
    model: "organization",
    objectPk: organization.id,
    objectRepr: organization.slug,
    changes: changesBetween(null, auditView(organization)),
  });
  await announceIdentityChange(tx);
  return organization;
}

/** Changes what is given. Undefined: there is no such organization. */
export async function updateOrganization(
  tx: Tx,
  organizationId: string,
  changed: Partial<OrganizationSettings>,
  actor: Actor,
  now: Date,
): Promise<Organization | undefined> {
  const before = await tx.maybeOne<Organization>`
    select ${organizationColumns} from organizations where id = ${organizationId} for update`;
  if (!before) return undefined;
  const wanted = { ...before, ...changed };
  const changes = changesBetween(auditView(before), auditView(wanted));
  if (Object.keys(changes).length === 0) return before;
  const after = await unlessSlugTaken(
    wanted.slug,
    tx.one<Organization>(sql`
      update organizations set ${organizations.assign({ ...columnsFor(wanted), updated_at: now })}
      where id = ${organizationId}
      returning ${organizationColumns}`),
  );
  await recordAudit(tx, actor, now, {
    action: "updated",
    model: "organization",
    objectPk: after.id,
    objectRepr: after.slug,
    changes,
  });
  await announceIdentityChange(tx);
  await touchRules(tx, organizationId);
  return after;
}
