import { Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { created, type LoadContext, noContent, ok, type Route, type RouteContext, route } from "../../http/route.ts";
import { pageOf, refTo } from "../../http/schemas.ts";
import { type FieldErrors, featureNotEnabled } from "../../lib/errors.ts";
import {
  checkDwell,
  checkScope,
  GeofenceLinkRequest,
  GeofenceRequest,
  GeofenceUpdateRequest,
  PatchedGeofenceRequest,
  readFields,
  throwErrors,
} from "./geofence-fields.ts";
import { linkDevices, unlinkDevice } from "./geofence-links.ts";
import { geofenceList, listGeofences } from "./geofence-list.ts";
import {
  type FenceDetailRow,
  type FenceFields,
  Geofence,
  GeofenceDetail,
  toGeofenceDetail,
} from "./geofence-record.ts";
import { getVisibleFence, listLinkedDevices } from "./geofence-store.ts";
import { createFence, deleteFence, type FenceWriter, updateFence } from "./geofence-writes.ts";

const GeofenceLinkResult = Type.Object(
  {
    linked: Type.Array(Type.String()),
    already_linked: Type.Array(Type.String()),
    not_found: Type.Array(Type.String(), { description: "No live devices of the organization." }),
    device_count: Type.Integer({ description: "Linked live devices after this call." }),
  },
  { $id: "GeofenceLinkResult" },
);

type NoQuery = Readonly<Record<never, never>>;
type WriteContext<Body> = RouteContext<Body, NoQuery, NoQuery, FenceDetailRow>;

const createdFields = ["id", "group_id", "user_id", "devices", "created_at"];
const fixedFields = [...createdFields, "scope", "group", "user"];

const reads = { tag: "Geofences", partners: ["geofences:read"], people: "VIEWER" } as const;
const writes = { tag: "Geofences", partners: ["geofences:write"], people: "ADMIN" } as const;
const one = {
  params: { id: "uuid" },
  load: ({ db, principal, params }: LoadContext<NoQuery, NoQuery>): Promise<FenceDetailRow> =>
    getVisibleFence(db, principal, params.id as string),
} as const;

const writerOf = ({ organizationId, actor, now }: FenceWriter): FenceWriter => ({ organizationId, actor, now });

const detailOf = async (db: Db, principal: Principal, row: FenceDetailRow): Promise<GeofenceDetail> =>
  toGeofenceDetail(row, await listLinkedDevices(db, principal, row));

async function create(context: RouteContext<GeofenceRequest, NoQuery, NoQuery, undefined>) {
  const { body, principal, transaction, link } = context;
  const { scope = "device" } = body;
  const errors: FieldErrors = {};
  const fields = readFields(body, principal.organization.timezone, errors) as FenceFields;
  checkScope(body, errors);
  checkDwell(fields, errors);
  throwErrors(errors);
  if (scope === "group") throw new Error("the schema lets no group through");
  const user_id = body.user?.toLowerCase() ?? null;
  refuseReadOnly(body, createdFields, [{ group_id: null, user_id, devices: [] }], { isCreate: true });
  if (scope === "org" && !principal.organization.features.has("geofence_scoping")) {
    throw featureNotEnabled("geofence_scoping");
  }
  const row = await transaction((tx) => createFence(tx, writerOf(context), fields, { scope, user_id }));
  return created(toGeofenceDetail(row, []), { Location: link(`/api/v1/geofences/${row.id}/`) });
}

async function update(context: WriteContext<PatchedGeofenceRequest>) {
  const { body, object, principal, transaction } = context;
  const errors: FieldErrors = {};
  const given = readFields(body, principal.organization.timezone, errors);
  throwErrors(errors);
  return transaction(async (tx) => {
    const after = await updateFence(tx, writerOf(context), object.id, {
      given,
      approve: async (before) => {
        const record = await detailOf(tx, principal, before);
        refuseReadOnly(body, fixedFields, [{ ...record, user: record.user_id, group: null }]);
      },
    });
    return ok(await detailOf(tx, principal, after));
  });
}

export const geofenceRoutes = (): Route[] => [
  route({
    ...reads,
    method: "GET",
    path: "/api/v1/geofences/",
    operationId: "geofences_list",
    summary: "Geofences of the organization",
    list: geofenceList,
    responses: { 200: refTo(pageOf(Geofence)) },
    handle: async ({ db, principal, list, page }) => page(await listGeofences(db, principal, list()), (item) => item),
  }),
  route({
    ...writes,
    method: "POST",
    path: "/api/v1/geofences/",
    operationId: "geofences_create",
    summary: "Create a geofence",
    description:
      "A fence of scope `device` applies to the devices linked to it, one of scope `user` to the devices that the user holds as owner or assigned, one of scope `org` to all devices.",
    isIdempotent: true,
    body: refTo(GeofenceRequest),
    responses: { 201: refTo(GeofenceDetail) },
    handle: create,
  }),
  route({
    ...reads,
    ...one,
    method: "GET",
    path: "/api/v1/geofences/:id/",
    operationId: "geofences_retrieve",
    summary: "One geofence with its schedule and devices",
    responses: { 200: refTo(GeofenceDetail) },
    handle: async ({ db, principal, object }) => ok(await detailOf(db, principal, object)),
  }),
  route({
    ...writes,
    ...one,
    method: "PUT",
    path: "/api/v1/geofences/:id/",
    operationId: "geofences_update",
    summary: "Update a geofence in full",
    description: "Optional fields that are left out return to their defaults. Scope, user and devices stay.",
    body: refTo(GeofenceUpdateRequest),
    responses: { 200: refTo(GeofenceDetail) },
    handle: update,
  }),
  route({
    ...writes,
    ...one,
    method: "PATCH",
    path: "/api/v1/geofences/:id/",
    operationId: "geofences_partial_update",
    summary: "Update some fields of a geofence",
    body: refTo(PatchedGeofenceRequest),
    responses: { 200: refTo(GeofenceDetail) },
    handle: update,
  }),
  route({
    ...writes,
    ...one,
    method: "DELETE",
    path: "/api/v1/geofences/:id/",
    operationId: "geofences_destroy",
    summary: "Delete a geofence",
    description: "Its events stay.",
    responses: { 204: null },
    handle: async (context) => {
      await context.transaction((tx) => deleteFence(tx, writerOf(context), context.object.id));
      return noContent();
    },
  }),
  route({
    ...writes,
    ...one,
    method: "POST",
    path: "/api/v1/geofences/:id/devices/",
    operationId: "geofences_devices_create",
    summary: "Link devices to a geofence of scope device",
    isIdempotent: true,
    body: refTo(GeofenceLinkRequest),
    responses: { 200: refTo(GeofenceLinkResult) },
    handle: async (context) => {
      const { body, object, transaction } = context;
      return ok(await transaction((tx) => linkDevices(tx, writerOf(context), object.id, body.device_uids)));
    },
  }),
  route({
    ...writes,
    ...one,
    method: "DELETE",
    path: "/api/v1/geofences/:id/devices/:device_uid/",
    operationId: "geofences_devices_destroy",
    summary: "Unlink a device",
    params: { id: "uuid", device_uid: "imei" },
    responses: { 204: null },
    handle: async (context) => {
      const { object, params, transaction } = context;
      await transaction((tx) => unlinkDevice(tx, writerOf(context), object.id, params.device_uid as string));
      return noContent();
    },
  }),
];
