import { Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import { type CallOf, collection } from "../../http/collection.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { noContent, ok, type Route } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
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
    not_found: Type.Array(Type.String(), { description: "IMEIs that are not live devices of the organization." }),
    device_count: Type.Integer({ description: "Linked live devices after this call." }),
  },
  { $id: "GeofenceLinkResult" },
);

const createdFields = ["id", "group_id", "user_id", "devices", "created_at"];
const fixedFields = [...createdFields, "scope", "group", "user"];

const fences = collection({
  path: "/api/v1/geofences/",
  operations: "geofences",
  tag: "Geofences",
  reads: { partners: ["geofences:read"], people: "VIEWER" },
  writes: { partners: ["geofences:write"], people: "ADMIN" },
  params: { id: "uuid", device_uid: "imei" },
  key: "id",
  load: ({ db, principal, params }) => getVisibleFence(db, principal, params.id as string),
});

const writerOf = ({ organizationId, actor, now }: FenceWriter): FenceWriter => ({ organizationId, actor, now });

const detailOf = async (db: Db, principal: Principal, row: FenceDetailRow): Promise<GeofenceDetail> =>
  toGeofenceDetail(row, await listLinkedDevices(db, principal, row));

async function create(context: CallOf<GeofenceRequest, unknown>): Promise<GeofenceDetail> {
  const { body, principal, transaction } = context;
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
  return toGeofenceDetail(row, []);
}

async function update(context: CallOf<PatchedGeofenceRequest, FenceDetailRow>): Promise<GeofenceDetail> {
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
    return detailOf(tx, principal, after);
  });
}

export const geofenceRoutes = (): Route[] => [
  fences.list({
    summary: "Geofences of the organization",
    list: geofenceList,
    item: Geofence,
    rows: ({ db, principal, list }) => listGeofences(db, principal, list()),
    toItem: (fence) => fence,
  }),
  fences.create({
    summary: "Create a geofence",
    description:
      "A fence of scope `device` applies to the devices linked to it, one of scope `user` to the devices that the user holds as owner or assigned, one of scope `org` to all devices.",
    body: GeofenceRequest,
    item: GeofenceDetail,
    handle: create,
  }),
  fences.retrieve({
    summary: "One geofence with its schedule and devices",
    item: GeofenceDetail,
    handle: ({ db, principal, object }) => detailOf(db, principal, object),
  }),
  fences.update({
    summary: "Update a geofence in full",
    description: "Optional fields that are omitted are reset to their defaults. Scope, user and devices are kept.",
    body: GeofenceUpdateRequest,
    item: GeofenceDetail,
    handle: update,
  }),
  fences.partialUpdate({
    summary: "Update some fields of a geofence",
    body: PatchedGeofenceRequest,
    item: GeofenceDetail,
    handle: update,
  }),
  fences.destroy({
    summary: "Delete a geofence",
    description: "Its events are kept.",
    handle: (context) => context.transaction((tx) => deleteFence(tx, writerOf(context), context.object.id)),
  }),
  fences.post(":id/devices/", {
    summary: "Link devices to a geofence of scope device",
    isIdempotent: true,
    body: GeofenceLinkRequest,
    responses: { 200: refTo(GeofenceLinkResult) },
    handle: async (context) => {
      const { body, object, transaction } = context;
      return ok(await transaction((tx) => linkDevices(tx, writerOf(context), object.id, body.device_uids)));
    },
  }),
  fences.delete(":id/devices/:device_uid/", {
    summary: "Unlink a device",
    responses: { 204: null },
    handle: async (context) => {
      const { object, params, transaction } = context;
      await transaction((tx) => unlinkDevice(tx, writerOf(context), object.id, params.device_uid as string));
      return noContent();
    },
  }),
];
