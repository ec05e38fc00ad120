import { type Static, Type } from "@sinclair/typebox";
import { collection } from "../../http/collection.ts";
import type { QueryParams } from "../../http/query-params.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { answer, ok, type Route, type RouteContext } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
import { notFound, passwordNotAllowed, validationError } from "../../lib/errors.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { Assignment, type AssignmentRow, toAssignment } from "../assignments/assignment-record.ts";
import { checkGrantedRole, granterOf, parseRole } from "../users/role-rules.ts";
import { toUser, User } from "../users/user-record.ts";
import { acceptInvitation, findTarget } from "./accepting.ts";
import { Invitation, toInvitation } from "./invitation-record.ts";
import {
  deleteInvitation,
  getInvitation,
  invitationList,
  listInvitations,
  revokeInvitation,
} from "./invitation-store.ts";
import { inviteMember } from "./inviting.ts";

const ServerAcceptRequest = Type.Object(
  {
    token: Type.String({ minLength: 1, description: "The token of the link in the mail of a share." }),
    first_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
    last_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
    phone_number: Type.Optional(Type.String({ maxLength: 32, default: "" })),
  },
  { $id: "ServerAcceptRequest" },
);

const ServerAccept = Type.Object(
  {
    user: refTo(User),
    assignment: refTo(Assignment),
    invitation: refTo(Invitation),
    user_created: Type.Boolean({ description: "False when the person existed, in any organization." }),
  },
  { $id: "ServerAccept" },
);
type ServerAccept = Static<typeof ServerAccept>;

export const InvitationRequest = Type.Object(
  {
    email: Type.String({ format: "email" }),
    role: Type.Optional(Type.String({ default: "USER" })),
  },
  { $id: "InvitationRequest" },
);

/** Fields of the record that a new invitation sets by itself. */
const fixedFields = ["id", "status", "kind", "invited_by", "created_at", "expires_at", "accepted_at", "revoked_at"];

type Inviting = Pick<
  RouteContext<Static<typeof InvitationRequest>, QueryParams, QueryParams, unknown>,
  "principal" | "body" | "actor" | "now" | "transaction" | "link"
>;

/** Invites a member as a person does it: with a mail that leads to our own page. */
export async function inviteByPerson({ principal, body, actor, now, transaction, link }: Inviting) {
  const role = parseRole(body.role ?? "USER");
  if (!role) throw validationError({ role: [`"${body.role?.slice(0, 100)}" is not a valid choice.`] });
  checkGrantedRole(granterOf(principal), role);
  const input = { email: body.email.toLowerCase(), role, linkBase: link("/console/accept") };
  return transaction(async (tx) => {
    const made = toInvitation(await inviteMember(tx, principal.organization, input, actor, now));
    refuseReadOnly(body, fixedFields, [made], { isCreate: true });
    return made;
  });
}

const invitations = collection({
  path: "/api/v1/organizations/invitations/",
  operations: "organizations_invitations",
  tag: "Invitations",
  feature: "managed_onboarding",
  reads: { partners: ["invitations:read"], people: "ADMIN" },
  writes: { partners: ["invitations:write"], people: "ADMIN" },
  params: { id: "uuid" },
  key: "id",
});

export const invitationRoutes = (): Route[] => [
  invitations.list({
    summary: "Invitations of the organization",
    list: invitationList,
    item: Invitation,
    rows: ({ db, organizationId, list, now }) => listInvitations(db, organizationId, list(), now),
    toItem: toInvitation,
  }),
  invitations.create({
    summary: "Invite a person to become a member",
    partners: "never",
    body: InvitationRequest,
    item: Invitation,
    handle: inviteByPerson,
  }),
  invitations.retrieve({
    summary: "One invitation",
    item: Invitation,
    handle: async ({ db, organizationId, params, now }) =>
      toInvitation(await getInvitation(db, organizationId, params.id as string, now)),
  }),
  invitations.destroy({
    summary: "Hide an invitation, and revoke it if it is pending",
    handle: ({ organizationId, params, actor, now, transaction }) =>
      transaction((tx) => deleteInvitation(tx, organizationId, params.id as string, actor, now)),
  }),
  invitations.post(":id/revoke/", {
    summary: "Revoke a pending invitation",
    responses: { 200: refTo(Invitation) },
    errors: [409],
    handle: async ({ organizationId, params, actor, now, transaction }) =>
      ok(
        toInvitation(await transaction((tx) => revokeInvitation(tx, organizationId, params.id as string, actor, now))),
      ),
  }),
  invitations.post("server-accept/", {
    summary: "Accept a share invitation on behalf of the invited person",
    description:
      "201 when the person was created, 200 when the person existed. The three profile fields of `user` echo the request.",
    isIdempotent: true,
    body: ServerAcceptRequest,
    responses: { 200: refTo(ServerAccept), 201: refTo(ServerAccept) },
    errors: [404, 409],
    precheck: async (body) => {
      if (Object.hasOwn(body, "password")) throw passwordNotAllowed();
    },
    handle: async ({ db, organizationId, body, actor, now, transaction }) => {
      const target = await findTarget(db, body.token);
      if (target?.organization_id !== organizationId || target.kind !== "share") throw notFound();
      const { first_name = "", last_name = "", phone_number = "" } = body;
      const profile = { firstName: first_name, lastName: last_name, phoneNumber: phone_number };
      const accepted = await transaction((tx) => acceptInvitation(tx, target, profile, actor, now));
      const echo = { first_name, last_name, phone_number, full_name: fullNameOf(first_name, last_name) };
      const result: ServerAccept = {
        user: { ...toUser(accepted.user), ...echo },
        assignment: toAssignment(accepted.assignment as AssignmentRow),
        invitation: toInvitation(accepted.invitation),
        user_created: !accepted.userExisted,
      };
      return answer(accepted.userExisted ? 200 : 201, result);
    },
  }),
];
