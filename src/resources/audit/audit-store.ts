import type { Tx } from "../../db/database.ts";
import { table } from "../../db/rows.ts";
import { searchText } from "../../lib/search-text.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { AuditRow } from "./audit-list.ts";
import { type AuditAction, type AuditModel, auditActions, auditModels } from "./audit-models.ts";

/** What changed: field to [old, new]. On create the old value is null, on delete the new one. */
export type Changes = Record<string, [unknown, unknown]>;

export interface AuditEntry {
  action: AuditAction;
  model: AuditModel;
  objectPk: string;
  objectRepr: string;
  changes: Changes;
  additionalData?: Record<string, unknown>;
}

export const masked = "***";

/** Readers of the log need not know what people write about each other, or their numbers: only that it has changed. */
const personalFields: ReadonlySet<string> = new Set(["notes", "phone_number"]);

/** Fields that differ between two states of a record. An absent state is a create (before) or a delete (after). */
export function changesBetween(
  before: Readonly<Record<string, unknown>> | null,
  after: Readonly<Record<string, unknown>> | null,
  maskedFields: readonly string[] = [],
): Changes {
  const changes: Changes = {};
  for (const field of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const pair = [before?.[field] ?? null, after?.[field] ?? null] as const;
    if (JSON.stringify(pair[0]) === JSON.stringify(pair[1])) continue;
    const hide = (value: unknown): unknown => (value === null || value === "" ? value : masked);
    const isHidden = personalFields.has(field) || maskedFields.includes(field);
    changes[field] = isHidden ? [hide(pair[0]), hide(pair[1])] : [pair[0], pair[1]];
  }
  return changes;
}

const summaryLimit = 500;
const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

export function summarize(changes: Changes): string {
  const text = Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${show(before)} → ${show(after)}`)
    .join("; ");
  return text.length <= summaryLimit ? text : `${text.slice(0, summaryLimit - 1)}…`;
}

interface AuditTable extends Omit<AuditRow, "id" | "integration_deleted"> {
  organization_id: string;
  actor_user_id: string | null;
  search: string;
}
const auditLog = table<AuditTable>("audit_log");

/**
 * Writes the entry in the transaction of the change itself, so that neither exists without the other.
 * An update that changes nothing makes no entry.
 */
export async function recordAudit(tx: Tx, actor: Actor, now: Date, entry: AuditEntry): Promise<void> {
  if (entry.action === "updated" && Object.keys(entry.changes).length === 0) return;
  const { by } = actor;
  const additionalData = { ...entry.additionalData, ...("via" in by ? { via: by.via } : {}) };
  await tx.run(
    auditLog.insert({
      organization_id: actor.organizationId,
      action: auditActions[entry.action],
      actor_type: by.type,
      actor_user_id: by.type === "users" ? by.id : null,
      actor_user: by.type === "users" ? { id: by.id, email: by.email, full_name: by.fullName } : null,
      integration_id: by.type === "partners" ? by.integrationId : null,
      integration_name: by.type === "partners" ? by.integrationName : null,
      content_type: auditModels[entry.model],
      object_pk: entry.objectPk,
      object_repr: entry.objectRepr,
      search: searchText([entry.objectRepr]),
      timestamp: now,
      correlation_id: actor.correlationId,
      remote_addr: actor.remoteAddr,
      changes_summary: summarize(entry.changes),
      changes: entry.changes,
      additional_data: additionalData,
    }),
  );
}
