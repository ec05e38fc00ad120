import type { Db, Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { assignmentExists, assignmentNotFound, notFound, ownerExists, userNotFound } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import type { Actor } from "../../oauth/actor.ts";
import { recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import {
  type AssignmentRole,
  type AssignmentRow,
  type AssignmentSource,
  assignmentColumns,
  assignmentRoleLabel,
  assignmentRoles,
  assignmentTables,
} from "./assignment-record.ts";
import type { FormerHold } from "./holder-store.ts";

/**
 * Who holds which device. Every new assignment is made under the lock of its device, so that "one active owner" and "one
 * active assignment per user" are checked against what is true, and parallel calls get the documented refusals; the unique
 * indexes would only turn a mistake here into an error. A user's membership is held open meanwhile.
 */

export interface HeldDevice {
  id: string;
  uid: string;
}

export interface HeldMember {
  user_id: string;
  email: string;
}

/**
 * Undefined once the device is deleted. The lock lets rows that refer to the device through (packets, commands) and keeps
 * out changes of the device and other assignments of it. It comes before the locks of members and invitations.
 */
export const holdLiveDevice = (tx: Tx, organizationId: string, deviceId: string): Promise<HeldDevice | undefined> =>
  tx.maybeOne<HeldDevice>`
    select id, uid from devices
    where organization_id = ${organizationId} and id = ${deviceId} and deleted_at is null for no key update`;

/** An open membership, kept open until the transaction ends. */
export const holdOpenMember = (
  tx: Tx,
  organizationId: string,
  who: { userId: string } | { email: string },
): Promise<HeldMember | undefined> =>
  tx.maybeOne<HeldMember>(sql`
    select user_id, email from memberships
    where organization_id = ${organizationId} and is_open
      and ${"userId" in who ? sql`user_id = ${who.userId}` : sql`email = ${who.email}`} for share`);

const findAssignment = (db: Db, organizationId: string, condition: Sql): Promise<AssignmentRow | undefined> =>
  db.maybeOne<AssignmentRow>(sql`
    select ${assignmentColumns} from ${assignmentTables}
    where a.organization_id = ${organizationId} and ${condition}`);

async function getAssignment(db: Db, organizationId: string, id: string): Promise<AssignmentRow> {
  const row = await findAssignment(db, organizationId, sql`a.id = ${id}`);
  if (!row) throw new Error(`assignment ${id} was just written`);
  return row;
}

export const findActiveAssignment = (
  db: Db,
  organizationId: string,
  deviceId: string,
  userId: string,
): Promise<AssignmentRow | undefined> =>
  findAssignment(db, organizationId, sql`a.device_id = ${deviceId} and a.user_id = ${userId} and a.is_active`);

export interface NewAssignment {
  device: HeldDevice;
  member: HeldMember;
  role: AssignmentRole;
  source: AssignmentSource;
}

interface AssignmentTable
  extends Pick<AssignmentRow, "id" | "user_id" | "role" | "is_active" | "source" | "assigned_at"> {
  organization_id: string;
  device_id: string;
  search: string;
}
const assignments = table<AssignmentTable>("assignments");

/** Needs the lock of the device, and that the user has no active assignment of it. */
export async function createAssignment(
  tx: Tx,
  organizationId: string,
  { device, member, role, source }: NewAssignment,
  actor: Actor,
  now: Date,
): Promise<AssignmentRow> {
  const id = newUuid();
  const row = assignments.insert({
    id,
    organization_id: organizationId,
    device_id: device.id,
    user_id: member.user_id,
    role: assignmentRoles[role],
    is_active: true,
    source,
    search: searchText([member.email, device.uid]),
    assigned_at: now,
  });
  await tx.run(row);
  await recordAudit(tx, actor, now, {
    action: "created",
    model: "assignment",
    objectPk: id,
    objectRepr: reprOf(member.email, device.uid),
    changes: {
      device: [null, device.uid],
      user: [null, member.email],
      role: [null, role],
      source: [null, source],
      is_active: [null, true],
    },
  });
  return getAssignment(tx, organizationId, id);
}

const reprOf = (email: string, uid: string): string => `${email} → ${uid}`;

/** Assigns a member as owner or assigned; viewers come from sharing. */
export async function assignUser(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  input: { userId: string; role: "owner" | "assigned"; source: AssignmentSource },
  actor: Actor,
  now: Date,
): Promise<AssignmentRow> {
  const device = await holdLiveDevice(tx, organizationId, deviceId);
  if (!device) throw notFound();
  const member = await holdOpenMember(tx, organizationId, { userId: input.userId });
  if (!member) throw userNotFound();
  if (await findActiveAssignment(tx, organizationId, deviceId, input.userId)) throw assignmentExists();
  if (input.role === "owner" && (await hasActiveOwner(tx, organizationId, deviceId))) throw ownerExists();
  const { role, source } = input;
  const assignment = await createAssignment(tx, organizationId, { device, member, role, source }, actor, now);
  const before: FormerHold = { userId: input.userId, isHolder: false };
  await touchRules(tx, organizationId, { kind: "device", id: deviceId, before });
  return assignment;
}

const hasActiveOwner = async (db: Db, organizationId: string, deviceId: string): Promise<boolean> =>
  (await db.maybeOne`
    select 1 from assignments
    where organization_id = ${organizationId} and device_id = ${deviceId} and is_active
      and role = ${assignmentRoles.owner}`) !== undefined;

/** Ends the user's hold on the device in one of the given roles. Of parallel calls one finds something to close. */
export async function unassignUser(
  tx: Tx,
  organizationId: string,
  target: { deviceId: string; userId: string; roles: readonly AssignmentRole[] },
  actor: Actor,
  now: Date,
): Promise<AssignmentRow> {
  const roles = target.roles.map((role) => assignmentRoles[role]);
  const [closed] = await closeAssignments(
    tx,
    organizationId,
    sql`a.device_id = ${target.deviceId} and a.user_id = ${target.userId} and a.role = any(${roles})`,
    actor,
    now,
  );
  if (!closed) throw assignmentNotFound();
  const assignment = await getAssignment(tx, organizationId, closed.id);
  if (isHolder(closed)) {
    const before: FormerHold = { userId: target.userId, isHolder: true };
    await touchRules(tx, organizationId, { kind: "device", id: closed.device_id, before });
  }
  return assignment;
}

/** For the end of a device's life in this organization; the caller tells that other rules may apply. */
export async function closeAssignmentsOfDevice(
  tx: Tx,
  organizationId: string,
  deviceId: string,
  actor: Actor,
  now: Date,
): Promise<void> {
  await closeAssignments(tx, organizationId, sql`a.device_id = ${deviceId}`, actor, now);
}

/** For the end of a membership in this organization. The devices to which other rules may apply now, for the caller to tell. */
export async function closeAssignmentsOfUser(
  tx: Tx,
  organizationId: string,
  userId: string,
  actor: Actor,
  now: Date,
): Promise<string[]> {
  const closed = await closeAssignments(tx, organizationId, sql`a.user_id = ${userId}`, actor, now);
  return closed.filter(isHolder).map(({ device_id }) => device_id);
}

interface ClosedRow {
  id: string;
  device_id: string;
  email: string;
  uid: string;
  role: number;
}

/** Rules of a user apply to the devices that the user holds; a viewer only looks. */
const isHolder = ({ role }: ClosedRow): boolean => role !== assignmentRoles.viewer;

async function closeAssignments(
  tx: Tx,
  organizationId: string,
  condition: Sql,
  actor: Actor,
  now: Date,
): Promise<ClosedRow[]> {
  const closed = await tx.many<ClosedRow>(sql`
    update assignments a set is_active = false, unassigned_at = ${now}
    from devices d, memberships m
    where a.organization_id = ${organizationId} and a.is_active and ${condition}
      and d.id = a.device_id and d.organization_id = a.organization_id
      and m.user_id = a.user_id and m.organization_id = a.organization_id
    returning a.id, a.device_id, m.email, d.uid, a.role`);
  for (const { id, email, uid, role } of closed) {
    await recordAudit(tx, actor, now, {
      action: "updated",
      model: "assignment",
      objectPk: id,
      objectRepr: reprOf(email, uid),
      changes: { is_active: [true, false] },
      additionalData: { role: assignmentRoleLabel(role) },
    });
  }
  return closed;
}
