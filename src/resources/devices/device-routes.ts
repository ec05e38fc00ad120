import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/database.ts";
import { type CallOf, collection } from "../../http/collection.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { created, ok, type Route } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { Capability, toCapability } from "../catalog/catalog-schemas.ts";
import { capabilitiesOfDevice } from "./capability-override-store.ts";
import { DeviceRequest, DeviceUpdateRequest, PatchedDeviceRequest, readFields } from "./device-fields.ts";
import { deviceList, listDevices } from "./device-list.ts";
import { Device, type DeviceRow, deviceFor, modelFieldsOf, toDevice } from "./device-record.ts";
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

const devices = collection({
  path: "/api/v1/devices/",
  operations: "devices",
  tag: "Devices",
  reads: { partners: ["devices:read"], people: "VIEWER" },
  writes: { partners: ["devices:write"], people: "ADMIN" },
  params: { uid: "imei" },
  key: "uid",
  load: ({ db, principal, params }) => getVisibleDevice(db, principal, params.uid ?? ""),
});

/** The end of a device concerns its assignments and commands too, which are nouns above this one. */
export type RemoveDevice = (tx: Tx, organizationId: string, deviceId: string, actor: Actor, now: Date) => Promise<void>;

export function deviceRoutes(catalog: Catalog, ackTimeoutSeconds: number, removeDevice: RemoveDevice): Route[] {
  const recordFor = (principal: Principal) => deviceFor(principal, catalog);

  const writeOf = (
    { body, principal, actor, now }: CallOf<object, unknown>,
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

  const change = async (context: CallOf<object, DeviceRow>, isFull: boolean): Promise<Device> => {
    const write = writeOf(context, context.object.uid);
    const device = await context.transaction((tx) => updateDevice(tx, context.object.id, write, isFull));
    return recordFor(context.principal)(device);
  };

  return [
    devices.list({
      summary: "Devices of the organization",
      list: deviceList,
      item: Device,
      rows: ({ db, principal, list }) => listDevices(db, principal, list()),
      toItem: (row, { principal }) => recordFor(principal)(row),
    }),
    devices.post("", {
      summary: "Register a device",
      description:
        "201 for a new device. 200 for one that the organization has (the fields sent are updated) or had (it is live again, with the fields it had). 409 `imei_conflict` while another organization has the IMEI.",
      isIdempotent: true,
      body: DeviceRequest,
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
    devices.retrieve({
      summary: "One device",
      item: Device,
      handle: async ({ object, principal }) => recordFor(principal)(object),
    }),
    devices.update({
      summary: "Update a device in full",
      description: "Optional fields that are omitted are reset to their defaults.",
      body: DeviceUpdateRequest,
      item: Device,
      errors: [409],
      handle: (context) => change(context, true),
    }),
    devices.partialUpdate({
      summary: "Update some fields of a device",
      body: PatchedDeviceRequest,
      item: Device,
      errors: [409],
      handle: (context) => change(context, false),
    }),
    devices.destroy({
      summary: "Delete a device",
      description: "Its history is kept, its active assignments end, and any organization may register its IMEI.",
      handle: ({ transaction, organizationId, object, actor, now }) =>
        transaction((tx) => removeDevice(tx, organizationId, object.id, actor, now)),
    }),
    devices.get(":uid/capabilities/", {
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
    devices.get(":uid/config/", {
      summary: "Settings of a device, requested and acknowledged",
      responses: { 200: refTo(DeviceConfig) },
      handle: async ({ db, organizationId, object, principal }) => {
        const capabilities = await capabilitiesOfDevice(db, object, catalog);
        const rows = await listSettings(db, organizationId, object.id);
        return ok(toConfig(object, capabilities, rows, seesPhoneNumbers(principal)));
      },
    }),
  ];
}
