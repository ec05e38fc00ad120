import { type Static, Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { memberRoles, roleLabel } from "../../oauth/roles.ts";

export const UserRole = StringEnum("UserRoleEnum", memberRoles);

const userFields = {
  id: Uuid,
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  full_name: Type.String(),
  phone_number: Type.String(),
  role: refTo(UserRole),
  is_active: Type.Boolean({ description: "True while the membership is open." }),
  portal_active: Type.Boolean({ description: "True once the person has set a password." }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A member as lists show it. Everything but id, e-mail and portal_active belongs to the membership, not to the person. */
export const User = Type.Object(userFields, { $id: "User" });
export type User = Static<typeof User>;

export const CreatedUser = Type.Object(
  {
    ...userFields,
    merged: Type.Optional(
      Type.Boolean({
        description: "Present, and true, when the person already existed and only the membership is new.",
      }),
    ),
  },
  { $id: "CreatedUser" },
);
export type CreatedUser = Static<typeof CreatedUser>;

const Membership = Type.Object(
  { id: Uuid, joined_at: Timestamp, closed_at: Nullable(Timestamp) },
  { $id: "Membership" },
);

export const UserDetail = Type.Object(
  {
    ...userFields,
    device_count: Type.Integer({ description: "Active assignments." }),
    membership: refTo(Membership),
  },
  { $id: "UserDetail" },
);
export type UserDetail = Static<typeof UserDetail>;

export interface UserRow {
  id: string;
  membership_id: string;
  email: string;
  first_name: string;
  last_name: string;
  phone_number: string;
  role: number;
  portal_active: boolean;
  joined_at: Date;
  closed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/**
 * Columns and tables of a UserRow, for every query that reads members. The person is looked up per row that is shown and not
 * joined, so that counting an organization's members never touches the people of all organizations.
 */
export const userColumns = sql`m.user_id as id, m.id as membership_id, m.email, m.first_name, m.last_name, m.phone_number,
  m.role, (select u.password_hash is not null from users u where u.id = m.user_id) as portal_active, m.joined_at,
  m.closed_at, m.created_at, m.updated_at`;
export const userTables = sql`memberships m`;

export const toUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  full_name: fullNameOf(row.first_name, row.last_name),
  phone_number: row.phone_number,
  role: roleLabel(row.role),
  is_active: row.closed_at === null,
  portal_active: row.portal_active,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const toUserDetail = (row: UserRow, deviceCount: number): UserDetail => ({
  ...toUser(row),
  device_count: deviceCount,
  membership: {
    id: row.membership_id,
    joined_at: row.joined_at.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
  },
});

export const findUser = (db: Db, organizationId: string, userId: string): Promise<UserRow | undefined> =>
  db.maybeOne<UserRow>(sql`
    select ${userColumns} from ${userTables} where m.organization_id = ${organizationId} and m.user_id = ${userId}`);

export const findUserByEmail = (db: Db, organizationId: string, email: string): Promise<UserRow | undefined> =>
  db.maybeOne<UserRow>(sql`
    select ${userColumns} from ${userTables}
    where m.organization_id = ${organizationId} and m.user_id = (select id from users where email = ${email})`);

export async function countDevicesOfUser(db: Db, organizationId: string, userId: string): Promise<number> {
  const { count } = await db.one<{ count: number }>`
    select count(*) as count from assignments
    where user_id = ${userId} and organization_id = ${organizationId} and is_active`;
  return count;
}
