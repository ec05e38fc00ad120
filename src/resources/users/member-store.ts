import type { Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { newUuid } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { Actor } from "../../oauth/actor.ts";
import { type MemberRole, roleLabel, roleNumbers } from "../../oauth/roles.ts";
import { changesBetween, masked, recordAudit } from "../audit/audit-store.ts";
import { findUserByEmail, type UserRow, userColumns, userTables } from "./user-record.ts";

/** What an organization knows of a member. */
export interface MemberProfile {
  /** In lower case. */
  email: string;
  firstName: string;
  lastName: string;
  phoneNumber: string;
  role: MemberRole;
}

export interface EnsuredMember {
  /** The person was unknown; was known elsewhere only; is a member already, unchanged; had been one. */
  kind: "created" | "attached" | "open" | "reopened";
  /** In any organization. */
  userExisted: boolean;
  user: UserRow;
  passwordStored: boolean;
}

/** A member as the audit log compares it. */
export const auditViewOfMember = (row: UserRow): Record<string, unknown> => ({
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  phone_number: row.phone_number,
  role: roleLabel(row.role),
  is_active: row.closed_at === null,
});

/**
 * Makes the person if the address is new, and opens a membership with the role and profile. An open membership keeps both.
 * Exact under parallel calls: the person's row is the lock. A password hash is kept only if the person has no password yet,
 * because nobody but the person changes it.
 */
export async function ensureMember(
  tx: Tx,
  organizationId: string,
  profile: MemberProfile,
  actor: Actor,
  now: Date,
  passwordHash: string | null = null,
): Promise<EnsuredMember> {
  const made = await tx.run`
    insert into users (id, email, password_hash, created_at, updated_at)
    values (${newUuid()}, ${profile.email}, null, ${now}, ${now})
    on conflict (email) do nothing`;
  const userExisted = made === 0;
  const person = await tx.one<{ id: string; has_password: boolean }>`
    select id, password_hash is not null as has_password from users where email = ${profile.email} for no key update`;
  const before = await tx.maybeOne<UserRow>(sql`
    select ${userColumns} from ${userTables}
    where m.organization_id = ${organizationId} and m.user_id = ${person.id} for no key update of m`);
  if (before && before.closed_at === null) return { kind: "open", userExisted, user: before, passwordStored: false };

  const passwordStored = passwordHash !== null && !person.has_password;
  if (passwordStored) {
    await tx.run`update users set password_hash = ${passwordHash}, updated_at = ${now} where id = ${person.id}`;
  }
  const user = before
    ? await reopenMembership(tx, organizationId, person.id, profile, now)
    : await insertMembership(tx, organizationId, person.id, profile, now);
  const changes = changesBetween(before ? auditViewOfMember(before) : null, auditViewOfMember(user));
  if (passwordStored) changes.password = [null, masked];
  await recordAudit(tx, actor, now, {
    action: before ? "updated" : "created",
    model: "user",
    objectPk: user.id,
    objectRepr: user.email,
    changes,
  });
  const kind = before ? "reopened" : userExisted ? "attached" : "created";
  return { kind, userExisted, user, passwordStored };
}

interface MembershipTable {
  id: string;
  organization_id: string;
  user_id: string;
  email: string;
  role: number;
  first_name: string;
  last_name: string;
  phone_number: string;
  search: string;
  joined_at: Date;
  closed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}
export const memberships = table<MembershipTable>("memberships", "m");

/** The columns that every write of a profile sets. */
export const profileColumns = (profile: MemberProfile) => ({
  role: roleNumbers[profile.role],
  first_name: profile.firstName,
  last_name: profile.lastName,
  phone_number: profile.phoneNumber,
  search: searchText([profile.email, profile.firstName, profile.lastName, profile.phoneNumber]),
});

const insertMembership = (
  tx: Tx,
  organizationId: string,
  userId: string,
  profile: MemberProfile,
  now: Date,
): Promise<UserRow> => {
  const row = memberships.insert({
    ...profileColumns(profile),
    id: newUuid(),
    organization_id: organizationId,
    user_id: userId,
    email: profile.email,
    joined_at: now,
    closed_at: null,
    created_at: now,
    updated_at: now,
  });
  return tx.one<UserRow>(sql`${row} returning ${userColumns}`);
};

/** The same membership goes on, with a new beginning: `joined_at` moves, `created_at` stays. */
const reopenMembership = (
  tx: Tx,
  organizationId: string,
  userId: string,
  profile: MemberProfile,
  now: Date,
): Promise<UserRow> =>
  tx.one<UserRow>(sql`
    update memberships m
    set ${memberships.assign({ ...profileColumns(profile), closed_at: null, joined_at: now, updated_at: now })}
    where m.organization_id = ${organizationId} and m.user_id = ${userId}
    returning ${userColumns}`);

export interface NewMember {
  /** In lower case. */
  email: string;
  role: MemberRole;
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

/** Adds a member of whom the operator gives no profile: one that was kept from before is kept. */
export async function addMember(
  tx: Tx,
  organizationId: string,
  { email, role, passwordHash }: NewMember,
  actor: Actor,
  now: Date,
): Promise<AddedMember> {
  const known = await findUserByEmail(tx, organizationId, email);
  const profile = {
    email,
    role,
    firstName: known?.first_name ?? "",
    lastName: known?.last_name ?? "",
    phoneNumber: known?.phone_number ?? "",
  };
  const { kind, user, passwordStored } = await ensureMember(tx, organizationId, profile, actor, now, passwordHash);
  if (kind === "open") return { kind: "already_member", role: roleLabel(user.role) };
  const member = { userId: user.id, email, role, portalActive: user.portal_active };
  return { kind: kind === "reopened" ? "reopened" : "added", member, passwordStored };
}
