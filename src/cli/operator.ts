import type { Db } from "../db/database.ts";
import type { Actor } from "../oauth/actor.ts";
import { findOrganizationBySlug, type Organization } from "../resources/organizations/organization-store.ts";
import { CommandError } from "./command.ts";

/** The audit log shows what the command line does as done by the system. */
export const operatorIn = (organizationId: string): Actor => ({
  organizationId,
  by: { type: "system", via: "cli" },
  correlationId: null,
  remoteAddr: null,
});

export const organizationMissing = (slug: string): CommandError =>
  new CommandError(`there is no organization "${slug}": "vigil org list" shows them, "vigil org create" creates one`);

export async function getOrganization(db: Db, slug: string): Promise<Organization> {
  const organization = await findOrganizationBySlug(db, slug.trim().toLowerCase());
  if (!organization) throw organizationMissing(slug);
  return organization;
}
