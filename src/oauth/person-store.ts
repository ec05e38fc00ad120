import type { Db } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import {
  type OrganizationIdentity,
  type OrganizationRow,
  organizationColumns,
  toOrganizationIdentity,
} from "./organization-identity.ts";
import { type MemberRole, roleLabel } from "./roles.ts";

/** A person as a caller: the open membership behind a session, read on every call. */
export interface PersonIdentity {
  userId: string;
  membershipId: string;
  joinedAt: Date;
  /** Null: the password is the first one. Sessions that began before it are over. */
  passwordChangedAt: Date | null;
  email: string;
  fullName: string;
  role: MemberRole;
  organization: OrganizationIdentity;
}

export interface PersonRow extends OrganizationRow {
  user_id: string;
  membership_id: string;
  joined_at: Date;
  password_changed_at: Date | null;
  email: string;
  first_name: string;
  last_name: string;
  role: number;
}

/** Of memberships m, organizations o and users u. */
export const personColumns: Sql = sql`m.user_id, m.id as membership_id, m.joined_at, u.password_changed_at, m.email,
      m.first_name, m.last_name, m.role, ${organizationColumns}`;

export const fullNameOf = (firstName: string, lastName: string): string => `${firstName} ${lastName}`.trim();

export const toPersonIdentity = (row: PersonRow): PersonIdentity => ({
  userId: row.user_id,
  membershipId: row.membership_id,
  joinedAt: row.joined_at,
  passwordChangedAt: row.password_changed_at,
  email: row.email,
  fullName: fullNameOf(row.first_name, row.last_name),
  role: roleLabel(row.role),
  organization: toOrganizationIdentity(row),
});

/** Undefined when the membership is closed: that ends the session. */
export async function findPerson(db: Db, organizationId: string, userId: string): Promise<PersonIdentity | undefined> {
  const row = await db.maybeOne<PersonRow>`
    select ${personColumns}
    from memberships m
    join organizations o on o.id = m.organization_id
    join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and m.user_id = ${userId} and m.closed_at is null`;
  return row && toPersonIdentity(row);
}
