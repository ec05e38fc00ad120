import type { OperatorLogEntry } from "../api/types.ts";
import { showTime } from "../texts/format.ts";
import { operatorRecordTexts as recordTexts } from "../texts/operator-records.ts";
import { operatorWorkTexts as texts } from "../texts/operator-work.ts";
import { showValue } from "./audit-changes.tsx";
import { PagedList } from "./paged-list.tsx";

const detailOf = (detail: OperatorLogEntry["detail"]): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${showValue(value)}`)
    .join("; ");

/** What operators did. */
export function OperatorLog() {
  return (
    <PagedList<OperatorLogEntry> path="/console/api/operator/log/?page_size=50" empty={texts("noLog")}>
      {(rows) => (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">{texts("action")}</th>
              <th scope="col">{texts("operatorName")}</th>
              <th scope="col">{texts("organization")}</th>
              <th scope="col">{texts("details")}</th>
              <th scope="col">{texts("address")}</th>
              <th scope="col">{texts("when")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.id}>
                <td>{recordTexts(one.action)}</td>
                <td data-label={texts("operatorName")} class="long">
                  {one.operator_email}
                </td>
                <td data-label={texts("organization")}>{one.organization ?? "–"}</td>
                <td data-label={texts("details")} class="long">
                  {[one.object, detailOf(one.detail)].filter(Boolean).join(" · ") || "–"}
                </td>
                <td data-label={texts("address")}>{one.remote_addr ?? "–"}</td>
                <td data-label={texts("when")}>{showTime(one.at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </PagedList>
  );
}
