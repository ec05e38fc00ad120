import type { Tx } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { pick } from "../../lib/pick.ts";
import { isSameJson } from "../../lib/same-json.ts";
import type { Actor } from "../../oauth/actor.ts";
import { type MemberRole, roleNumbers } from "../../oauth/roles.ts";
import { closeAssignmentsOfUser } from "../assignments/assignment-store.ts";
import { changesBetween, recordAudit } from "../audit/audit-store.ts";
import { touchRules } from "../rule-versions/rule-version.ts";
import { auditViewOfMember, memberships, profileColumns } from "./member-store.ts";
import { type UserRow, userColumns, userTables } from "./user-record.ts";

export interface LockedMember {
  user: UserRow;
  /** True when no other open membership of the organization is that of an owner. */
  isLastOwner: boolean;
}

/**
 * Locks an open membership together with those of all owners, so that parallel demotions see each other and one owner is
 * always left. One statement in one order: two such calls cannot wait for each other. Undefined: there is no open membership.
 */
export async function lockMember(tx: Tx, organizationId: string, userId: string): Promise<LockedMember | undefined> {
  const rows = await tx.many<UserRow>(sql`
    select ${userColumns} from ${userTables}
    where m.organization_id = ${organizationId} and m.is_open
      and (m.user_id = ${userId} or m.role = ${roleNumbers.OWNER})
    order by m.user_id for no key update of m`);
  const user = rows.find(({ id }) => id === userId);
  if (!user) return undefined;
  const owners = rows.filter(({ role }) => role === roleNumbers.OWNER);
  return { user, isLastOwner: owners.length === 1 && owners[0] === user };
}

export interface MemberChange {
  firstName: string | undefined;
  lastName: string | undefined;
  phoneNumber: string | undefined;
  role: MemberRole;
}

/** Takes the member as it was locked. A change to the same values writes nothing. */
export async function updateMember(
  tx: Tx,
  organizationId: string,
  before: UserRow,
  change: MemberChange,
  actor: Actor,
  now: Date,
): Promise<UserRow> {
  const columns = profileColumns({
    email: before.email,
    firstName: change.firstName ?? before.first_name,
    lastName: change.lastName ?? before.last_name,
    phoneNumber: change.phoneNumber ?? before.phone_number,
    role: change.role,
  });
  const { search: _, ...profile } = columns;
  const isSame = isSameJson(profile, pick(before, ["role", "first_name", "last_name", "phone_number"]));
  if (isSame) return before;
  const after = await tx.one<UserRow>(sql`
    update memberships m set ${memberships.assign({ ...columns, updated_at: now })}
    where m.organization_id = ${organizationId} and m.user_id = ${before.id}
    returning ${userColumns}`);
  await recordAudit(tx, actor, now, {
    action: "updated",
    model: "user",
    objectPk: after.id,
    objectRepr: after.email,
    changes: changesBetween(auditViewOfMember(before), auditViewOfMember(after)),
  });
  return after;
}

/** Closes a locked membership and what the person holds in the organization. The person stays. */
export async function closeMember(
  tx: Tx,
  organizationId: string,
  before: UserRow,
  actor: Actor,
  now: Date,
): Promise<void> {
  const released = await closeAssignmentsOfUser(tx, organizationId, before.id, actor, now);
  await tx.run`
    update memberships set closed_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and user_id = ${before.id}`;
  await recordAudit(tx, actor, now, {
    action: "deleted",
    model: "user",
    objectPk: before.id,
    objectRepr: before.email,
    changes: changesBetween(auditViewOfMember(before), null),
  });
  if (released.length > 0) {
    const held = { userId: before.id, isHolder: true };
    await touchRules(tx, organizationId, ...released.map((id) => ({ kind: "device", id, before: held }) as const));
  }
}
