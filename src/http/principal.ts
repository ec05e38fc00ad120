import type { Actor, Origin } from "../oauth/actor.ts";
import type { OperatorIdentity } from "../oauth/operator-store.ts";
import type { OrganizationIdentity } from "../oauth/organization-identity.ts";
import type { PersonIdentity } from "../oauth/person-store.ts";
import type { PartnerIdentity } from "../oauth/token-store.ts";

/**
 * Who calls within an organization: a partner's integration or a member. `id` is the one of the integration or the user, not of
 * the token.
 */
export type Principal = PartnerPrincipal | PersonPrincipal;

/** Who calls. An operator has no organization, so no handler of an organization's data can be given one. */
export type Caller = Principal | OperatorPrincipal;

export interface OperatorPrincipal {
  kind: "operator";
  id: string;
  operator: OperatorIdentity;
  /** Of a browser with a cookie; null for a bearer token. */
  browserSessionId: string | null;
}

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

/** Whose share of what all use a call takes. */
export const tenantOf = (caller: Caller): string => (caller.kind === "operator" ? "operators" : caller.organization.id);

export const operatorPrincipal = (
  operator: OperatorIdentity,
  browserSessionId: string | null = null,
): OperatorPrincipal => ({ kind: "operator", id: operator.userId, operator, browserSessionId });

/** An operator who changes something of an organization: its audit log names the person. */
export const operatorActor = ({ id, operator }: OperatorPrincipal, organizationId: string, origin: Origin): Actor => ({
  organizationId,
  by: { type: "users", id, email: operator.email, fullName: "", via: "operator" },
  ...origin,
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
