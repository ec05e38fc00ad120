import { collection } from "../../http/collection.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import type { Route } from "../../http/route.ts";
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

const fixedFields = ["id", "created_at"];

const thresholds = collection({
  path: "/api/v1/alert-thresholds/",
  operations: "alert_thresholds",
  tag: "Alert thresholds",
  reads: { partners: ["thresholds:read"], people: "VIEWER" },
  writes: { partners: ["thresholds:write"], people: "ADMIN" },
  params: { id: "uuid" },
  key: "id",
  load: ({ db, principal, params }) => getVisibleThreshold(db, principal, params.id as string),
});

const writerOf = ({ organizationId, actor, now }: ThresholdWriter): ThresholdWriter => ({ organizationId, actor, now });

export const thresholdRoutes = (): Route[] => [
  thresholds.list({
    summary: "Alert thresholds of the organization",
    list: thresholdList,
    item: AlertThreshold,
    rows: ({ db, principal, list }) => listThresholds(db, principal, list()),
    toItem: toThreshold,
  }),
  thresholds.create({
    summary: "Create an alert threshold",
    description: "One per metric and target: the organization, a device or a user. `low` or `high` is required.",
    body: AlertThresholdRequest,
    item: AlertThreshold,
    handle: async (context) => {
      refuseReadOnly(context.body, fixedFields, [], { isCreate: true });
      const fields = readFields(context.body) as ThresholdFields;
      return toThreshold(await context.transaction((tx) => createThreshold(tx, writerOf(context), fields)));
    },
  }),
  thresholds.retrieve({
    summary: "One alert threshold",
    item: AlertThreshold,
    handle: async ({ object }) => toThreshold(object),
  }),
  thresholds.partialUpdate({
    summary: "Update some fields of an alert threshold",
    description:
      "The fields are validated after the change is applied. An open breach of the previous rule ends without an event.",
    body: PatchedAlertThresholdRequest,
    item: AlertThreshold,
    handle: async (context) => {
      const { body, object, transaction } = context;
      const given = readFields(body);
      const approve = (before: ThresholdRow): void => refuseReadOnly(body, fixedFields, [toThreshold(before)]);
      return toThreshold(
        await transaction((tx) => updateThreshold(tx, writerOf(context), object.id, { given, approve })),
      );
    },
  }),
  thresholds.destroy({
    summary: "Delete an alert threshold",
    handle: (context) => context.transaction((tx) => deleteThreshold(tx, writerOf(context), context.object.id)),
  }),
];
