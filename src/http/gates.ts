import {
  featureNotEnabled,
  insufficientScope,
  partnerTokenRequired,
  roleNotAllowed,
  scopeNotAvailable,
} from "../lib/errors.ts";
import { isAtLeast } from "../oauth/roles.ts";
import type { Caller, Principal } from "./principal.ts";
import type { Route } from "./route.ts";

/** Steps 3 to 6 of the order of checks: surface, kind of principal, feature, scope or role. The first failure answers. */
export function passGates(route: Route | undefined, principal: Caller): void {
  if (principal.kind === "operator") {
    if (!route) throw scopeNotAvailable();
    if (!route.operators) throw roleNotAllowed();
    return;
  }
  if (!route || (principal.kind === "partner" && route.partners === "never")) throw scopeNotAvailable();
  if (principal.kind === "person" && route.people === "never") {
    throw route.operators ? roleNotAllowed() : partnerTokenRequired();
  }
  if (route.feature !== undefined && !hasFeature(principal, route.feature)) throw featureNotEnabled(route.feature);
  if (principal.kind === "partner") requireScopes(principal.partner.scopes, route.partners as readonly string[]);
  else if (!isAtLeast(principal.person.role, route.people as Exclude<Route["people"], "never">)) throw roleNotAllowed();
}

/** The messaging opt-in concerns integrations only; every other feature is one of the organization. */
export function hasFeature(principal: Principal, feature: string): boolean {
  if (feature === "messaging") return principal.kind === "person" || principal.partner.messagingEnabled;
  return principal.organization.features.has(feature);
}

function requireScopes(granted: ReadonlySet<string>, required: readonly string[]): void {
  if (!required.every((scope) => granted.has(scope))) throw insufficientScope(required);
}
