import { retainedTables } from "../../src/resources/organizations/retention.ts";
import type { Organization } from "../api/types.ts";

/** The settings of an organization as texts of a form. */
export interface OrganizationDraft {
  name: string;
  slug: string;
  timezone: string;
  default_locale: string;
  features: readonly string[];
  perMinute: string;
  perHour: string;
  /** Days by kind of history; empty: kept for ever. */
  retention: Readonly<Record<string, string>>;
  networks: string;
  domains: string;
}

export const newOrganization: OrganizationDraft = {
  name: "",
  slug: "",
  timezone: "UTC",
  default_locale: "en",
  features: [],
  perMinute: "600",
  perHour: "20000",
  retention: {},
  networks: "",
  domains: "",
};

export const organizationDraft = (one: Organization): OrganizationDraft => ({
  name: one.name,
  slug: one.slug,
  timezone: one.timezone,
  default_locale: one.default_locale,
  features: one.features,
  perMinute: String(one.rate_limits.per_minute),
  perHour: String(one.rate_limits.per_hour),
  retention: Object.fromEntries(Object.entries(one.retention).map(([table, days]) => [table, String(days)])),
  networks: one.gateway_networks.join(", "),
  domains: one.share_domains.join(", "),
});

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== "");

/** What is sent; an empty slug is left to the service. */
export const organizationBody = (draft: OrganizationDraft) => ({
  name: draft.name,
  ...(draft.slug.trim() !== "" && { slug: draft.slug.trim() }),
  timezone: draft.timezone.trim(),
  default_locale: draft.default_locale,
  features: draft.features,
  rate_limits: { per_minute: Number(draft.perMinute), per_hour: Number(draft.perHour) },
  retention: Object.fromEntries(
    retainedTables.flatMap((table) => {
      const days = draft.retention[table]?.trim() ?? "";
      return days === "" ? [] : [[table, Number(days)]];
    }),
  ),
  gateway_networks: listOf(draft.networks),
  share_domains: listOf(draft.domains),
});
