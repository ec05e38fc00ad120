import { listOf, type QueryOf } from "./lists.ts";
import type {
  AssignRequest,
  PatchedUserRequest,
  ServerAcceptRequest,
  ShareRequest,
  UnassignRequest,
  UserRequest,
} from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";

export const makeUsers = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"auth_users_list"> = {}, options?: CallOptions) =>
      listOf(transport, "auth_users_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("auth_users_retrieve", { path: { id } }, options),
    create: (body: UserRequest, options?: CallOptions) => call("auth_users_create", { body }, options),
    update: (id: string, body: PatchedUserRequest, options?: CallOptions) =>
      call("auth_users_partial_update", { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => call("auth_users_destroy", { path: { id } }, options),
    invite: (id: string, options?: CallOptions) => call("auth_users_invite_create", { path: { id } }, options),
  };
};

export const makeAssignments = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"assignments_list"> = {}, options?: CallOptions) =>
      listOf(transport, "assignments_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("assignments_retrieve", { path: { id } }, options),
    assign: (uid: string, body: AssignRequest, options?: CallOptions) =>
      call("devices_assign_create", { path: { uid }, body }, options),
    unassign: (uid: string, body: UnassignRequest, options?: CallOptions) =>
      call("devices_unassign_create", { path: { uid }, body }, options),
    share: (uid: string, body: ShareRequest, options?: CallOptions) =>
      call("devices_share_create", { path: { uid }, body }, options),
    unshare: (uid: string, user_id: string, options?: CallOptions) =>
      call("devices_share_destroy", { path: { uid, user_id } }, options),
  };
};

export const makeInvitations = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"organizations_invitations_list"> = {}, options?: CallOptions) =>
      listOf(transport, "organizations_invitations_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("organizations_invitations_retrieve", { path: { id } }, options),
    delete: (id: string, options?: CallOptions) => call("organizations_invitations_destroy", { path: { id } }, options),
    revoke: (id: string, options?: CallOptions) =>
      call("organizations_invitations_revoke_create", { path: { id } }, options),
    serverAccept: (body: ServerAcceptRequest, options?: CallOptions) =>
      call("organizations_invitations_server_accept_create", { body }, options),
  };
};
