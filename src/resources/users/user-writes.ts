import type { Tx } from "../../db/database.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { isAtLeast, type MemberRole, roleLabel } from "../../oauth/roles.ts";
import { closeMember, lockMember, updateMember } from "./member-changes.ts";
import { type EnsuredMember, ensureMember } from "./member-store.ts";
import { checkGrantedRole, checkRevokedRole, parseRole, type RoleGranter, roleErrors } from "./role-rules.ts";
import { toUser, type UserRow } from "./user-record.ts";
import { type PatchedUserRequest, readOnlyUserFields, type UserRequest } from "./user-requests.ts";

/** Who writes into which organization. */
export interface UserWriter {
  organizationId: string;
  granter: RoleGranter;
  actor: Actor;
  now: Date;
  /** Called when a member may no longer give roles that they could give before. */
  onRightsLost: OnRightsLost;
}

/** `role` is what is left; null: the membership is closed. */
export type OnRightsLost = (
  tx: Tx,
  organizationId: string,
  member: { userId: string; role: MemberRole | null },
  actor: Actor,
  now: Date,
) => Promise<void>;

/**
 * Adds a member or finds the one there is. The rules compare the body with the record as it will be, so they are looked at
 * after the write; a refusal undoes it with the transaction.
 */
export async function createUser(tx: Tx, writer: UserWriter, body: UserRequest): Promise<EnsuredMember> {
  const { organizationId, granter, actor, now } = writer;
  const { role: roleText = "USER" } = body;
  const role = parseRole(roleText);
  if (!role) throw validationError({ role: roleErrors(granter, roleText, undefined) });
  const profile = {
    email: body.email.toLowerCase(),
    firstName: body.first_name ?? "",
    lastName: body.last_name ?? "",
    phoneNumber: body.phone_number ?? "",
    role,
  };
  const ensured = await ensureMember(tx, organizationId, profile, actor, now);
  const kept = ensured.kind === "open" ? roleLabel(ensured.user.role) : undefined;
  refuseReadOnly({ ...body, email: profile.email }, readOnlyUserFields, [toUser(ensured.user)], { isCreate: true });
  refuseRole(roleErrors(granter, roleText, kept));
  if (role !== kept) checkGrantedRole(granter, role);
  return ensured;
}

/** Changes what is sent of an open membership. */
export async function patchUser(
  tx: Tx,
  writer: UserWriter,
  userId: string,
  body: PatchedUserRequest,
): Promise<UserRow> {
  const { organizationId, granter, actor, now } = writer;
  const locked = await lockMember(tx, organizationId, userId);
  if (!locked) throw notFound();
  const current = roleLabel(locked.user.role);
  refuseReadOnly(withLowerCaseEmail(body), readOnlyUserFields, [toUser(locked.user)]);
  if (body.role !== undefined) refuseRole(roleErrors(granter, body.role, current));
  const role: MemberRole = parseRole(body.role ?? current) ?? current;
  if (role !== current) {
    checkRevokedRole(granter, current, locked.isLastOwner);
    checkGrantedRole(granter, role);
  }
  const { first_name: firstName, last_name: lastName, phone_number: phoneNumber } = body;
  const profile = { firstName, lastName, phoneNumber, role };
  const updated = await updateMember(tx, organizationId, locked.user, profile, actor, now);
  if (!isAtLeast(role, current)) await writer.onRightsLost(tx, organizationId, { userId, role }, actor, now);
  return updated;
}

export async function removeUser(tx: Tx, writer: UserWriter, userId: string): Promise<void> {
  const { organizationId, granter, actor, now } = writer;
  const locked = await lockMember(tx, organizationId, userId);
  if (!locked) throw notFound();
  checkRevokedRole(granter, roleLabel(locked.user.role), locked.isLastOwner);
  await closeMember(tx, organizationId, locked.user, actor, now);
  await writer.onRightsLost(tx, organizationId, { userId, role: null }, actor, now);
}

function refuseRole(messages: string[]): void {
  if (messages.length > 0) throw validationError({ role: messages });
}

/** Addresses compare without case, also where they may only stay the same. */
const withLowerCaseEmail = (body: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  typeof body.email === "string" ? { ...body, email: body.email.toLowerCase() } : { ...body };
