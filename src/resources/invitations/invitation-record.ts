import { type Static, Type } from "@sinclair/typebox";
import { type Sql, sql } from "../../db/sql.ts";
import { IntegerEnum, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { roleLabel } from "../../oauth/roles.ts";
import { UserRole } from "../users/user-record.ts";

export const invitationStatuses = { pending: 10, accepted: 20, expired: 30, revoked: 40 } as const;
export type InvitationStatus = (typeof invitationStatuses)[keyof typeof invitationStatuses];

const displays = { 10: "Pending", 20: "Accepted", 30: "Expired", 40: "Revoked" } as const;

const InvitationStatusNumber = IntegerEnum("InvitationStatusEnum", invitationStatuses);
const InvitationStatusDisplay = StringEnum("InvitationStatusDisplayEnum", Object.values(displays));
const InvitationKind = StringEnum("InvitationKindEnum", ["share", "member"]);
const EmailStatus = StringEnum("EmailStatusEnum", ["queued", "sent", "failed"]);

/** The target device and the token are private and never part of it. */
export const Invitation = Type.Object(
  {
    id: Uuid,
    email: Type.String(),
    status: refTo(InvitationStatusNumber),
    status_display: refTo(InvitationStatusDisplay),
    kind: refTo(InvitationKind),
    role: refTo(UserRole),
    invited_by: Nullable(Type.String({ format: "uuid", description: "The person who invited; null for a partner." })),
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: Timestamp,
    accepted_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
    email_status: refTo(EmailStatus),
  },
  { $id: "Invitation" },
);
export type Invitation = Static<typeof Invitation>;

export interface InvitationRow {
  id: string;
  email: string;
  kind: "share" | "member";
  status: InvitationStatus;
  role: number;
  invited_by: string | null;
  created_at: Date;
  updated_at: Date;
  expires_at: Date;
  accepted_at: Date | null;
  revoked_at: Date | null;
  email_status: "queued" | "sent" | "failed";
}

/** An invitation is expired from the moment its time is over, whether or not the sweep has written it down yet. */
const isOverdue = (now: Date): Sql => sql`(i.status = ${invitationStatuses.pending} and i.expires_at <= ${now})`;

export const effectiveStatus = (now: Date): Sql =>
  sql`(case when ${isOverdue(now)} then ${invitationStatuses.expired}::smallint else i.status end)`;

/** Columns and tables of an InvitationRow as it is at the given time. */
export const invitationColumns = (
  now: Date,
): Sql => sql`i.id, i.email, i.kind, ${effectiveStatus(now)} as status, i.role,
  i.invited_by, i.created_at, case when ${isOverdue(now)} then i.expires_at else i.updated_at end as updated_at,
  i.expires_at, i.accepted_at, i.revoked_at,
  coalesce((select mails.status from mails where mails.id = i.mail_id), 'queued') as email_status`;
export const invitationTables = sql`invitations i`;

export const toInvitation = (row: InvitationRow): Invitation => ({
  id: row.id,
  email: row.email,
  status: row.status,
  status_display: displays[row.status],
  kind: row.kind,
  role: roleLabel(row.role),
  invited_by: row.invited_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  accepted_at: row.accepted_at?.toISOString() ?? null,
  revoked_at: row.revoked_at?.toISOString() ?? null,
  email_status: row.email_status,
});
