import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { type Organization, organizationColumns } from "./organization-store.ts";

/** An organization as the command line prints it and operators see it. */
export const toOrganizationRecord = (organization: Organization) => ({
  id: organization.id,
  slug: organization.slug,
  name: organization.name,
  timezone: organization.timezone,
  default_locale: organization.defaultLocale,
  features: organization.features,
  rate_limits: { per_minute: organization.perMinute, per_hour: organization.perHour },
  retention: organization.retention ?? {},
  gateway_networks: organization.gatewayNetworks,
  share_domains: organization.shareDomains,
  created_at: organization.createdAt,
});

export type OrganizationRecord = ReturnType<typeof toOrganizationRecord>;

export interface CountedOrganization extends Organization {
  devices: number;
  members: number;
}

export const toCountedRecord = (organization: CountedOrganization) => ({
  ...toOrganizationRecord(organization),
  devices: organization.devices,
  members: organization.members,
});

export const organizationList = defineList({
  kind: "page",
  ordering: ["slug", "name", "created_at"],
  defaultOrdering: "slug",
  searches: "slug, name",
  filters: {},
});

/** All organizations of the service: for operators alone. */
export const pageOrganizations = (db: Db, query: ListQuery): Promise<ListPage<CountedOrganization>> =>
  sqlPage<CountedOrganization>(db, query, {
    select: sql`${organizationColumns},
      (select count(*) from devices d where d.organization_id = organizations.id and d.deleted_at is null) as devices,
      (select count(*) from memberships m where m.organization_id = organizations.id and m.is_open) as members`,
    from: sql`organizations`,
    where: [sql`true`],
    search: sql`lower(slug || ' ' || name)`,
    ordering: { slug: { column: sql`slug` }, name: { column: sql`name` }, created_at: { column: sql`created_at` } },
    key: sql`id`,
  });
