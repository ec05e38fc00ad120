import { Type } from "@sinclair/typebox";
import { collection, type ObjectContext } from "../../http/collection.ts";
import { answer, created, ok, type Route } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
import { inviteRateLimited, notFound } from "../../lib/errors.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { inviteMember } from "./activation-store.ts";
import { granterOf } from "./role-rules.ts";
import { listUsers, userList } from "./user-list.ts";
import {
  CreatedUser,
  countDevicesOfUser,
  findUser,
  toUser,
  toUserDetail,
  User,
  UserDetail,
  type UserRow,
} from "./user-record.ts";
import { PatchedUserRequest, UserRequest } from "./user-requests.ts";
import { createUser, type OnRightsLost, patchUser, removeUser, type UserWriter } from "./user-writes.ts";

const InviteAnswer = Type.Object(
  { detail: Type.String(), queued: Type.Boolean(), already_active: Type.Boolean() },
  { $id: "UserInvite" },
);

/** Set for people who may see only themselves. */
const onlyVisibleUser = ({ principal }: Pick<ObjectContext, "principal">): string | undefined =>
  principal.kind === "person" && !isAtLeast(principal.person.role, "ADMIN") ? principal.id : undefined;

async function loadUser(context: ObjectContext): Promise<UserRow> {
  const id = context.params.id as string;
  const only = onlyVisibleUser(context);
  const user = only === undefined || only === id ? await findUser(context.db, context.organizationId, id) : undefined;
  if (!user) throw notFound();
  return user;
}

/** A closed member can be read, but nothing can be done with it. */
async function loadOpenUser(context: ObjectContext): Promise<UserRow> {
  const user = await loadUser(context);
  if (user.closed_at !== null) throw notFound();
  return user;
}

const makeWriterOf =
  (onRightsLost: OnRightsLost) =>
  ({ organizationId, principal, actor, now }: ObjectContext): UserWriter => ({
    organizationId,
    granter: granterOf(principal),
    actor,
    now,
    onRightsLost,
  });

const users = collection({
  path: "/api/v1/auth/users/",
  operations: "auth_users",
  tag: "Users",
  reads: { partners: ["users:read"], people: "VIEWER" },
  writes: { partners: ["users:write"], people: "ADMIN" },
  params: { id: "uuid" },
  key: "id",
  load: loadOpenUser,
});

export function userRoutes(onRightsLost: OnRightsLost): Route[] {
  const writerOf = makeWriterOf(onRightsLost);
  return [
    users.list({
      summary: "The members of the organization",
      list: userList,
      item: User,
      rows: ({ db, organizationId, principal, list }) =>
        listUsers(db, organizationId, list(), onlyVisibleUser({ principal })),
      toItem: toUser,
    }),
    users.post("", {
      summary: "Add a member",
      description:
        "Idempotent on `email`: 201 for a new membership, 200 for one that is open (unchanged) or was closed (reopened). The names and the phone number in the answer echo the request.",
      isIdempotent: true,
      body: UserRequest,
      responses: { 201: refTo(CreatedUser), 200: refTo(User) },
      handle: async (context) => {
        const { kind, user } = await context.transaction((tx) => createUser(tx, writerOf(context), context.body));
        const { first_name = "", last_name = "", phone_number = "" } = context.body;
        const echo = { first_name, last_name, full_name: fullNameOf(first_name, last_name), phone_number };
        const record = { ...toUser(user), ...echo };
        if (kind === "open" || kind === "reopened") return ok(record);
        const location = { Location: context.link(`/api/v1/auth/users/${user.id}/`) };
        return created(kind === "attached" ? { ...record, merged: true } : record, location);
      },
    }),
    users.retrieve({
      summary: "One member, open or closed",
      item: UserDetail,
      load: loadUser,
      handle: async ({ db, organizationId, object }) =>
        toUserDetail(object, await countDevicesOfUser(db, organizationId, object.id)),
    }),
    users.partialUpdate({
      summary: "Change the profile or the role of a member",
      body: PatchedUserRequest,
      item: User,
      errors: [409],
      handle: async (context) =>
        toUser(await context.transaction((tx) => patchUser(tx, writerOf(context), context.object.id, context.body))),
    }),
    users.destroy({
      summary: "Close the membership",
      description: "Also closes the member's active assignments. The person and their other memberships are kept.",
      errors: [409],
      handle: (context) => context.transaction((tx) => removeUser(tx, writerOf(context), context.object.id)),
    }),
    users.post(":id/invite/", {
      summary: "Send the portal activation e-mail",
      description: "At most once per hour for each member; otherwise 429 `invite_rate_limited`.",
      partners: ["users:invite"],
      responses: { 202: refTo(InviteAnswer), 200: refTo(InviteAnswer) },
      handle: async ({ principal, object, transaction, actor, now, link }) => {
        if (object.portal_active) {
          return answer(200, { detail: "User is already active.", queued: false, already_active: true });
        }
        const linkFor = (token: string): string => link(`/console/activate?token=${token}`);
        const invite = { organization: principal.organization, user: object, linkFor };
        const outcome = await transaction((tx) => inviteMember(tx, invite, actor, now));
        if (outcome.kind === "gone") throw notFound();
        if (outcome.kind === "too_soon") throw inviteRateLimited(outcome.waitSeconds);
        return answer(202, { detail: "Invitation queued.", queued: true, already_active: false });
      },
    }),
  ];
}
