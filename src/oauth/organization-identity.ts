import { sql } from "../db/sql.ts";

/** What every call needs to know of the organization it belongs to. */
export interface OrganizationIdentity {
  id: string;
  slug: string;
  name: string;
  timezone: string;
  defaultLocale: string;
  features: ReadonlySet<string>;
  perMinute: number;
  perHour: number;
}

export interface OrganizationRow {
  organization_id: string;
  slug: string;
  name: string;
  timezone: string;
  default_locale: string;
  features: string[];
  per_minute: number;
  per_hour: number;
}

/** The columns of an OrganizationRow, of the table organizations as `o`. */
export const organizationColumns = sql`o.id as organization_id, o.slug, o.name, o.timezone, o.default_locale, o.features,
  o.per_minute, o.per_hour`;

export const toOrganizationIdentity = (row: OrganizationRow): OrganizationIdentity => ({
  id: row.organization_id,
  slug: row.slug,
  name: row.name,
  timezone: row.timezone,
  defaultLocale: row.default_locale,
  features: new Set(row.features),
  perMinute: row.per_minute,
  perHour: row.per_hour,
});

/** The quotas of each integration of the organization. */
export const ratePoliciesOf = ({ perMinute, perHour }: Pick<OrganizationIdentity, "perMinute" | "perHour">) => [
  { name: "per_minute", quota: perMinute, windowSeconds: 60 },
  { name: "per_hour", quota: perHour, windowSeconds: 3600 },
];
