import type { Principal } from "../../http/principal.ts";
import { lastOwner, roleNotAllowed, roleProtected } from "../../lib/errors.ts";
import { type MemberRole, memberRoles } from "../../oauth/roles.ts";

/** Who asks for a role: a partner (null) or a person with a role. */
export type RoleGranter = MemberRole | null;

export const granterOf = (principal: Principal): RoleGranter =>
  principal.kind === "partner" ? null : principal.person.role;

/** A role in any case. */
export const parseRole = (text: string): MemberRole | undefined =>
  memberRoles.find((role) => role === text.toUpperCase());

/**
 * What is wrong with the value itself. A role that the member has already is never wrong. That an ADMIN may not give OWNER is
 * a matter of the caller's rights, not of the value.
 */
export function roleErrors(granter: RoleGranter, text: string, current: MemberRole | undefined): string[] {
  const role = parseRole(text);
  const isKnown = role !== undefined;
  const isSettable = granter !== null || role === "VIEWER" || role === "USER";
  return isKnown && (role === current || isSettable) ? [] : [`"${text.slice(0, 100)}" is not a valid choice.`];
}

/** Refuses a role that the caller may not give. */
export function checkGrantedRole(granter: RoleGranter, role: MemberRole): void {
  if (role === "OWNER" && granter !== "OWNER") throw roleNotAllowed();
}

/** Refuses to take a role from a member, by demotion or removal, that the caller may not take or that must not be lost. */
export function checkRevokedRole(granter: RoleGranter, role: MemberRole, isLastOwner: boolean): void {
  if (granter === null && (role === "ADMIN" || role === "OWNER")) throw roleProtected();
  if (role === "OWNER" && granter !== "OWNER") throw roleNotAllowed();
  if (isLastOwner) throw lastOwner();
}
