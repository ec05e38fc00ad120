import { csvLine } from "../../lib/csv.ts";
import type { AuditRow } from "../../resources/audit/audit-list.ts";
import { toAuditEntry } from "../../resources/audit/audit-routes.ts";

const titles = [
  "id",
  "timestamp",
  "actor_type",
  "actor",
  "action",
  "model_name",
  "object_pk",
  "object_repr",
  "changes_summary",
  "remote_addr",
  "correlation_id",
];

function lineOf(row: AuditRow): string {
  const entry = toAuditEntry(row);
  return csvLine([
    String(entry.id),
    entry.timestamp,
    entry.actor_type,
    entry.actor?.email ?? entry.actor_partner_integration?.name ?? "",
    entry.action_display,
    entry.model_name,
    entry.object_pk,
    entry.object_repr,
    entry.changes_summary,
    entry.remote_addr ?? "",
    entry.correlation_id ?? "",
  ]);
}

/** The file in pieces. It begins with a mark by which spreadsheets know UTF-8. */
export async function* auditFile(pages: AsyncIterable<AuditRow[]>): AsyncGenerator<string> {
  yield `\ufeff${csvLine(titles)}`;
  for await (const rows of pages) yield rows.map(lineOf).join("");
}
