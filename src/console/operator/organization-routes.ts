import { Type } from "@sinclair/typebox";
import { operatorActor } from "../../http/principal.ts";
import { created, ok, type Route, route } from "../../http/route.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { newUuid } from "../../lib/ids.ts";
import {
  organizationList,
  pageOrganizations,
  toCountedRecord,
  toOrganizationRecord,
} from "../../resources/organizations/organization-record.ts";
import {
  createOrganization,
  findOrganizationBySlug,
  type Organization,
  SlugTaken,
  updateOrganization,
} from "../../resources/organizations/organization-store.ts";
import { recordOperatorAction } from "./operator-log.ts";
import { forOperators, operatorOf, operatorPath } from "./operator-routes-base.ts";
import { NewOrganization, PatchedOrganization, readNewSettings, readSettings } from "./organization-body.ts";

function slugTaken(error: unknown): unknown {
  return error instanceof SlugTaken ? validationError({ slug: ["Another organization has this slug."] }) : error;
}

const onePath = `${operatorPath}organizations/:slug/`;

/** Organizations, on the functions of `vigil org`. Each change is in the audit log of the organization, too. */
export const organizationAdminRoutes = (): Route[] => [
  route({
    ...forOperators,
    method: "GET",
    path: `${operatorPath}organizations/`,
    operationId: "operator_organizations_list",
    summary: "All organizations",
    list: organizationList,
    responses: { 200: Type.Any() },
    handle: async ({ db, list, page }) => page(await pageOrganizations(db, list()), toCountedRecord),
  }),
  route({
    ...forOperators,
    method: "POST",
    path: `${operatorPath}organizations/`,
    operationId: "operator_organizations_create",
    summary: "Create an organization",
    body: NewOrganization,
    responses: { 201: Type.Any() },
    async handle({ caller, body, origin, now, transaction }) {
      const settings = readNewSettings(body);
      const { principal, operator } = operatorOf(caller);
      const organization = await transaction(async (tx) => {
        const made = await createOrganization(tx, settings, operatorActor(principal, newUuid(), origin), now);
        const entry = { operator, action: "organization_created", organization: made.slug } as const;
        await recordOperatorAction(tx, entry, origin, now);
        return made;
      }).catch((error: unknown) => {
        throw slugTaken(error);
      });
      return created(toOrganizationRecord(organization));
    },
  }),
  route({
    ...forOperators,
    method: "GET",
    path: onePath,
    operationId: "operator_organizations_retrieve",
    summary: "One organization",
    params: { slug: "slug" },
    responses: { 200: Type.Any() },
    load: async ({ db, params }) => found(await findOrganizationBySlug(db, params.slug as string)),
    handle: async ({ object }) => ok(toOrganizationRecord(object)),
  }),
  route({
    ...forOperators,
    method: "PATCH",
    path: onePath,
    operationId: "operator_organizations_update",
    summary: "Change settings of an organization",
    params: { slug: "slug" },
    body: PatchedOrganization,
    responses: { 200: Type.Any() },
    load: async ({ db, params }) => found(await findOrganizationBySlug(db, params.slug as string)),
    async handle({ caller, object, body, origin, now, transaction }) {
      const settings = readSettings(body);
      const { principal, operator } = operatorOf(caller);
      const organization = await transaction(async (tx) => {
        const actor = operatorActor(principal, object.id, origin);
        const after = found(await updateOrganization(tx, object.id, settings, actor, now));
        const detail = { fields: Object.keys(body) };
        const entry = { operator, action: "organization_changed", organization: after.slug, detail } as const;
        if (after.updatedAt.getTime() !== object.updatedAt.getTime())
          await recordOperatorAction(tx, entry, origin, now);
        return after;
      }).catch((error: unknown) => {
        throw slugTaken(error);
      });
      return ok(toOrganizationRecord(organization));
    },
  }),
];

function found(organization: Organization | undefined): Organization {
  if (!organization) throw notFound();
  return organization;
}
