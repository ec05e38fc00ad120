import { refuseReadOnly } from "../../http/read-only.ts";
import { created, type LoadContext, noContent, ok, type Route, route } from "../../http/route.ts";
import { pageOf, refTo } from "../../http/schemas.ts";
import {
  AlertThresholdRequest,
  PatchedAlertThresholdRequest,
  readFields,
  type ThresholdFields,
} from "./threshold-fields.ts";
import { listThresholds, thresholdList } from "./threshold-list.ts";
import { AlertThreshold, type ThresholdRow, toThreshold } from "./threshold-record.ts";
import { getVisibleThreshold } from "./threshold-store.ts";
import { createThreshold, deleteThreshold, type ThresholdWriter, updateThreshold } from "./threshold-writes.ts";

type NoQuery = Readonly<Record<never, never>>;

const fixedFields = ["id", "created_at"];

const reads = { tag: "Alert thresholds", partners: ["thresholds:read"], people: "VIEWER" } as const;
const writes = { tag: "Alert thresholds", partners: ["thresholds:write"], people: "ADMIN" } as const;
const one = {
  params: { id: "uuid" },
  load: ({ db, principal, params }: LoadContext<NoQuery, NoQuery>): Promise<ThresholdRow> =>
    getVisibleThreshold(db, principal, params.id as string),
} as const;

const writerOf = ({ organizationId, actor, now }: ThresholdWriter): ThresholdWriter => ({ organizationId, actor, now });

export const thresholdRoutes = (): Route[] => [
  route({
    ...reads,
    method: "GET",
    path: "/api/v1/alert-thresholds/",
    operationId: "alert_thresholds_list",
    summary: "Alert thresholds of the organization",
    list: thresholdList,
    responses: { 200: refTo(pageOf(AlertThreshold)) },
    handle: async ({ db, principal, list, page }) => page(await listThresholds(db, principal, list()), toThreshold),
  }),
  route({
    ...writes,
    method: "POST",
    path: "/api/v1/alert-thresholds/",
    operationId: "alert_thresholds_create",
    summary: "Create an alert threshold",
    description: "One per metric and target: the organization, a device or a user. `low` or `high` is required.",
    isIdempotent: true,
    body: refTo(AlertThresholdRequest),
    responses: { 201: refTo(AlertThreshold) },
    handle: async (context) => {
      const { body, transaction, link } = context;
      refuseReadOnly(body, fixedFields, [], { isCreate: true });
      const fields = readFields(body) as ThresholdFields;
      const row = await transaction((tx) => createThreshold(tx, writerOf(context), fields));
      return created(toThreshold(row), { Location: link(`/api/v1/alert-thresholds/${row.id}/`) });
    },
  }),
  route({
    ...reads,
    ...one,
    method: "GET",
    path: "/api/v1/alert-thresholds/:id/",
    operationId: "alert_thresholds_retrieve",
    summary: "One alert threshold",
    responses: { 200: refTo(AlertThreshold) },
    handle: async ({ object }) => ok(toThreshold(object)),
  }),
  route({
    ...writes,
    ...one,
    method: "PATCH",
    path: "/api/v1/alert-thresholds/:id/",
    operationId: "alert_thresholds_partial_update",
    summary: "Update some fields of an alert threshold",
    description: "The rules are checked on the result. An open breach of the rule as it was ends without an event.",
    body: refTo(PatchedAlertThresholdRequest),
    responses: { 200: refTo(AlertThreshold) },
    handle: async (context) => {
      const { body, object, transaction } = context;
      const given = readFields(body);
      const approve = (before: ThresholdRow): void => refuseReadOnly(body, fixedFields, [toThreshold(before)]);
      const row = await transaction((tx) => updateThreshold(tx, writerOf(context), object.id, { given, approve }));
      return ok(toThreshold(row));
    },
  }),
  route({
    ...writes,
    ...one,
    method: "DELETE",
    path: "/api/v1/alert-thresholds/:id/",
    operationId: "alert_thresholds_destroy",
    summary: "Delete an alert threshold",
    responses: { 204: null },
    handle: async (context) => {
      await context.transaction((tx) => deleteThreshold(tx, writerOf(context), context.object.id));
      return noContent();
    },
  }),
];
