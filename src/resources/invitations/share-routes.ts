import { type Static, Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { answer, noContent, type Route, route } from "../../http/route.ts";
import { Nullable, refTo, StringEnum } from "../../http/schemas.ts";
import { validationError } from "../../lib/errors.ts";
import { Assignment, toAssignment } from "../assignments/assignment-record.ts";
import { unassignUser } from "../assignments/assignment-store.ts";
import { getVisibleDevice } from "../devices/device-store.ts";
import { findLinkHosts } from "../organizations/integration-store.ts";
import { mayShareWith } from "../organizations/organization-store.ts";
import { isAllowedLink } from "./invitation-link.ts";
import { Invitation, toInvitation } from "./invitation-record.ts";
import { type Shared, shareDevice } from "./sharing.ts";

const ShareRequest = Type.Object(
  {
    email: Type.String({ format: "email" }),
    first_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
    last_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
    link_base: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2000,
          description:
            "HTTPS address that the mailed link leads to, with `token` added. Its host must be in the allow-list of the integration. Default: the console.",
        }),
      ),
    ),
  },
  { $id: "ShareRequest" },
);

const ShareResultLabel = StringEnum("ShareResultEnum", ["assigned", "invited"]);
const ShareResult = Type.Object(
  {
    result: refTo(ShareResultLabel),
    assignment: Nullable(refTo(Assignment)),
    invitation: Nullable(refTo(Invitation)),
  },
  { $id: "ShareResult" },
);
type ShareResult = Static<typeof ShareResult>;

const statuses: Record<Shared["kind"], number> = { assigned: 201, already_assigned: 200, invited: 202 };

const toShareResult = (shared: Shared): ShareResult =>
  shared.kind === "invited"
    ? { result: "invited", assignment: null, invitation: toInvitation(shared.invitation) }
    : { result: "assigned", assignment: toAssignment(shared.assignment), invitation: null };

interface LinkContext {
  db: Db;
  principal: Principal;
  link(path: string): string;
}

/** A partner's links lead to the hosts of its allow-list, those of people only to this service. */
async function checkLinkBase(linkBase: unknown, { db, principal, link }: LinkContext): Promise<void> {
  if (linkBase === undefined || linkBase === null) return;
  const hosts =
    principal.kind === "partner"
      ? await findLinkHosts(db, principal.organization.id, principal.id)
      : [new URL(link("/")).host];
  if (typeof linkBase === "string" && isAllowedLink(linkBase, hosts)) return;
  throw validationError({ link_base: ["Host is not in the allow-list."] });
}

export const shareRoutes = (): Route[] => [
  route({
    method: "POST",
    path: "/api/v1/devices/:uid/share/",
    operationId: "devices_share_create",
    tag: "Assignments",
    summary: "Share a device with a viewer",
    description:
      "An open member becomes a viewer at once (201, or 200 when already a viewer). Anybody else is invited by e-mail (202); the invitation is valid for 7 days.",
    params: { uid: "imei" },
    partners: ["assignments:share"],
    people: "ADMIN",
    isIdempotent: true,
    body: refTo(ShareRequest),
    responses: { 200: refTo(ShareResult), 201: refTo(ShareResult), 202: refTo(ShareResult) },
    load: ({ db, principal, params }) => getVisibleDevice(db, principal, params.uid as string),
    precheck: (body, context) => checkLinkBase(body.link_base, context),
    handle: async ({ object: device, body, principal, actor, now, db, transaction, link }) => {
      const input = {
        device,
        email: body.email.toLowerCase(),
        firstName: body.first_name ?? "",
        lastName: body.last_name ?? "",
        linkBase: body.link_base ?? link("/console/accept"),
        isPartnerLink: principal.kind === "partner" && body.link_base != null,
      };
      if (!(await mayShareWith(db, principal.organization.id, input.email))) {
        throw validationError({ email: ["Your organization does not share with addresses of this domain."] });
      }
      const shared = await transaction((tx) => shareDevice(tx, principal.organization, input, actor, now));
      return answer(statuses[shared.kind], toShareResult(shared));
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/devices/:uid/share/:user_id/",
    operationId: "devices_share_destroy",
    tag: "Assignments",
    summary: "Revoke the share of a viewer",
    params: { uid: "imei", user_id: "uuid" },
    partners: ["assignments:share"],
    people: "ADMIN",
    responses: { 204: null },
    load: ({ db, principal, params }) => getVisibleDevice(db, principal, params.uid as string),
    handle: async ({ object: device, params, organizationId, actor, now, transaction }) => {
      const target = { deviceId: device.id, userId: params.user_id as string, roles: ["viewer"] as const };
      await transaction((tx) => unassignUser(tx, organizationId, target, actor, now));
      return noContent();
    },
  }),
];
