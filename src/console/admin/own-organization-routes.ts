import { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { ok, type Route, route } from "../../http/route.ts";
import { notFound } from "../../lib/errors.ts";
import { auditList, readAudit } from "../../resources/audit/audit-list.ts";
import { toOrganizationRecord } from "../../resources/organizations/organization-record.ts";
import { findOrganization } from "../../resources/organizations/organization-store.ts";
import { auditFile } from "./audit-file.ts";
import { forAdmins } from "./integration-routes.ts";

const maxExportRows = 100_000;

/** What the administrators of an organization see of it as a whole. */
export const ownOrganizationRoutes = (): Route[] => [
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/organization/",
    operationId: "console_organization",
    summary: "The own organization with its settings",
    responses: { 200: Type.Any() },
    async handle({ db, organizationId }) {
      const organization = await findOrganization(db, organizationId);
      if (!organization) throw notFound();
      return ok(toOrganizationRecord(organization));
    },
  }),
  route({
    ...forAdmins,
    method: "GET",
    path: "/console/api/audit-log/export/",
    operationId: "console_audit_log_export",
    summary: "The audit log as a CSV file, newest first",
    description: `The filters of the list apply. At most ${maxExportRows} entries.`,
    list: auditList,
    produces: ["text/csv"],
    responses: { 200: Type.Any() },
    handle: async ({ db, organizationId, list }) => ({
      status: 200,
      body: Readable.from(auditFile(readAudit(db, organizationId, list(), maxExportRows))),
      headers: {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="audit-log.csv"',
      },
    }),
  }),
];
