import { type Static, Type } from "@sinclair/typebox";
import { collection } from "../../http/collection.ts";
import type { Route } from "../../http/route.ts";
import { FreeObject, IntegerEnum, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { notFound } from "../../lib/errors.ts";
import { type AuditRow, auditList, findAudit, listAudit } from "./audit-list.ts";
import { type AuditAction, auditActions, auditModelNames, auditModels } from "./audit-models.ts";

const AuditActionNumber = IntegerEnum("AuditActionEnum", auditActions);
const AuditActionDisplay = StringEnum("AuditActionDisplayEnum", Object.keys(auditActions) as AuditAction[]);
const ActorType = StringEnum("ActorTypeEnum", ["partners", "users", "system"]);
const AuditModelName = StringEnum("AuditModelNameEnum", auditModelNames);

const AuditActor = Type.Object({ id: Uuid, email: Type.String(), full_name: Type.String() }, { $id: "AuditActor" });

const AuditIntegration = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    deleted: Type.Boolean({ description: "True marks the preserved snapshot of a deleted integration." }),
  },
  { $id: "AuditIntegration" },
);

const entryFields = {
  id: Type.Integer({ description: "Increases, with gaps." }),
  action: refTo(AuditActionNumber),
  action_display: refTo(AuditActionDisplay),
  actor: Nullable(refTo(AuditActor)),
  actor_type: refTo(ActorType),
  actor_partner_integration: Nullable(refTo(AuditIntegration)),
  content_type: Type.Integer(),
  model_name: refTo(AuditModelName),
  object_pk: Type.String(),
  object_repr: Type.String(),
  timestamp: Timestamp,
  correlation_id: Nullable(Type.String({ description: "The X-Request-Id of the call." })),
  remote_addr: Nullable(Type.String()),
  changes_summary: Type.String(),
};

const AuditLogEntry = Type.Object(entryFields, { $id: "AuditLogEntry" });
export type AuditLogEntry = Static<typeof AuditLogEntry>;

const AuditLogEntryDetail = Type.Object(
  {
    ...entryFields,
    changes: Type.Unsafe<Record<string, [unknown, unknown]>>({
      type: "object",
      additionalProperties: { type: "array", items: {}, minItems: 2, maxItems: 2 },
      description: "[old, new] by field.",
    }),
    additional_data: FreeObject,
  },
  { $id: "AuditLogEntryDetail" },
);
export type AuditLogEntryDetail = Static<typeof AuditLogEntryDetail>;

export function toAuditEntry(row: AuditRow): AuditLogEntry {
  const action = (Object.keys(auditActions) as AuditAction[]).find((name) => auditActions[name] === row.action);
  const model = auditModelNames.find((name) => auditModels[name] === row.content_type);
  if (!action || !model) throw new Error(`audit entry ${row.id} has an unknown action or kind`);
  return {
    id: row.id,
    action: auditActions[action],
    action_display: action,
    actor: row.actor_user,
    actor_type: row.actor_type,
    actor_partner_integration:
      row.integration_id === null
        ? null
        : { id: row.integration_id, name: row.integration_name ?? "", deleted: row.integration_deleted },
    content_type: row.content_type,
    model_name: model,
    object_pk: row.object_pk,
    object_repr: row.object_repr,
    timestamp: row.timestamp.toISOString(),
    correlation_id: row.correlation_id,
    remote_addr: row.remote_addr,
    changes_summary: row.changes_summary,
  };
}

const toDetail = (row: AuditRow): AuditLogEntryDetail => ({
  ...toAuditEntry(row),
  changes: row.changes,
  additional_data: row.additional_data,
});

const entries = collection({
  path: "/api/v1/audit-log/",
  operations: "audit_log",
  tag: "Audit log",
  reads: { partners: ["audit:read"], people: "ADMIN" },
  params: { id: "integer" },
  key: "id",
  load: async ({ db, organizationId, params }) => {
    const row = await findAudit(db, organizationId, Number(params.id));
    if (!row) throw notFound();
    return row;
  },
});

export const auditRoutes = (): Route[] => [
  entries.list({
    summary: "Who changed what, newest first",
    list: auditList,
    item: AuditLogEntry,
    rows: ({ history, organizationId, list }) => listAudit(history, organizationId, list()),
    toItem: toAuditEntry,
  }),
  entries.retrieve({
    summary: "One entry with the values before and after",
    item: AuditLogEntryDetail,
    handle: async ({ object }) => toDetail(object),
  }),
];
