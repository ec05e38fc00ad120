import type { Tx } from "../../db/database.ts";
import { newUuid } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { Actor } from "../../oauth/actor.ts";
import { announceIdentityChange } from "../../oauth/identity-changes.ts";
import { type MemberRole, roleLabel, roleNumbers } from "../../oauth/roles.ts";
import { type Changes, masked, recordAudit } from "../audit/audit-store.ts";

export interface NewMember {
  /** In lower case. */
  email: string;
  role: MemberRole;
  /** Kept only if the person has no password yet: nobody but the person changes it. */
  passwordHash: string | null;
}

export interface Member {
  userId: string;
  email: string;
  role: MemberRole;
  portalActive: boolean;
}

export type AddedMember =
  | { kind: "added" | "reopened"; member: Member; passwordStored: boolean }
  | { kind: "already_member"; role: MemberRole };

interface UserRow {
  id: string;
  password_hash: string | null;
}
interface MembershipRow {
  role: number;
  closed_at: Date | null;
}

/** Makes the person if the address is new, and opens a membership with the role. */
export async function addMember(
  tx: Tx,
  organizationId: string,
  input: NewMember,
  actor: Actor,
  now: Date,
): Promise<AddedMember> {
  await tx.run`
    insert into users (id, email, password_hash, created_at, updated_at)
    values (${newUuid()}, ${input.email}, null, ${now}, ${now})
    on conflict (email) do nothing`;
  const user = await tx.one<UserRow>`select id, password_hash from users where email = ${input.email} for update`;
  const membership = await tx.maybeOne<MembershipRow>`
    select role, closed_at from memberships
    where organization_id = ${organizationId} and user_id = ${user.id} for update`;
  if (membership && membership.closed_at === null) return { kind: "already_member", role: roleLabel(membership.role) };

  const changes = membership
    ? await reopenMembership(tx, organizationId, user.id, input.role, membership, now)
    : await insertMembership(tx, organizationId, user.id, input, now);
  const passwordStored = input.passwordHash !== null && user.password_hash === null;
  if (passwordStored) {
    await tx.run`update users set password_hash = ${input.passwordHash}, updated_at = ${now} where id = ${user.id}`;
    changes.password = [null, masked];
  }
  await recordAudit(tx, actor, now, {
    action: membership ? "updated" : "created",
    model: "user",
    objectPk: user.id,
    objectRepr: input.email,
    changes,
  });
  await announceIdentityChange(tx);
  const portalActive = passwordStored || user.password_hash !== null;
  return {
    kind: membership ? "reopened" : "added",
    member: { userId: user.id, email: input.email, role: input.role, portalActive },
    passwordStored,
  };
}

async function insertMembership(
  tx: Tx,
  organizationId: string,
  userId: string,
  { email, role }: NewMember,
  now: Date,
): Promise<Changes> {
  await tx.run`
    insert into memberships (id, organization_id, user_id, email, role, first_name, last_name, phone_number, search,
      joined_at, created_at, updated_at)
    values (${newUuid()}, ${organizationId}, ${userId}, ${email}, ${roleNumbers[role]}, '', '', '',
      ${searchText([email, "", "", ""])}, ${now}, ${now}, ${now})`;
  return { email: [null, email], role: [null, role], is_active: [null, true] };
}

async function reopenMembership(
  tx: Tx,
  organizationId: string,
  userId: string,
  role: MemberRole,
  before: MembershipRow,
  now: Date,
): Promise<Changes> {
  await tx.run`
    update memberships set closed_at = null, role = ${roleNumbers[role]}, updated_at = ${now}
    where organization_id = ${organizationId} and user_id = ${userId}`;
  const oldRole = roleLabel(before.role);
  return { is_active: [false, true], ...(oldRole === role ? {} : { role: [oldRole, role] as [unknown, unknown] }) };
}
