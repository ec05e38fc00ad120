import type { Db, Tx } from "../../db/database.ts";
import { invitationExpired, invitationNotPending, notFound } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import { hashSecret } from "../../oauth/client-secrets.ts";
import { roleLabel } from "../../oauth/roles.ts";
import type { AssignmentRow } from "../assignments/assignment-record.ts";
import {
  createAssignment,
  findActiveAssignment,
  type HeldDevice,
  holdLiveDevice,
} from "../assignments/assignment-store.ts";
import { ensureMember } from "../users/member-store.ts";
import type { UserRow } from "../users/user-record.ts";
import { type InvitationRow, invitationStatuses } from "./invitation-record.ts";
import { lockInvitation, markAccepted } from "./invitation-store.ts";

/** What a token stands for, whatever the status of its invitation. */
export interface InvitationTarget {
  id: string;
  organization_id: string;
  kind: "share" | "member";
  email: string;
  role: number;
  first_name: string;
  last_name: string;
  device_id: string | null;
  token_hash: Buffer;
}

/** The one way in without an organization: 256 random bits name it. */
export const findTarget = (db: Db, token: string): Promise<InvitationTarget | undefined> =>
  db.maybeOne<InvitationTarget>`
    select id, organization_id, kind, email, role, first_name, last_name, device_id, token_hash from invitations
    where token_hash = ${hashSecret(token)} and deleted_at is null`;

export interface AcceptedProfile {
  firstName: string;
  lastName: string;
  phoneNumber: string;
}

export interface Accepted {
  user: UserRow;
  /** In any organization, before this call. */
  userExisted: boolean;
  /** Null for the invitation of a member. */
  assignment: AssignmentRow | null;
  invitation: InvitationRow;
}

/** A pending invitation and its device, held until the transaction ends. */
export interface HeldInvitation {
  invitation: InvitationRow;
  /** Null for the invitation of a member. */
  device: HeldDevice | null;
}

/** Refuses what cannot be accepted (any more). Of parallel calls with one token the second sees what the first has done. */
export async function holdPending(tx: Tx, target: InvitationTarget, now: Date): Promise<HeldInvitation> {
  const organizationId = target.organization_id;
  const device = target.device_id === null ? null : await holdLiveDevice(tx, organizationId, target.device_id);
  if (device === undefined) throw notFound();
  const invitation = await lockInvitation(tx, organizationId, target.id, now, target.token_hash);
  if (invitation.status === invitationStatuses.expired) throw invitationExpired();
  if (invitation.status !== invitationStatuses.pending) throw invitationNotPending(invitation.status);
  return { invitation, device };
}

/**
 * Uses up a held invitation: membership, assignment and the status of the invitation are one transaction. Names that are left
 * empty are those the inviter gave. An open membership keeps its role, an active assignment of the device stays what it is.
 */
export async function acceptHeld(
  tx: Tx,
  target: InvitationTarget,
  { invitation, device }: HeldInvitation,
  profile: AcceptedProfile,
  actor: Actor,
  now: Date,
): Promise<Accepted> {
  const organizationId = target.organization_id;
  const { user, userExisted } = await ensureMember(
    tx,
    organizationId,
    {
      email: target.email,
      firstName: profile.firstName || target.first_name,
      lastName: profile.lastName || target.last_name,
      phoneNumber: profile.phoneNumber,
      role: roleLabel(target.role),
    },
    actor,
    now,
  );
  const member = { user_id: user.id, email: user.email };
  const assignment = device
    ? ((await findActiveAssignment(tx, organizationId, device.id, user.id)) ??
      (await createAssignment(
        tx,
        organizationId,
        { device, member, role: "viewer", source: "invitation" },
        actor,
        now,
      )))
    : null;
  return { user, userExisted, assignment, invitation: await markAccepted(tx, organizationId, invitation, actor, now) };
}

/** A partner or an administrator accepts for the invited person. */
export const acceptInvitation = async (
  tx: Tx,
  target: InvitationTarget,
  profile: AcceptedProfile,
  actor: Actor,
  now: Date,
): Promise<Accepted> => acceptHeld(tx, target, await holdPending(tx, target, now), profile, actor, now);
