import { Type } from "@sinclair/typebox";
import { answer, created, type LoadContext, noContent, ok, type Route, route } from "../../http/route.ts";
import { pageOf, refTo } from "../../http/schemas.ts";
import { inviteRateLimited, notFound } from "../../lib/errors.ts";
import { fullNameOf } from "../../oauth/person-store.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { inviteMember } from "./activation-store.ts";
import { giverOf } from "./role-rules.ts";
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
import { createUser, patchUser, removeUser, type UserWriter } from "./user-writes.ts";

const InviteAnswer = Type.Object(
  { detail: Type.String(), queued: Type.Boolean(), already_active: Type.Boolean() },
  { $id: "UserInvite" },
);

type Load = LoadContext<Record<never, never>, Record<never, never>>;

/** Set for people who may see only themselves. */
const onlyVisibleUser = ({ principal }: Pick<Load, "principal">): string | undefined =>
  principal.kind === "person" && !isAtLeast(principal.person.role, "ADMIN") ? principal.id : undefined;

async function loadUser(context: Load): Promise<UserRow> {
  const id = context.params.id as string;
  const only = onlyVisibleUser(context);
  const user = only === undefined || only === id ? await findUser(context.db, context.organizationId, id) : undefined;
  if (!user) throw notFound();
  return user;
}

/** A closed member can be read, but nothing can be done with it. */
async function loadOpenUser(context: Load): Promise<UserRow> {
  const user = await loadUser(context);
  if (user.closed_at !== null) throw notFound();
  return user;
}

const writerOf = ({ organizationId, principal, actor, now }: Load): UserWriter => ({
  organizationId,
  giver: giverOf(principal),
  actor,
  now,
});

const base = { tag: "Users" } as const;
const one = { ...base, path: "/api/v1/auth/users/:id/", params: { id: "uuid" } } as const;

export const userRoutes = (): Route[] => [
  route({
    ...base,
    method: "GET",
    path: "/api/v1/auth/users/",
    operationId: "auth_users_list",
    summary: "The members of the organization",
    partners: ["users:read"],
    people: "VIEWER",
    list: userList,
    responses: { 200: refTo(pageOf(User)) },
    handle: async ({ db, organizationId, principal, list, page }) =>
      page(await listUsers(db, organizationId, list(), onlyVisibleUser({ principal })), toUser),
  }),
  route({
    ...base,
    method: "POST",
    path: "/api/v1/auth/users/",
    operationId: "auth_users_create",
    summary: "Add a member",
    description:
      "Idempotent on `email`: 201 for a new membership, 200 for one that is open (unchanged) or was closed (opened again). The names and the phone number in the answer echo the request.",
    partners: ["users:write"],
    people: "ADMIN",
    isIdempotent: true,
    body: refTo(UserRequest),
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
  route({
    ...one,
    method: "GET",
    operationId: "auth_users_retrieve",
    summary: "One member, open or closed",
    partners: ["users:read"],
    people: "VIEWER",
    responses: { 200: refTo(UserDetail) },
    load: loadUser,
    handle: async ({ db, organizationId, object }) =>
      ok(toUserDetail(object, await countDevicesOfUser(db, organizationId, object.id))),
  }),
  route({
    ...one,
    method: "PATCH",
    operationId: "auth_users_partial_update",
    summary: "Change the profile or the role of a member",
    partners: ["users:write"],
    people: "ADMIN",
    body: refTo(PatchedUserRequest),
    responses: { 200: refTo(User) },
    errors: [409],
    load: loadOpenUser,
    handle: async (context) =>
      ok(toUser(await context.transaction((tx) => patchUser(tx, writerOf(context), context.object.id, context.body)))),
  }),
  route({
    ...one,
    method: "DELETE",
    operationId: "auth_users_destroy",
    summary: "Close the membership",
    description: "Closes the active assignments of the member too. The person and their other memberships stay.",
    partners: ["users:write"],
    people: "ADMIN",
    responses: { 204: null },
    errors: [409],
    load: loadOpenUser,
    handle: async (context) => {
      await context.transaction((tx) => removeUser(tx, writerOf(context), context.object.id));
      return noContent();
    },
  }),
  route({
    ...one,
    method: "POST",
    path: "/api/v1/auth/users/:id/invite/",
    operationId: "auth_users_invite_create",
    summary: "Send the portal activation e-mail",
    description: "At most once per hour and member; then 429 `invite_rate_limited`.",
    partners: ["users:invite"],
    people: "ADMIN",
    responses: { 202: refTo(InviteAnswer), 200: refTo(InviteAnswer) },
    load: loadOpenUser,
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
