import { Type } from "@sinclair/typebox";
import { booleanParam, textParam } from "../../http/query-params.ts";
import { answer, created, ok, type Route, route } from "../../http/route.ts";
import { validationError } from "../../lib/errors.ts";
import { isImei } from "../../lib/ids.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import { importDevices } from "../../resources/devices/device-import.ts";
import { importColumns, readImportFile } from "../../resources/devices/import-file.ts";
import { findUnknownDevice } from "../../resources/devices/unknown-device-store.ts";
import { toInvitation } from "../../resources/invitations/invitation-record.ts";
import { InvitationRequest, inviteByPerson } from "../../resources/invitations/invitation-routes.ts";
import { resendInvitation } from "../../resources/invitations/inviting.ts";
import { listUnknownToOperators, unknownDeviceList } from "../operator/unknown-device-list.ts";
import { forAdmins } from "./integration-routes.ts";

/** Ten thousand lines with every field filled. */
const maxImportBytes = 8 * 1024 * 1024;
const maxErrors = 1000;

/** Devices by the file, devices that knocked, and new members. */
export const deviceAdminRoutes = (catalog: Catalog): Route[] => [
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/unknown-devices/",
    operationId: "console_unknown_devices",
    operators: true,
    summary: "Whether a device with this IMEI tried to connect",
    description: "An IMEI is required, so that nobody learns the ids of others; operators see all of them.",
    query: { uid: textParam("The IMEI.") },
    list: unknownDeviceList,
    responses: { 200: Type.Any() },
    async handle({ caller, db, query, list, now, page }) {
      if (caller.kind === "operator") return page(await listUnknownToOperators(db, list(), now), (row) => row);
      const organizationId = caller.organization.id;
      const { uid } = query();
      if (uid === undefined || !isImei(uid)) throw validationError({ uid: ["Give an IMEI of 15 digits."] });
      const results = await findUnknownDevice(db, organizationId, uid);
      return ok({ count: results.length, next: null, previous: null, results });
    },
  }),
  route({
    ...forAdmins,
    method: "POST",
    path: "/console/api/devices/import/",
    operationId: "console_devices_import",
    summary: "Register devices from a CSV file, all or none",
    description: `The header names the columns: ${importColumns.join(", ")}.`,
    query: { dry_run: booleanParam("Only report what would happen.") },
    text: { mediaType: "text/csv", maxBytes: maxImportBytes },
    responses: { 200: Type.Any(), 400: Type.Any() },
    async handle({ principal, text, query, actor, now, transaction }) {
      const isDryRun = query().dry_run === true;
      const file = readImportFile(text, catalog);
      const write = { organization: principal.organization, catalog, actor, now };
      // Lines that are wrong by themselves do not keep the others from being looked at; nothing is written then.
      const isTrial = isDryRun || file.errors.length > 0;
      const result = await transaction((tx) => importDevices(tx, file.lines, write, isTrial));
      const errors = [...file.errors, ...result.errors].sort((a, b) => a.line - b.line);
      const isRefused = errors.length > 0 && !isDryRun;
      const counts = isRefused ? { created: 0, updated: 0 } : { created: result.created, updated: result.updated };
      return answer(isRefused ? 400 : 200, { ...counts, errors: errors.slice(0, maxErrors) });
    },
  }),
  route({
    ...forAdmins,
    method: "POST",
    path: "/console/api/invitations/",
    operationId: "console_invitations_create",
    summary: "Invite a person to become a member",
    feature: "managed_onboarding",
    body: InvitationRequest,
    responses: { 201: Type.Any() },
    handle: async (context) => created(await inviteByPerson(context)),
  }),
  route({
    ...forAdmins,
    method: "POST",
    path: "/console/api/invitations/:id/resend/",
    operationId: "console_invitations_resend",
    summary: "Mail a pending invitation once more",
    description: "At most once per hour; otherwise 429 `invite_rate_limited`.",
    params: { id: "uuid" },
    feature: "managed_onboarding",
    responses: { 200: Type.Any() },
    async handle({ principal, params, actor, now, transaction, link }) {
      const wanted = { id: params.id as string, linkBase: link("/console/accept") };
      return ok(
        toInvitation(await transaction((tx) => resendInvitation(tx, principal.organization, wanted, actor, now))),
      );
    },
  }),
];
