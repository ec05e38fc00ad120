import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { AuditLogEntry, AuditLogEntryDetail } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { auditTexts as texts } from "../texts/audit.ts";
import { common } from "../texts/common.ts";
import { differencesOf } from "./difference.ts";
import { Failure, Loading } from "./states.tsx";

/** A value as a person reads it; what is empty is a dash. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return common(value ? "yes" : "no");
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(showValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);
}

const maxSummaryLength = 100;
/** What was empty before needs no word. */
const readable = (summary: string): string => summary.replaceAll(": null → ", ": ");
const shorten = (text: string): string =>
  text.length > maxSummaryLength ? `${text.slice(0, maxSummaryLength - 1)}…` : text;

/** The line of an entry; the values are fetched when somebody opens it. */
export function AuditChanges({ entry }: { entry: AuditLogEntry }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="changes" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{shorten(readable(entry.changes_summary)) || texts("changes")}</summary>
      {isOpen && <Values id={entry.id} />}
    </details>
  );
}

function Values({ id }: { id: number }) {
  const path = `/api/v1/audit-log/${id}/`;
  const entry = useLoaded(path, () => get<AuditLogEntryDetail>(path));
  if (entry.kind === "loading") return <Loading />;
  if (entry.kind === "failed") return <Failure error={entry.error} onRetry={entry.reload} />;
  const { changes, remote_addr, correlation_id } = entry.value;
  const fields = Object.entries(changes).flatMap(([field, [before, after]]) => differencesOf(field, before, after));
  return (
    <>
      {fields.length === 0 && <p class="hint">{texts("noChanges")}</p>}
      <dl class="rule-facts">
        {fields.map(({ field, removed, added }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              <small>{texts("before")}</small> <del>{showValue(removed)}</del>
              <br />
              <small>{texts("after")}</small> <ins>{showValue(added)}</ins>
            </dd>
          </div>
        ))}
      </dl>
      {remote_addr !== null && (
        <small>
          {texts("address")}: {remote_addr}{" "}
        </small>
      )}
      {correlation_id !== null && (
        <small class="long">
          {texts("request")}: {correlation_id}
        </small>
      )}
    </>
  );
}
