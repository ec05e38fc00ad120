import type { Actor } from "../oauth/actor.ts";
import type { OrganizationIdentity } from "../oauth/organization-identity.ts";
import type { PersonIdentity } from "../oauth/person-store.ts";
import type { PartnerIdentity } from "../oauth/token-store.ts";

/** Who calls: a partner's integration or a person. `id` is the one of the integration or the user, not of the token. */
export type Principal = PartnerPrincipal | PersonPrincipal;

export interface PartnerPrincipal {
  kind: "partner";
  id: string;
  organization: OrganizationIdentity;
  partner: PartnerIdentity;
}

export interface PersonPrincipal {
  kind: "person";
  id: string;
  organization: OrganizationIdentity;
  person: PersonIdentity;
  /** Of a browser with a cookie; null for a bearer token. */
  browserSessionId: string | null;
  /** When a bearer token ends; null for a cookie. */
  expiresAtMs: number | null;
}

export const partnerPrincipal = (partner: PartnerIdentity): PartnerPrincipal => ({
  kind: "partner",
  id: partner.integrationId,
  organization: partner.organization,
  partner,
});

export const personPrincipal = (
  person: PersonIdentity,
  {
    browserSessionId = null,
    expiresAtMs = null,
  }: Partial<Pick<PersonPrincipal, "browserSessionId" | "expiresAtMs">> = {},
): PersonPrincipal => ({
  kind: "person",
  id: person.userId,
  organization: person.organization,
  person,
  browserSessionId,
  expiresAtMs,
});

export function actorOf(principal: Principal, requestId: string, remoteAddr: string): Actor {
  return {
    organizationId: principal.organization.id,
    by:
      principal.kind === "partner"
        ? { type: "partners", integrationId: principal.id, integrationName: principal.partner.integrationName }
        : { type: "users", id: principal.id, email: principal.person.email, fullName: principal.person.fullName },
    correlationId: requestId,
    remoteAddr,
  };
}
