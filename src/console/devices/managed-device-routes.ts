import { Type } from "@sinclair/typebox";
import type { QueryParams } from "../../http/query-params.ts";
import { type LoadContext, ok, type Route, route } from "../../http/route.ts";
import { validationError } from "../../lib/errors.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import { removeCapabilityOverride, setCapabilityOverride } from "../../resources/devices/capability-override-store.ts";
import { deviceFor } from "../../resources/devices/device-record.ts";
import { getVisibleDevice } from "../../resources/devices/device-store.ts";
import { forPeople } from "../account-routes.ts";
import { forAdmins } from "../admin/integration-routes.ts";
import { actOnDevices, BulkAction } from "./bulk-actions.ts";
import { CapabilityChoice, listCapabilityChoices } from "./capability-choices.ts";
import { exportDevices } from "./device-export.ts";
import { deviceSearchList, searchDevices } from "./device-search.ts";
import { formerDeviceList, listFormerDevices } from "./former-devices.ts";

const ofDevice = {
  params: { uid: "imei" },
  load: ({ db, principal, params }: Pick<LoadContext<QueryParams, QueryParams>, "db" | "principal" | "params">) =>
    getVisibleDevice(db, principal, params.uid ?? ""),
} as const;

/** The devices of the organization as its people look after them: found by the service itself, however many there are. */
export const managedDeviceRoutes = (catalog: Catalog): Route[] => [
  route({
    ...forPeople,
    people: "VIEWER",
    method: "GET",
    path: "/console/api/devices/",
    operationId: "console_devices_list",
    summary: "The devices one may see, with the filters of the console",
    list: deviceSearchList,
    responses: { 200: Type.Any() },
    handle: async ({ db, principal, list, now, page }) =>
      page(await searchDevices(db, principal, list(), catalog, now), deviceFor(principal, catalog)),
  }),
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/devices/export/",
    operationId: "console_devices_export",
    summary: "The list of devices as a CSV file",
    list: deviceSearchList,
    produces: ["text/csv"],
    responses: { 200: Type.Any() },
    handle: async ({ db, principal, list, now }) => ({
      status: 200,
      body: exportDevices(db, principal, list(), catalog, now),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="devices-${now.toISOString().slice(0, 10)}.csv"`,
      },
    }),
  }),
  route({
    ...forAdmins,
    method: "POST",
    path: "/console/api/devices/bulk/",
    operationId: "console_devices_bulk",
    summary: "Do the same to several devices, each by itself",
    body: BulkAction,
    responses: { 200: Type.Any() },
    async handle({ principal: { organization }, body, actor, now, transaction }) {
      const results = await transaction((tx) => actOnDevices(tx, body, { organization, catalog, actor, now }));
      return ok({ results });
    },
  }),
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/deleted-devices/",
    operationId: "console_deleted_devices",
    summary: "Devices that were deleted and can be taken back",
    list: formerDeviceList,
    responses: { 200: Type.Any() },
    handle: async ({ db, organizationId, list, page }) =>
      page(await listFormerDevices(db, organizationId, list()), (device) => device),
  }),
  route({
    ...forAdmins,
    ...ofDevice,
    method: "GET",
    path: "/console/api/devices/:uid/capabilities/",
    operationId: "console_device_capabilities",
    summary: "What a device can be given or denied",
    responses: { 200: Type.Any() },
    handle: async ({ db, object }) => ok(await listCapabilityChoices(db, object, catalog)),
  }),
  route({
    ...forAdmins,
    ...ofDevice,
    method: "POST",
    path: "/console/api/devices/:uid/capabilities/",
    operationId: "console_device_capability_set",
    summary: "Override what one device supports, or return to what its model says",
    body: CapabilityChoice,
    responses: { 200: Type.Any() },
    async handle({ object, body, actor, now, transaction }) {
      const { code, supported } = body;
      if (!catalog.findCapability(code)) throw validationError({ code: [`"${code}" is not a valid choice.`] });
      const choices = await transaction(async (tx) => {
        if (supported === null) await removeCapabilityOverride(tx, object, code, actor, now);
        else await setCapabilityOverride(tx, object, { code, supported, paramsSchema: undefined }, actor, now);
        return listCapabilityChoices(tx, object, catalog);
      });
      return ok(choices);
    },
  }),
];
