import { type Static, Type } from "@sinclair/typebox";
import { sql } from "../../db/sql.ts";
import { IntegerEnum, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";

/** Roles of a user on a device. The numbers are stored and give the order; the labels are what the API shows. */
export const assignmentRoles = { owner: 30, assigned: 20, viewer: 10 } as const;
export type AssignmentRole = keyof typeof assignmentRoles;
const assignmentRoleNames = Object.keys(assignmentRoles) as AssignmentRole[];

/** How an assignment came to be: `admin` is one that a person made, `assign` one that a partner made. */
const assignmentSources = ["assign", "share", "invitation", "admin"] as const;
export type AssignmentSource = (typeof assignmentSources)[number];

const AssignmentRoleLabel = StringEnum("AssignmentRoleEnum", assignmentRoleNames);
const AssignmentRoleValue = IntegerEnum("AssignmentRoleValueEnum", assignmentRoles);
const AssignmentSourceLabel = StringEnum("AssignmentSourceEnum", assignmentSources);

const AssignmentDevice = Type.Object({ uid: Type.String(), name: Type.String() }, { $id: "AssignmentDevice" });
const AssignmentUser = Type.Object(
  { id: Uuid, email: Type.String(), first_name: Type.String(), last_name: Type.String() },
  { $id: "AssignmentUser" },
);

export const Assignment = Type.Object(
  {
    id: Uuid,
    device: refTo(AssignmentDevice),
    device_uid: Type.String(),
    user: refTo(AssignmentUser),
    user_id: Uuid,
    role: refTo(AssignmentRoleLabel),
    role_value: refTo(AssignmentRoleValue),
    is_active: Type.Boolean({ description: "False once the assignment is closed." }),
    source: refTo(AssignmentSourceLabel),
    assigned_at: Timestamp,
    unassigned_at: Nullable(Timestamp),
  },
  { $id: "Assignment" },
);
export type Assignment = Static<typeof Assignment>;

export interface AssignmentRow {
  id: string;
  device_uid: string;
  device_name: string;
  user_id: string;
  email: string;
  first_name: string;
  last_name: string;
  role: 10 | 20 | 30;
  is_active: boolean;
  source: AssignmentSource;
  assigned_at: Date;
  unassigned_at: Date | null;
}

/** Columns and tables of an AssignmentRow. Names of the user are those of the membership in this organization. */
export const assignmentColumns = sql`a.id, d.uid as device_uid, d.name as device_name, a.user_id, m.email, m.first_name,
  m.last_name, a.role, a.is_active, a.source, a.assigned_at, a.unassigned_at`;
export const assignmentTables = sql`assignments a
  join devices d on d.id = a.device_id and d.organization_id = a.organization_id
  join memberships m on m.user_id = a.user_id and m.organization_id = a.organization_id`;

export function assignmentRoleLabel(number: number): AssignmentRole {
  const label = assignmentRoleNames.find((role) => assignmentRoles[role] === number);
  if (!label) throw new Error(`unknown assignment role number ${number}`);
  return label;
}

export const toAssignment = (row: AssignmentRow): Assignment => ({
  id: row.id,
  device: { uid: row.device_uid, name: row.device_name },
  device_uid: row.device_uid,
  user: { id: row.user_id, email: row.email, first_name: row.first_name, last_name: row.last_name },
  user_id: row.user_id,
  role: assignmentRoleLabel(row.role),
  role_value: row.role,
  is_active: row.is_active,
  source: row.source,
  assigned_at: row.assigned_at.toISOString(),
  unassigned_at: row.unassigned_at?.toISOString() ?? null,
});
