import type { Tx } from "../../db/database.ts";
import { assignmentExists, notFound } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { OrganizationIdentity } from "../../oauth/organization-identity.ts";
import { type AssignmentRow, assignmentRoles } from "../assignments/assignment-record.ts";
import {
  createAssignment,
  findActiveAssignment,
  holdLiveDevice,
  holdOpenMember,
} from "../assignments/assignment-store.ts";
import type { InvitationRow } from "./invitation-record.ts";
import { type DeviceInvitation, inviteToDevice } from "./inviting.ts";

export type Shared =
  | { kind: "assigned" | "already_assigned"; assignment: AssignmentRow }
  | { kind: "invited"; invitation: InvitationRow };

/** Lets somebody view a device: a member at once, anybody else by a mailed invitation. A closed member is anybody else. */
export async function shareDevice(
  tx: Tx,
  organization: OrganizationIdentity,
  input: DeviceInvitation,
  actor: Actor,
  now: Date,
): Promise<Shared> {
  const device = await holdLiveDevice(tx, organization.id, input.device.id);
  if (!device) throw notFound();
  const member = await holdOpenMember(tx, organization.id, { email: input.email });
  if (!member) return { kind: "invited", invitation: await inviteToDevice(tx, organization, input, actor, now) };
  const existing = await findActiveAssignment(tx, organization.id, device.id, member.user_id);
  if (existing && existing.role !== assignmentRoles.viewer) throw assignmentExists();
  if (existing) return { kind: "already_assigned", assignment: existing };
  const assignment = { device, member, role: "viewer", source: "share" } as const;
  return { kind: "assigned", assignment: await createAssignment(tx, organization.id, assignment, actor, now) };
}
