import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { created, type LoadContext, noContent, ok, type Route, type RouteContext, route } from "../../http/route.ts";
import { pageOf, refTo } from "../../http/schemas.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { Capability, toCapability } from "../catalog/catalog-schemas.ts";
import { capabilitiesOfDevice } from "./capability-override-store.ts";
import { DeviceRequest, DeviceUpdateRequest, PatchedDeviceRequest, readFields } from "./device-fields.ts";
import { deviceList, listDevices } from "./device-list.ts";
import { Device, type DeviceRow, modelFieldsOf, seesLocations, toDevice } from "./device-record.ts";
import { DeviceConfig, listSettings, seesPhoneNumbers, toConfig } from "./device-settings.ts";
import { type DeviceValues, getVisibleDevice } from "./device-store.ts";
import { type DeviceWrite, registerDevice, updateDevice } from "./device-writes.ts";

const DeviceCapabilities = Type.Object(
  {
    device_uid: Type.String(),
    device_model_slug: Type.String(),
    protocol_slug: Type.String(),
    capabilities: Type.Array(refTo(Capability)),
  },
  { $id: "DeviceCapabilities" },
);

type NoQuery = Readonly<Record<never, never>>;
type WriteContext = RouteContext<object, NoQuery, NoQuery, unknown>;

const fixedFields = [
  "id",
  "uid",
  "imei",
  "device_model_name",
  "protocol_slug",
  "device_type",
  "created_at",
  "deleted_at",
] as const;

/** The fixed fields of the record as the write leaves it; a new one's id and times cannot be known by the caller. */
const fixedAfter = (uid: string, { device_model_slug, protocol_slug }: DeviceValues, catalog: Catalog) => ({
  uid,
  imei: uid,
  protocol_slug,
  ...modelFieldsOf(catalog, device_model_slug),
  deleted_at: null,
});

const reads = { tag: "Devices", partners: ["devices:read"], people: "VIEWER" } as const;
const writes = { tag: "Devices", partners: ["devices:write"], people: "ADMIN" } as const;
const loadDevice = ({ db, principal, params }: LoadContext<NoQuery, NoQuery>): Promise<DeviceRow> =>
  getVisibleDevice(db, principal, params.uid ?? "");
const one = { params: { uid: "imei" }, load: loadDevice } as const;

/** The end of a device concerns its assignments and commands too, which are nouns above this one. */
export type RemoveDevice = (tx: Tx, organizationId: string, deviceId: string, actor: Actor, now: Date) => Promise<void>;

export function deviceRoutes(catalog: Catalog, ackTimeoutSeconds: number, removeDevice: RemoveDevice): Route[] {
  const recordFor = (principal: Principal) => (row: DeviceRow) => toDevice(row, catalog, seesLocations(principal));

  const writeOf = (
    { body, principal, actor, now }: WriteContext,
    uid: string,
    options: { isCreate?: boolean } = {},
  ): DeviceWrite => ({
    organization: principal.organization,
    given: readFields(body as Static<typeof PatchedDeviceRequest>, catalog),
    catalog,
    actor,
    now,
    approve: (before, values) => {
      const after = fixedAfter(uid, values, catalog);
      refuseReadOnly(body, fixedFields, before ? [toDevice(before, catalog, false), after] : [after], options);
    },
  });

  return [
    route({
      ...reads,
      method: "GET",
      path: "/api/v1/devices/",
      operationId: "devices_list",
      summary: "Devices of the organization",
      list: deviceList,
      responses: { 200: refTo(pageOf(Device)) },
      handle: async ({ db, principal, list, page }) =>
        page(await listDevices(db, principal, list()), recordFor(principal)),
    }),
    route({
      ...writes,
      method: "POST",
      path: "/api/v1/devices/",
      operationId: "devices_create",
      summary: "Register a device",
      description:
        "201 for a new device. 200 for one that the organization has (the fields sent are updated) or had (it is live again, with the fields it had). 409 `imei_conflict` while another organization has the IMEI.",
      isIdempotent: true,
      body: refTo(DeviceRequest),
      responses: { 200: refTo(Device), 201: refTo(Device) },
      errors: [409],
      handle: async (context) => {
        const { uid } = context.body;
        const write = writeOf(context, uid, { isCreate: true });
        const { isNew, device } = await context.transaction((tx) => registerDevice(tx, uid, write));
        const record = recordFor(context.principal)(device);
        return isNew ? created(record, { Location: context.link(`/api/v1/devices/${uid}/`) }) : ok(record);
      },
    }),
    route({
      ...reads,
      ...one,
      method: "GET",
      path: "/api/v1/devices/:uid/",
      operationId: "devices_retrieve",
      summary: "One device",
      responses: { 200: refTo(Device) },
      handle: async ({ object, principal }) => ok(recordFor(principal)(object)),
    }),
    route({
      ...writes,
      ...one,
      method: "PUT",
      path: "/api/v1/devices/:uid/",
      operationId: "devices_update",
      summary: "Update a device in full",
      description: "Optional fields that are left out return to their defaults.",
      body: refTo(DeviceUpdateRequest),
      responses: { 200: refTo(Device) },
      errors: [409],
      handle: async (context) => {
        const write = writeOf(context, context.object.uid);
        const device = await context.transaction((tx) => updateDevice(tx, context.object.id, write, true));
        return ok(recordFor(context.principal)(device));
      },
    }),
    route({
      ...writes,
      ...one,
      method: "PATCH",
      path: "/api/v1/devices/:uid/",
      operationId: "devices_partial_update",
      summary: "Update some fields of a device",
      body: refTo(PatchedDeviceRequest),
      responses: { 200: refTo(Device) },
      errors: [409],
      handle: async (context) => {
        const write = writeOf(context, context.object.uid);
        const device = await context.transaction((tx) => updateDevice(tx, context.object.id, write, false));
        return ok(recordFor(context.principal)(device));
      },
    }),
    route({
      ...writes,
      ...one,
      method: "DELETE",
      path: "/api/v1/devices/:uid/",
      operationId: "devices_destroy",
      summary: "Delete a device",
      description: "Its history stays, its active assignments end, and its IMEI is free for any organization.",
      responses: { 204: null },
      handle: async ({ transaction, organizationId, object, actor, now }) => {
        await transaction((tx) => removeDevice(tx, organizationId, object.id, actor, now));
        return noContent();
      },
    }),
    route({
      ...reads,
      ...one,
      method: "GET",
      path: "/api/v1/devices/:uid/capabilities/",
      operationId: "devices_capabilities_retrieve",
      summary: "What a device supports",
      description: "The capabilities of its model with those of the device itself applied, all in one answer.",
      partners: ["catalog:read"],
      responses: { 200: refTo(DeviceCapabilities) },
      handle: async ({ db, object }) =>
        ok({
          device_uid: object.uid,
          device_model_slug: object.device_model_slug,
          protocol_slug: object.protocol_slug,
          capabilities: (await capabilitiesOfDevice(db, object, catalog)).map((capability) =>
            toCapability(capability, ackTimeoutSeconds),
          ),
        }),
    }),
    route({
      ...reads,
      ...one,
      method: "GET",
      path: "/api/v1/devices/:uid/config/",
      operationId: "devices_config_retrieve",
      summary: "Settings of a device, wanted and acknowledged",
      responses: { 200: refTo(DeviceConfig) },
      handle: async ({ db, organizationId, object, principal }) => {
        const capabilities = await capabilitiesOfDevice(db, object, catalog);
        const rows = await listSettings(db, organizationId, object.id);
        return ok(toConfig(object, capabilities, rows, seesPhoneNumbers(principal)));
      },
    }),
  ];
}
