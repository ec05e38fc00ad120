import { Type } from "@sinclair/typebox";
import { collection, type ObjectContext } from "../../http/collection.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { created, ok, type Route, route } from "../../http/route.ts";
import { describedAs, refTo, StringEnum, Uuid } from "../../http/schemas.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { getVisibleDevice } from "../devices/device-store.ts";
import { assignmentList, findVisibleAssignment, listAssignments } from "./assignment-list.ts";
import { Assignment, type AssignmentSource, toAssignment } from "./assignment-record.ts";
import { assignUser, unassignUser } from "./assignment-store.ts";

const GivenRole = StringEnum("AssignRequestRoleEnum", ["owner", "assigned"]);

const AssignRequest = Type.Object(
  {
    user_id: Uuid,
    role: Type.Optional(
      describedAs(
        Type.String({ default: "assigned" }),
        Type.Unsafe({
          allOf: [refTo(GivenRole)],
          default: "assigned",
          description: "In any case. Viewers are created by share.",
        }),
      ),
    ),
  },
  { $id: "AssignRequest" },
);

const UnassignRequest = Type.Object({ user_id: Uuid }, { $id: "UnassignRequest" });

function parseRole(text: string): "owner" | "assigned" {
  const role = text.toLowerCase();
  if (role === "owner" || role === "assigned") return role;
  const hint = role === "viewer" ? " Use the share endpoint." : "";
  const shown = role === "viewer" ? role : text.slice(0, 100);
  throw validationError({ role: [`"${shown}" is not a valid choice.${hint}`] });
}

const sourceOf = (principal: Principal): AssignmentSource => (principal.kind === "person" ? "admin" : "assign");

/** Fields of the record that assign sets by itself. */
const fixedFields = ["id", "device", "device_uid", "user", "is_active", "source", "assigned_at", "unassigned_at"];

const assignments = collection({
  path: "/api/v1/assignments/",
  operations: "assignments",
  tag: "Assignments",
  reads: { partners: ["assignments:read"], people: "VIEWER" },
  params: { id: "uuid" },
  key: "id",
  load: async ({ db, principal, params }) => {
    const row = await findVisibleAssignment(db, principal, params.id as string);
    if (!row) throw notFound();
    return row;
  },
});

const deviceRoute = {
  tag: "Assignments",
  params: { uid: "imei" },
  partners: ["assignments:write"],
  people: "ADMIN",
  load: ({ db, principal, params }: ObjectContext) => getVisibleDevice(db, principal, params.uid as string),
} as const;

export const assignmentRoutes = (): Route[] => [
  assignments.list({
    summary: "Active assignments",
    list: assignmentList,
    item: Assignment,
    rows: ({ db, principal, list }) => listAssignments(db, principal, list()),
    toItem: toAssignment,
  }),
  assignments.retrieve({
    summary: "One assignment, open or closed",
    item: Assignment,
    handle: async ({ object }) => toAssignment(object),
  }),
  route({
    ...deviceRoute,
    method: "POST",
    path: "/api/v1/devices/:uid/assign/",
    operationId: "devices_assign_create",
    summary: "Assign a user as owner or assigned",
    description:
      "A device has at most one active owner. Transfer is two calls: unassign the old owner, then assign the new one.",
    isIdempotent: true,
    body: refTo(AssignRequest),
    responses: { 201: refTo(Assignment) },
    handle: async ({ object: device, body, principal, organizationId, actor, now, transaction, link }) => {
      const input = {
        userId: body.user_id,
        role: parseRole(body.role ?? "assigned"),
        source: sourceOf(principal),
      };
      const record = await transaction(async (tx) => {
        const made = toAssignment(await assignUser(tx, organizationId, device.id, input, actor, now));
        refuseReadOnly(body, fixedFields, [made], { isCreate: true });
        return made;
      });
      return created(record, { Location: link(`/api/v1/assignments/${record.id}/`) });
    },
  }),
  route({
    ...deviceRoute,
    method: "POST",
    path: "/api/v1/devices/:uid/unassign/",
    operationId: "devices_unassign_create",
    summary: "Close the assignment of an owner or assigned user",
    description: "To remove a viewer, delete the share.",
    body: refTo(UnassignRequest),
    responses: { 200: refTo(Assignment) },
    handle: async ({ object: device, body, organizationId, actor, now, transaction }) => {
      const target = { deviceId: device.id, userId: body.user_id, roles: ["owner", "assigned"] as const };
      return ok(toAssignment(await transaction((tx) => unassignUser(tx, organizationId, target, actor, now))));
    },
  }),
];
