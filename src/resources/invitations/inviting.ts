import type { Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { sql } from "../../db/sql.ts";
import { invitationNotPending, inviteRateLimited, validationError } from "../../lib/errors.ts";
import { newUuid, randomToken } from "../../lib/ids.ts";
import { searchText } from "../../lib/search-text.ts";
import { enqueueMail } from "../../mail/mail-outbox.ts";
import { type Actor, integrationOf } from "../../oauth/actor.ts";
import { hashSecret } from "../../oauth/client-secrets.ts";
import type { OrganizationIdentity } from "../../oauth/organization-identity.ts";
import { type MemberRole, roleNumbers } from "../../oauth/roles.ts";
import { type Changes, changesBetween } from "../audit/audit-store.ts";
import { expireOverdue } from "./invitation-expiry.ts";
import { linkWithToken } from "./invitation-link.ts";
import { type InvitationRow, invitationStatuses } from "./invitation-record.ts";
import { getInvitation, lockInvitation, recordInvitation, revokeInvitation } from "./invitation-store.ts";

/** Makes invitations. Row, mail and audit entry are one transaction: nobody is invited without a mail, or mailed for nothing. */

const validMs = 7 * 24 * 3_600_000;
const mailIntervalMs = 3_600_000;

const expiryFrom = (now: Date): Date => new Date(now.getTime() + validMs);

interface Mailing {
  kind: "share" | "member";
  email: string;
  linkBase: string;
  /** The link leads to a page of the partner, not to ours. */
  isPartnerLink: boolean;
  deviceName: string;
}

/** Queues the mail with a new token, of which only the hash is kept. */
async function mailToken(
  tx: Tx,
  organization: OrganizationIdentity,
  { kind, email, linkBase, deviceName }: Mailing,
  actor: Actor,
  now: Date,
): Promise<{ tokenHash: Buffer; mailId: string }> {
  const token = randomToken(32);
  const inviter = actor.by.type === "users" ? actor.by.fullName : "";
  const mailId = await enqueueMail(tx, {
    organizationId: organization.id,
    integrationId: integrationOf(actor),
    to: email,
    locale: organization.defaultLocale,
    kind: kind === "share" ? "share_invitation" : "member_invitation",
    params: {
      organization_name: organization.name,
      link: linkWithToken(linkBase, token),
      ...(deviceName === "" ? {} : { device_name: deviceName }),
      ...(inviter === "" ? {} : { inviter_name: inviter }),
      expires_at: expiryFrom(now).toISOString(),
      timezone: organization.timezone,
    },
    now,
  });
  return { tokenHash: hashSecret(token), mailId };
}

interface NewInvitation extends Mailing {
  role: MemberRole;
  firstName: string;
  lastName: string;
  deviceId: string | null;
}

interface InvitationTable extends Omit<InvitationRow, "accepted_at" | "revoked_at" | "email_status"> {
  organization_id: string;
  first_name: string;
  last_name: string;
  token_hash: Buffer;
  is_partner_link: boolean;
  device_id: string | null;
  mail_id: string;
  mailed_at: Date;
  search: string;
}
const invitations = table<InvitationTable>("invitations");

async function insertInvitation(
  tx: Tx,
  organization: OrganizationIdentity,
  input: NewInvitation,
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  const { kind, email, role } = input;
  const id = newUuid();
  const { tokenHash, mailId } = await mailToken(tx, organization, input, actor, now);
  const row = invitations.insert({
    id,
    organization_id: organization.id,
    email,
    kind,
    status: invitationStatuses.pending,
    role: roleNumbers[role],
    first_name: input.firstName,
    last_name: input.lastName,
    token_hash: tokenHash,
    is_partner_link: input.isPartnerLink,
    device_id: input.deviceId,
    invited_by: actor.by.type === "users" ? actor.by.id : null,
    mail_id: mailId,
    mailed_at: now,
    search: searchText([email]),
    created_at: now,
    updated_at: now,
    expires_at: expiryFrom(now),
  });
  await tx.run(row);
  const made = { email, kind, role, status: invitationStatuses.pending, expires_at: expiryFrom(now).toISOString() };
  await recordInvitation(tx, actor, now, "created", { id, email }, changesBetween(null, made));
  return getInvitation(tx, organization.id, id, now);
}

export interface DeviceInvitation {
  device: { id: string; name: string };
  /** In lower case. */
  email: string;
  firstName: string;
  lastName: string;
  linkBase: string;
  isPartnerLink: boolean;
}

interface PendingRow {
  id: string;
  mailed_at: Date;
  expires_at: Date;
}

/**
 * Invites somebody outside the organization to see a device. Needs the lock of the device: an address is invited to it once,
 * and sharing again while that is pending only moves the expiry. The mailed link keeps working; after an hour it is replaced
 * by that of a new mail.
 */
export async function inviteToDevice(
  tx: Tx,
  organization: OrganizationIdentity,
  { device, email, firstName, lastName, linkBase, isPartnerLink }: DeviceInvitation,
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  const mailing = { kind: "share", email, linkBase, isPartnerLink, deviceName: device.name } as const;
  const pending = await tx.maybeOne<PendingRow>`
    select id, mailed_at, expires_at from invitations
    where organization_id = ${organization.id} and kind = 'share' and email = ${email} and device_id = ${device.id}
      and status = ${invitationStatuses.pending} and deleted_at is null for no key update`;
  if (!pending || pending.expires_at.getTime() <= now.getTime()) {
    if (pending) await expireOverdue(tx, sql`id = ${pending.id}`, now);
    const input = { ...mailing, role: "VIEWER", firstName, lastName, deviceId: device.id } as const;
    return insertInvitation(tx, organization, input, actor, now);
  }
  const expiry = expiryFrom(now);
  await tx.run`
    update invitations set expires_at = ${expiry}, updated_at = ${now},
      first_name = coalesce(nullif(${firstName}, ''), first_name), last_name = coalesce(nullif(${lastName}, ''), last_name)
    where organization_id = ${organization.id} and id = ${pending.id}`;
  const changes: Changes = { expires_at: [pending.expires_at.toISOString(), expiry.toISOString()] };
  if (now.getTime() - pending.mailed_at.getTime() >= mailIntervalMs) {
    const { tokenHash, mailId } = await mailToken(tx, organization, mailing, actor, now);
    await tx.run`
      update invitations set token_hash = ${tokenHash}, is_partner_link = ${isPartnerLink}, mail_id = ${mailId},
        mailed_at = ${now}
      where organization_id = ${organization.id} and id = ${pending.id}`;
    changes.mailed_at = [pending.mailed_at.toISOString(), now.toISOString()];
  }
  await recordInvitation(tx, actor, now, "updated", { id: pending.id, email }, changes);
  return getInvitation(tx, organization.id, pending.id, now);
}

/**
 * Invites somebody to become a member. A pending invitation of the same address is revoked: the role asked for last is the
 * only one that can still be accepted. The lock of the organization keeps two such calls apart.
 */
export async function inviteMember(
  tx: Tx,
  organization: OrganizationIdentity,
  { email, role, linkBase }: { email: string; role: MemberRole; linkBase: string },
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  await tx.one`select id from organizations where id = ${organization.id} for no key update`;
  const member = await tx.maybeOne`
    select 1 from memberships where organization_id = ${organization.id} and email = ${email} and is_open`;
  if (member) throw validationError({ email: ["This person is already a member of the organization."] });
  const earlier = sql`organization_id = ${organization.id} and kind = 'member' and email = ${email}`;
  await expireOverdue(tx, earlier, now);
  const pending = await tx.many<{ id: string }>(sql`
    select id from invitations
    where ${earlier} and status = ${invitationStatuses.pending} and deleted_at is null for no key update`);
  for (const { id } of pending) await revokeInvitation(tx, organization.id, id, actor, now);
  const input = {
    kind: "member",
    email,
    linkBase,
    isPartnerLink: false,
    deviceName: "",
    role,
    firstName: "",
    lastName: "",
    deviceId: null,
  } as const;
  return insertInvitation(tx, organization, input, actor, now);
}

/**
 * Mails a pending invitation once more, with a new link and a new expiry; the earlier link ends with it. The link leads to our
 * own page, also where a partner had invited: a person asks for it.
 */
export async function resendInvitation(
  tx: Tx,
  organization: OrganizationIdentity,
  { id, linkBase }: { id: string; linkBase: string },
  actor: Actor,
  now: Date,
): Promise<InvitationRow> {
  const before = await lockInvitation(tx, organization.id, id, now);
  if (before.status !== invitationStatuses.pending) throw invitationNotPending(before.status);
  const sent = await tx.one<{ mailed_at: Date; device_name: string | null }>`
    select i.mailed_at, d.name as device_name
    from invitations i left join devices d on d.id = i.device_id and d.organization_id = i.organization_id
    where i.organization_id = ${organization.id} and i.id = ${id}`;
  const waitMs = sent.mailed_at.getTime() + mailIntervalMs - now.getTime();
  if (waitMs > 0) throw inviteRateLimited(Math.ceil(waitMs / 1000));
  const { email, kind } = before;
  const mailing = { kind, email, linkBase, isPartnerLink: false, deviceName: sent.device_name ?? "" };
  const { tokenHash, mailId } = await mailToken(tx, organization, mailing, actor, now);
  const expiry = expiryFrom(now);
  await tx.run`
    update invitations set token_hash = ${tokenHash}, is_partner_link = false, mail_id = ${mailId}, mailed_at = ${now},
      expires_at = ${expiry}, updated_at = ${now}
    where organization_id = ${organization.id} and id = ${id}`;
  await recordInvitation(
    tx,
    actor,
    now,
    "updated",
    { id, email },
    {
      mailed_at: [sent.mailed_at.toISOString(), now.toISOString()],
      expires_at: [before.expires_at.toISOString(), expiry.toISOString()],
    },
  );
  return getInvitation(tx, organization.id, id, now);
}
